// RUN: fovea-opt %s --fovea-tile-to-threads --canonicalize --cse | FileCheck %s

// A row for each block; sums over lanes, then over warps through the scratch.

#row = #tile.layout<rows = [], columns = [threads 64 by 1, registers 2]>
#one = #tile.layout<rows = [], columns = []>

gpu.module @gpu {
  // CHECK: llvm.mlir.global external @shared() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  // CHECK-LABEL: func.func private @sums
  // CHECK-SAME: fovea.shared_bytes = 272 : i64, fovea.threads = 64 : i32
  // CHECK-DAG: %[[THREAD:.*]] = nvvm.read.ptx.sreg.tid.x
  // CHECK-DAG: nvvm.read.ptx.sreg.ctaid.x
  // CHECK: %[[IS_BLOCK:.*]] = arith.cmpi ult
  // CHECK: scf.if %[[IS_BLOCK]] {
  // CHECK: %[[SUM:.*]] = arith.addf
  // CHECK: nvvm.shfl.sync bfly {{.*}}, %[[SUM]]
  // CHECK-COUNT-4: nvvm.shfl.sync bfly
  // One barrier is the op's own, fovea-insert-barriers sees to others.
  // CHECK-NOT: {{nvvm.shfl|nvvm.barrier}}
  // CHECK: llvm.store {{.*}} : f32, !llvm.ptr<3>
  // CHECK: nvvm.barrier
  // CHECK-COUNT-2: llvm.load {{.*}} : !llvm.ptr<3> -> f32
  // CHECK-NOT: {{llvm.load|nvvm.barrier}}
  // One thread stores.
  // CHECK: scf.if
  // CHECK: memref.store
  func.func private @sums(%x: memref<?x128xf32>, %y: memref<?x1xf32>, %part: index, %parts: index) attributes {fovea.threads = 64 : i32} {
    %c0 = arith.constant 0 : index
    %rows = memref.dim %x, %c0 : memref<?x128xf32>
    %xv = tile.view %x axes(0, 1) : memref<?x128xf32> -> !tile.view<?x128xf32>
    %yv = tile.view %y axes(0, 1) : memref<?x1xf32> -> !tile.view<?x1xf32>
    tile.kernel grid(%i) = (%rows) {
      %m = tile.shared at(16) : !tile.shared<64x1xf32>
      %t = tile.load %xv[%i, %c0] : !tile.view<?x128xf32> -> !tile.tile<1x128xf32, #row>
      %s = tile.reduce sum %t axis(1) scratch(%m : !tile.shared<64x1xf32>) : !tile.tile<1x128xf32, #row> -> !tile.tile<1x1xf32, #one>
      tile.store %s, %yv[%i, %c0] : !tile.tile<1x1xf32, #one>, !tile.view<?x1xf32>
    }
    return
  }
}
