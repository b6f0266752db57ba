// RUN: fovea-opt %s --fovea-tile-to-threads --canonicalize --cse | FileCheck %s

// What memory and registers, or memory and shared memory, have side by side moves as a vector where its place is surely
// a multiple of its size. Where only a part may be inside the view (its size is not known) that is so for tiles that
// are inside as a whole.

#wide = #tile.layout<rows = [threads 8 by 8], columns = [registers 4, threads 8 by 1]>

gpu.module @gpu {
  // CHECK-LABEL: func.func private @vectors
  // CHECK: scf.if
  // CHECK: vector.load {{.*}} {alignment = 16 : i64} : memref<?xf32>, vector<4xf32>
  // CHECK-NOT: memref.load
  // CHECK: } else {
  // Each vector is inside as a whole, or not at all.
  // CHECK: scf.if
  // CHECK: vector.load {{.*}} {alignment = 16 : i64}
  // CHECK-NOT: memref.load
  // CHECK: llvm.store {{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<3>
  // The copy: the tile's rows are memory's columns, of which the view may end within a vector.
  // CHECK: scf.if
  // CHECK: %[[BOTH:.*]] = vector.load {{.*}} {alignment = 16 : i64} : memref<{{.*}}>, vector<8xbf16>
  // CHECK: llvm.store %[[BOTH]], {{.*}} {alignment = 16 : i64} : vector<8xbf16>, !llvm.ptr<3>
  // CHECK: } else {
  // CHECK: memref.load
  // CHECK: nvvm.barrier
  // CHECK: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
  // CHECK: vector.store {{.*}} {alignment = 16 : i64}
  func.func private @vectors(%x: memref<?x?x96xf32>, %z: memref<?x64xbf16>, %n: index, %y: memref<?x96xf32>, %part: index, %parts: index) attributes {fovea.threads = 64 : i32} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c3 = arith.constant 3 : index
    %xv = tile.view %x at(%n) axes(1, 2) : memref<?x?x96xf32> -> !tile.view<?x96xf32>
    %zv = tile.view %z axes(1, 0) length(%n) : memref<?x64xbf16> -> !tile.view<?x?xbf16>
    %yv = tile.view %y axes(0, 1) : memref<?x96xf32> -> !tile.view<?x96xf32>
    tile.kernel grid(%b) = (%c3) {
      %p = tile.shared at(0) : !tile.shared<8x32xf32, strides [36, 1]>
      %q = tile.shared at(2048) : !tile.shared<16x8xbf16, strides [1, 24]>
      %j = arith.muli %b, %c32 : index
      %t = tile.load %xv[%n, %j] : !tile.view<?x96xf32> -> !tile.tile<8x32xf32, #wide>
      tile.local_store %t to %p : !tile.tile<8x32xf32, #wide>, !tile.shared<8x32xf32, strides [36, 1]>
      tile.copy %zv[%j, %n] to %q : !tile.view<?x?xbf16>, !tile.shared<16x8xbf16, strides [1, 24]>
      tile.barrier
      %u = tile.local_load %p : !tile.shared<8x32xf32, strides [36, 1]> -> !tile.tile<8x32xf32, #wide>
      tile.store %u, %yv[%n, %j] : !tile.tile<8x32xf32, #wide>, !tile.view<?x96xf32>
    }
    return
  }
}
