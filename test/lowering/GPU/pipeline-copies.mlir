// RUN: fovea-opt %s --fovea-pipeline-copies --split-input-file | FileCheck %s
// RUN: fovea-opt %s --fovea-pipeline-copies=stages=2 --split-input-file | FileCheck %s --check-prefix=TWO
// RUN: fovea-opt %s --fovea-pipeline-copies=limit=80000 --split-input-file | FileCheck %s --check-prefix=SMALL
// RUN: fovea-opt %s --fovea-pipeline-copies=stages=1 --split-input-file | FileCheck %s --check-prefix=ONE

// Each round waits for its data, and one barrier says that they are there and that the slot of the round before is free.
// CHECK-LABEL: func.func private @product
// SMALL-LABEL: func.func private @product
// ONE-LABEL: func.func private @product
// TWO-LABEL: func.func private @product
func.func private @product(%x: memref<?x192xf32>, %w: memref<64x192xf32>, %y: memref<?x64xf32>, %zero: !tile.tile<64x64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c192 = arith.constant 192 : index
  %xv = tile.view %x axes(0, 1) : memref<?x192xf32> -> !tile.view<?x192xf32>
  %wv = tile.view %w axes(0, 1) : memref<64x192xf32> -> !tile.view<64x192xf32>
  %yv = tile.view %y axes(0, 1) : memref<?x64xf32> -> !tile.view<?x64xf32>
  tile.kernel grid(%i) = (%n) {
    // ONE: tile.copy %{{.*}}[%{{.*}}, %{{.*}}] to %{{.*}} : !tile.view
    // CHECK: %[[X:.*]] = tile.shared stages(3) : !tile.shared<64x32xf32, strides [36, 1]>
    // CHECK: %[[W:.*]] = tile.shared stages(3) : !tile.shared<64x32xf32, strides [36, 1]>
    // SMALL: tile.shared stages(2) : !tile.shared<64x32xf32, strides [36, 1]>
    %xs = tile.shared : !tile.shared<64x32xf32, strides [36, 1]>
    %ws = tile.shared : !tile.shared<64x32xf32, strides [36, 1]>
    // The first two rounds: whether there is one is known only if bounds are.
    // CHECK: scf.for %[[P:[a-z0-9]*]] = %{{.*}} to %{{.*}} step %{{.*}} {
    // CHECK: %[[OFFSET:.*]] = arith.muli %[[P]], %{{.*}} : index
    // CHECK: %[[FIRST:.*]] = arith.addi %{{.*}}, %[[OFFSET]] : index
    // CHECK: %[[XP:.*]] = tile.slot %[[X]][%[[P]]] : !tile.shared<64x32xf32, strides [36, 1]>
    // CHECK: %[[WP:.*]] = tile.slot %[[W]][%[[P]]]
    // CHECK: scf.if
    // CHECK-NEXT: tile.copy %{{.*}}[%{{.*}}, %[[FIRST]]] to %[[XP]] async
    // CHECK-NEXT: tile.copy %{{.*}}[%{{.*}}, %[[FIRST]]] to %[[WP]] async
    // CHECK-NEXT: }
    // CHECK-NEXT: tile.commit
    // CHECK: }
    // CHECK: scf.for %[[K:[a-z0-9]*]] = %{{.*}} iter_args(%[[SUM:.*]] = %{{.*}}, %[[SLOT:.*]] = %{{.*}}) -> (!tile.tile<64x64xf32>, index) {
    // CHECK-NEXT: tile.wait pending(1)
    // CHECK-NEXT: tile.barrier
    // CHECK: %[[FREE:.*]] = arith.select
    // CHECK: %[[AHEAD:.*]] = arith.addi %[[K]], %{{.*}} : index
    // CHECK: %[[XF:.*]] = tile.slot %[[X]][%[[FREE]]]
    // CHECK: scf.if
    // CHECK-NEXT: tile.copy %{{.*}}[%{{.*}}, %[[AHEAD]]] to %[[XF]] async
    // CHECK: tile.commit
    // CHECK: %[[XS:.*]] = tile.slot %[[X]][%[[SLOT]]]
    // CHECK: %[[WS:.*]] = tile.slot %[[W]][%[[SLOT]]]
    // CHECK-NOT: tile.copy
    // CHECK: %[[NEXT:.*]] = tile.mma %[[XS]], %[[WS]] transpose_b into %[[SUM]]
    // CHECK: %[[FOLLOWING:.*]] = arith.select
    // CHECK: scf.yield %[[NEXT]], %[[FOLLOWING]] : !tile.tile<64x64xf32>, index
    // CHECK: }
    // CHECK-NEXT: tile.wait pending(0)
    // Of two stages one round is begun before the loop, surely.
    // TWO: %[[X:.*]] = tile.shared stages(2)
    // TWO: tile.slot %[[X]][%[[ZERO:.*]]]
    // TWO-NOT: scf.if
    // TWO: tile.copy %{{.*}}[%{{.*}}, %{{.*}}] to %{{.*}} async
    // TWO: tile.commit
    // TWO: scf.for
    // TWO-NEXT: tile.wait pending(0)
    // TWO-NEXT: tile.barrier
    %s = scf.for %k = %c0 to %c192 step %c32 iter_args(%sum = %zero) -> (!tile.tile<64x64xf32>) {
      tile.copy %xv[%i, %k] to %xs : !tile.view<?x192xf32>, !tile.shared<64x32xf32, strides [36, 1]>
      tile.copy %wv[%i, %k] to %ws : !tile.view<64x192xf32>, !tile.shared<64x32xf32, strides [36, 1]>
      %next = tile.mma %xs, %ws transpose_b into %sum : !tile.shared<64x32xf32, strides [36, 1]>, !tile.shared<64x32xf32, strides [36, 1]> -> !tile.tile<64x64xf32>
      scf.yield %next : !tile.tile<64x64xf32>
    }
    tile.store %s, %yv[%i, %c0] : !tile.tile<64x64xf32>, !tile.view<?x64xf32>
  }
  return
}

// -----

// A block of several warpgroups shares its multiprocessor with no other, so it may have all memory.
// SMALL-LABEL: func.func private @several
func.func private @several(%x: memref<?x192xf32>, %w: memref<64x192xf32>, %y: memref<?x64xf32>, %zero: !tile.tile<64x64xf32>, %n: index) attributes {fovea.threads = 256 : i32} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c192 = arith.constant 192 : index
  %xv = tile.view %x axes(0, 1) : memref<?x192xf32> -> !tile.view<?x192xf32>
  %wv = tile.view %w axes(0, 1) : memref<64x192xf32> -> !tile.view<64x192xf32>
  %yv = tile.view %y axes(0, 1) : memref<?x64xf32> -> !tile.view<?x64xf32>
  tile.kernel grid(%i) = (%n) {
    // SMALL: tile.shared stages(3) : !tile.shared<64x32xf32, strides [36, 1]>
    %xs = tile.shared : !tile.shared<64x32xf32, strides [36, 1]>
    %ws = tile.shared : !tile.shared<64x32xf32, strides [36, 1]>
    %s = scf.for %k = %c0 to %c192 step %c32 iter_args(%sum = %zero) -> (!tile.tile<64x64xf32>) {
      tile.copy %xv[%i, %k] to %xs : !tile.view<?x192xf32>, !tile.shared<64x32xf32, strides [36, 1]>
      tile.copy %wv[%i, %k] to %ws : !tile.view<64x192xf32>, !tile.shared<64x32xf32, strides [36, 1]>
      %next = tile.mma %xs, %ws transpose_b into %sum : !tile.shared<64x32xf32, strides [36, 1]>, !tile.shared<64x32xf32, strides [36, 1]> -> !tile.tile<64x64xf32>
      scf.yield %next : !tile.tile<64x64xf32>
    }
    tile.store %s, %yv[%i, %c0] : !tile.tile<64x64xf32>, !tile.view<?x64xf32>
  }
  return
}

// -----

// A copy whose rows are not surely aligned stays, beside one that goes ahead. So does one that is read before it in its round.
// CHECK-LABEL: func.func private @some
// SMALL-LABEL: func.func private @some
func.func private @some(%x: memref<?x31xbf16>, %w: memref<64x192xbf16>, %zero: !tile.tile<64x64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c192 = arith.constant 192 : index
  %xv = tile.view %x axes(0, 1) : memref<?x31xbf16> -> !tile.view<?x31xbf16>
  %wv = tile.view %w axes(0, 1) : memref<64x192xbf16> -> !tile.view<64x192xbf16>
  tile.kernel grid(%i) = (%n) {
    // CHECK-DAG: %[[X:.*]] = tile.shared : !tile.shared<64x32xbf16>
    // CHECK-DAG: %[[Z:.*]] = tile.shared : !tile.shared<64x32xbf16>
    // CHECK-DAG: %[[W:.*]] = tile.shared stages(3) : !tile.shared<64x32xbf16>
    %xs = tile.shared : !tile.shared<64x32xbf16>
    %ws = tile.shared : !tile.shared<64x32xbf16>
    %zs = tile.shared : !tile.shared<64x32xbf16>
    // CHECK: scf.for
    // CHECK: scf.for %[[K:[a-z0-9]*]] =
    %s = scf.for %k = %c0 to %c192 step %c32 iter_args(%sum = %zero) -> (!tile.tile<64x64xf32>) {
      // CHECK: tile.get
      %z = tile.get %zs : !tile.shared<64x32xbf16> -> !tile.tile<64x32xbf16>
      // CHECK: tile.copy %{{.*}}[%[[K]], %{{.*}}] to %{{.*}} : !tile.view<?x31xbf16>
      tile.copy %xv[%k, %c0] to %xs : !tile.view<?x31xbf16>, !tile.shared<64x32xbf16>
      tile.copy %wv[%i, %k] to %ws : !tile.view<64x192xbf16>, !tile.shared<64x32xbf16>
      // CHECK: tile.copy %{{.*}}[%{{.*}}, %[[K]]] to %{{.*}} : !tile.view<64x192xbf16>
      tile.copy %wv[%i, %k] to %zs : !tile.view<64x192xbf16>, !tile.shared<64x32xbf16>
      %next = tile.mma %xs, %ws transpose_b into %sum : !tile.shared<64x32xbf16>, !tile.shared<64x32xbf16> -> !tile.tile<64x64xf32>
      scf.yield %next : !tile.tile<64x64xf32>
    }
  }
  return
}

// -----

// What a loop stores another round may copy. A place that depends on what the round before has found is not known ahead. A single round has none before it.
// CHECK-LABEL: func.func private @none
// CHECK-NOT: stages
// CHECK-NOT: async
func.func private @none(%x: memref<?x192xf32>, %t: !tile.tile<64x32xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %xv = tile.view %x axes(0, 1) : memref<?x192xf32> -> !tile.view<?x192xf32>
  tile.kernel grid(%i) = (%n) {
    %a = tile.shared : !tile.shared<64x32xf32>
    %b = tile.shared : !tile.shared<64x32xf32>
    %c = tile.shared : !tile.shared<64x32xf32>
    scf.for %k = %c0 to %n step %c32 {
      tile.copy %xv[%i, %k] to %a : !tile.view<?x192xf32>, !tile.shared<64x32xf32>
      tile.store %t, %xv[%i, %k] : !tile.tile<64x32xf32>, !tile.view<?x192xf32>
    }
    %r = scf.for %k = %c0 to %n step %c32 iter_args(%at = %c0) -> (index) {
      tile.copy %xv[%i, %at] to %b : !tile.view<?x192xf32>, !tile.shared<64x32xf32>
      %next = arith.addi %at, %k : index
      scf.yield %next : index
    }
    scf.for %k = %c0 to %c1 step %c1 {
      tile.copy %xv[%i, %c0] to %c : !tile.view<?x192xf32>, !tile.shared<64x32xf32>
    }
  }
  return
}

// -----

// A product that may be done a round later: each slot stays for another round, so there is one more.
// CHECK-LABEL: func.func private @late
// CHECK: %[[K:.*]] = tile.shared stages(4) kept(1) : !tile.shared<64x64xbf16, swizzle 128>
// CHECK: %[[V:.*]] = tile.shared stages(4) kept(1) : !tile.shared<64x64xbf16, swizzle 128>
// CHECK: scf.for {{.*}} to %c2
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[SLOT:.*]] = %{{.*}}) -> (!tile.tile<64x64xf32>, index)
// CHECK: tile.wait pending(1)
// CHECK: %[[LOW:.*]] = arith.cmpi ult, %[[SLOT]], %[[BACK:.*]] : index
// CHECK: %[[DOWN:.*]] = arith.subi %[[SLOT]], %[[BACK]] : index
// CHECK: %[[UP:.*]] = arith.addi %[[SLOT]], %{{.*}} : index
// CHECK: %[[FREE:.*]] = arith.select %[[LOW]], %[[UP]], %[[DOWN]] : index
// CHECK: tile.slot %[[K]][%[[FREE]]]
// CHECK: tile.slot %[[V]][%[[FREE]]]
// TWO-LABEL: func.func private @late
// TWO: tile.shared stages(3) kept(1)
func.func private @late(%k: memref<4096x64xbf16>, %v: memref<4096x64xbf16>, %y: memref<64x64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %kv = tile.view %k axes(0, 1) : memref<4096x64xbf16> -> !tile.view<4096x64xbf16>
  %vv = tile.view %v axes(0, 1) : memref<4096x64xbf16> -> !tile.view<4096x64xbf16>
  %yv = tile.view %y axes(0, 1) : memref<64x64xf32> -> !tile.view<64x64xf32>
  tile.kernel grid(%i) = (%n) {
    %q = tile.shared : !tile.shared<64x64xbf16, swizzle 128>
    %ks = tile.shared : !tile.shared<64x64xbf16, swizzle 128>
    %vs = tile.shared : !tile.shared<64x64xbf16, swizzle 128>
    %none = tile.splat %zero : !tile.tile<64x64xf32>
    %o = scf.for %j = %c0 to %n step %c64 iter_args(%sum = %none) -> (!tile.tile<64x64xf32>) {
      tile.copy %kv[%j, %c0] to %ks : !tile.view<4096x64xbf16>, !tile.shared<64x64xbf16, swizzle 128>
      %s = tile.mma %q, %ks transpose_b into %none atom(m64k16) : !tile.shared<64x64xbf16, swizzle 128>, !tile.shared<64x64xbf16, swizzle 128> -> !tile.tile<64x64xf32>
      %p = tile.cast %s : !tile.tile<64x64xf32> -> !tile.tile<64x64xbf16>
      tile.copy %vv[%j, %c0] to %vs : !tile.view<4096x64xbf16>, !tile.shared<64x64xbf16, swizzle 128>
      %next = tile.mma %p, %vs into %sum atom(m64k16) : !tile.tile<64x64xbf16>, !tile.shared<64x64xbf16, swizzle 128> -> !tile.tile<64x64xf32>
      scf.yield %next : !tile.tile<64x64xf32>
    }
    tile.store %o, %yv[%c0, %c0] : !tile.tile<64x64xf32>, !tile.view<64x64xf32>
  }
  return
}
