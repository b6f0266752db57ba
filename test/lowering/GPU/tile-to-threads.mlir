// RUN: fovea-opt %s --split-input-file --fovea-tile-to-threads --canonicalize --cse | FileCheck %s

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

// -----

// A product: sums are carried through a loop over k, of which four are added at a time.

#blocked = #tile.layout<rows = [registers 2, threads 8 by 4], columns = [threads 4 by 1, registers 3]>

gpu.module @gpu {
  // CHECK-LABEL: func.func private @product
  // CHECK: %{{.*}}:6 = scf.for %{{.*}} = %c0{{.*}} to %c32{{.*}} step %c4{{.*}} iter_args
  // CHECK-COUNT-20: llvm.load
  // CHECK-NOT: llvm.load
  // CHECK: scf.yield
  func.func private @product(%y: memref<16x12xf32>, %part: index, %parts: index) attributes {fovea.threads = 32 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %yv = tile.view %y axes(0, 1) : memref<16x12xf32> -> !tile.view<16x12xf32>
    tile.kernel grid(%i) = (%c1) {
      %a = tile.shared at(0) : !tile.shared<16x32xf32, strides [1, 16]>
      %b = tile.shared at(2048) : !tile.shared<12x32xbf16>
      %acc = tile.splat %zero : !tile.tile<16x12xf32, #blocked>
      %s = tile.mma %a, %b transpose_b into %acc : !tile.shared<16x32xf32, strides [1, 16]>, !tile.shared<12x32xbf16> -> !tile.tile<16x12xf32, #blocked>
      tile.store %s, %yv[%c0, %c0] : !tile.tile<16x12xf32, #blocked>, !tile.view<16x12xf32>
    }
    return
  }
}

// -----

// Plain loops: an iteration a thread.

gpu.module @gpu {
  // CHECK-LABEL: func.func private @loops
  // CHECK: %[[NUMBER:.*]] = arith.addi
  // CHECK: %[[EXISTS:.*]] = arith.cmpi ult, %[[NUMBER]]
  // CHECK: scf.if %[[EXISTS]] {
  // CHECK-DAG: arith.remui %[[NUMBER]]
  // CHECK-DAG: arith.divui %[[NUMBER]]
  // CHECK: memref.store
  func.func private @loops(%x: memref<?x5xf32>, %part: index, %parts: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c5 = arith.constant 5 : index
    %one = arith.constant 1.0 : f32
    %rows = memref.dim %x, %c0 : memref<?x5xf32>
    scf.parallel (%i, %j) = (%c0, %c0) to (%rows, %c5) step (%c1, %c1) {
      memref.store %one, %x[%i, %j] : memref<?x5xf32>
    }
    return
  }
}

// -----

// What memory and registers, or memory and shared memory, have side by side moves as a vector where its place is surely a multiple of
// its size. Where only a part may be inside the view (its size is not known) that is so for tiles that are inside as a whole.

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
      tile.put %t to %p : !tile.tile<8x32xf32, #wide>, !tile.shared<8x32xf32, strides [36, 1]>
      tile.copy %zv[%j, %n] to %q : !tile.view<?x?xbf16>, !tile.shared<16x8xbf16, strides [1, 24]>
      tile.barrier
      %u = tile.get %p : !tile.shared<8x32xf32, strides [36, 1]> -> !tile.tile<8x32xf32, #wide>
      tile.store %u, %yv[%n, %j] : !tile.tile<8x32xf32, #wide>, !tile.view<?x96xf32>
    }
    return
  }
}

// -----

// Copies that are only begun; zeros are what a source of no bytes gives. A slot is a place in its ring.

gpu.module @gpu {
  // CHECK-LABEL: func.func private @ahead
  // CHECK-DAG: %[[BYTES:.*]] = arith.constant 2176 : i64
  // CHECK-DAG: %[[SIXTEEN:.*]] = arith.constant 16 : i32
  // CHECK-DAG: %[[NOTHING:.*]] = arith.constant 0 : i32
  // CHECK: %[[OFFSET:.*]] = arith.muli %{{.*}}, %[[BYTES]] : i64
  // CHECK: llvm.getelementptr %{{.*}}[%[[OFFSET]]]
  // CHECK: scf.if
  // CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
  // CHECK: } else {
  // CHECK: %[[SIZE:.*]] = arith.select %{{.*}}, %[[SIXTEEN]], %[[NOTHING]] : i32
  // CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg, %[[SIZE]]
  // CHECK: nvvm.cp.async.commit.group
  // CHECK: nvvm.cp.async.wait.group 1
  func.func private @ahead(%x: memref<?x96xbf16>, %n: index, %part: index, %parts: index) attributes {fovea.threads = 64 : i32} {
    %c3 = arith.constant 3 : index
    %c32 = arith.constant 32 : index
    %xv = tile.view %x axes(0, 1) : memref<?x96xbf16> -> !tile.view<?x96xbf16>
    tile.kernel grid(%b) = (%c3) {
      %ring = tile.shared stages(3) at(0) : !tile.shared<27x32xbf16, strides [40, 1]>
      %j = arith.muli %b, %c32 : index
      %p = tile.slot %ring[%n] : !tile.shared<27x32xbf16, strides [40, 1]>
      tile.copy %xv[%n, %j] to %p async : !tile.view<?x96xbf16>, !tile.shared<27x32xbf16, strides [40, 1]>
      tile.commit
      tile.wait pending(1)
    }
    return
  }
}

// -----

// Weights in panels of a GPU: 16 bytes at a time, in place and into a swizzle. What is not whole there is of the view's end.

#one = #tile.layout<rows = [], columns = [threads 32 by 1]>
gpu.module @gpu {
  // CHECK-LABEL: func.func private @eights
  // CHECK-COUNT-16: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
  // CHECK-NOT: cp.async
  // CHECK: scf.for
  // CHECK-NOT: memref.load
  // CHECK-COUNT-4: vector.load %{{.*}} {alignment = 16 : i64} : memref<{{.*}}>, vector<8xbf16>
  // CHECK-NOT: vector.load
  func.func private @eights(%x: memref<1x64xf32>, %w: memref<2x8x32x8xbf16>, %y: memref<1x64xf32>, %part: index, %parts: index) attributes {fovea.threads = 32 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %xv = tile.view %x axes(0, 1) : memref<1x64xf32> -> !tile.view<1x64xf32>
    %wv = tile.packed %w : memref<2x8x32x8xbf16> -> !tile.view<64x64xbf16>
    %yv = tile.view %y axes(0, 1) : memref<1x64xf32> -> !tile.view<1x64xf32>
    tile.kernel grid(%b) = (%c1) {
      %ws = tile.shared at(0) : !tile.shared<64x64xbf16, swizzle 128>
      tile.copy %wv[%c0, %c0] to %ws async : !tile.view<64x64xbf16>, !tile.shared<64x64xbf16, swizzle 128>
      %xs = tile.shared at(8192) : !tile.shared<1x64xf32>
      %wt = tile.load %wv[%c0, %c0] : !tile.view<64x64xbf16> -> !tile.tile<32x64xbf16>
      %none = tile.splat %zero : !tile.tile<1x32xf32, #one>
      %sum = tile.mma %xs, %wt transpose_b into %none : !tile.shared<1x64xf32>, !tile.tile<32x64xbf16> -> !tile.tile<1x32xf32, #one>
      tile.store %sum, %yv[%c0, %c0] : !tile.tile<1x32xf32, #one>, !tile.view<1x64xf32>
    }
    return
  }
}

// -----

// Threads 32 to 63 hold copies of what 0 to 31 hold: each half of the block takes every other 32 of k, and all add both sums.

#one = #tile.layout<rows = [], columns = [threads 32 by 1]>
gpu.module @gpu {
  // CHECK-LABEL: func.func private @shares_depth
  // CHECK: %[[THREAD:.*]] = nvvm.read.ptx.sreg.tid.x : i32
  // CHECK: %[[PLACE:.*]] = arith.remui %[[THREAD]], %{{.*}} : i32
  // CHECK: %[[TURN:.*]] = arith.divui %[[THREAD]], %{{.*}} : i32
  // CHECK: %[[NUMBER:.*]] = arith.index_castui %[[TURN]] : i32 to index
  // CHECK: %[[FIRST:.*]] = arith.muli %[[NUMBER]], %c32 : index
  // CHECK: %[[SUM:.*]] = scf.for %{{.*}} = %[[FIRST]] to %c128 step %c64 iter_args(%{{.*}} = %{{.*}}) -> (f32) {
  // CHECK: llvm.store %[[SUM]], %{{.*}} : f32, !llvm.ptr<3>
  // CHECK: nvvm.barrier
  // CHECK: %[[ONE:.*]] = llvm.load %{{.*}} : !llvm.ptr<3> -> f32
  // CHECK: %[[OTHER:.*]] = llvm.load %{{.*}} : !llvm.ptr<3> -> f32
  // CHECK: arith.addf %[[ONE]], %[[OTHER]] : f32
  func.func private @shares_depth(%x: memref<1x128xf32>, %w: memref<1x16x32x8xbf16>, %y: memref<1x32xf32>, %part: index, %parts: index) attributes {fovea.threads = 64 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %wv = tile.packed %w : memref<1x16x32x8xbf16> -> !tile.view<32x128xbf16>
    %yv = tile.view %y axes(0, 1) : memref<1x32xf32> -> !tile.view<1x32xf32>
    tile.kernel grid(%b) = (%c1) {
      %xs = tile.shared at(0) : !tile.shared<1x128xf32>
      %both = tile.shared at(512) : !tile.shared<64x1xf32>
      %wt = tile.load %wv[%c0, %c0] : !tile.view<32x128xbf16> -> !tile.tile<32x128xbf16>
      %none = tile.splat %zero : !tile.tile<1x32xf32, #one>
      %sum = tile.mma %xs, %wt transpose_b into %none scratch(%both : !tile.shared<64x1xf32>) : !tile.shared<1x128xf32>, !tile.tile<32x128xbf16> -> !tile.tile<1x32xf32, #one>
      tile.store %sum, %yv[%c0, %c0] : !tile.tile<1x32xf32, #one>, !tile.view<1x32xf32>
    }
    return
  }
}
