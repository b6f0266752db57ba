// RUN: fovea-opt %s --fovea-stage-operands --verify-diagnostics | FileCheck %s

// A computed tile lies in shared memory once, where it is computed, however many products read it; one whose k may lie
// outside of the other operand's view is zero there.
// CHECK-LABEL: func.func private @attention
func.func private @attention(%q: memref<?x32xf32>, %k: memref<?x32xf32>, %v: memref<?x32xf32>, %o: memref<?x32xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %two = arith.constant 2.0 : f32
  %qv = tile.view %q axes(0, 1) : memref<?x32xf32> -> !tile.view<?x32xf32>
  %kv = tile.view %k axes(0, 1) : memref<?x32xf32> -> !tile.view<?x32xf32>
  %vv = tile.view %v axes(0, 1) length(%n) : memref<?x32xf32> -> !tile.view<?x32xf32>
  %ov = tile.view %o axes(0, 1) : memref<?x32xf32> -> !tile.view<?x32xf32>
  tile.kernel grid(%i) = (%n) {
    // CHECK: %[[SCALED:.*]] = tile.map
    // CHECK: tile.local_store %[[SCALED]] to %[[Q:.*]] : !tile.tile<64x32xf32>, !tile.shared<64x32xf32, strides [36, 1]>
    %a = tile.load %qv[%i, %c0] : !tile.view<?x32xf32> -> !tile.tile<64x32xf32>
    %b = tile.map(%e = %a) : (!tile.tile<64x32xf32>) -> !tile.tile<64x32xf32> {
      %0 = arith.mulf %e, %two : f32
      tile.yield %0 : f32
    }
    %zero = arith.constant 0.0 : f32
    %start = tile.splat %zero : !tile.tile<64x32xf32>
    // CHECK: scf.for [[J:%[a-z0-9]+]] = %
    %sum = scf.for %j = %c0 to %n step %c64 iter_args(%acc = %start) -> (!tile.tile<64x32xf32>) {
      // CHECK: tile.copy %{{.*}}[[[J]]
      // CHECK: %[[S:.*]] = tile.mma %[[Q]], %{{.*}} transpose_b into
      %kt = tile.load %kv[%j, %c0] : !tile.view<?x32xf32> -> !tile.tile<64x32xf32>
      %s = tile.dot %b, %kt transpose_b : !tile.tile<64x32xf32>, !tile.tile<64x32xf32> -> !tile.tile<64x64xf32>
      // CHECK: %[[LEFT:.*]] = arith.subi %{{.*}}, [[J]] : index
      // CHECK: %[[ENDS:.*]] = arith.cmpi slt, %[[LEFT]], %{{.*}} : index
      // CHECK: %[[PUT:.*]] = scf.if %[[ENDS]]
      // CHECK: %[[LIMIT:.*]] = arith.index_cast %[[LEFT]] : index to i32
      // CHECK: %[[AT:.*]] = tile.iota axis(1) from %{{.*}} : !tile.tile<64x64xi32>
      // CHECK: %[[CLEAR:.*]] = tile.map(%[[X:.*]] = %[[S]], %[[K:.*]] = %[[AT]])
      // CHECK: arith.cmpi slt, %[[K]], %[[LIMIT]] : i32
      // CHECK: scf.yield %[[CLEAR]]
      // CHECK: scf.yield %[[S]]
      // CHECK: tile.local_store %[[PUT]] to
      // CHECK: tile.mma
      %vt = tile.load %vv[%j, %c0] : !tile.view<?x32xf32> -> !tile.tile<64x32xf32>
      %next = tile.dot %s, %vt into %acc : !tile.tile<64x64xf32>, !tile.tile<64x32xf32> -> !tile.tile<64x32xf32>
      scf.yield %next : !tile.tile<64x32xf32>
    }
    // CHECK-NOT: tile.local_store %[[SCALED]]
    %kt = tile.load %kv[%c0, %c0] : !tile.view<?x32xf32> -> !tile.tile<64x32xf32>
    %again = tile.dot %b, %kt transpose_b : !tile.tile<64x32xf32>, !tile.tile<64x32xf32> -> !tile.tile<64x64xf32>
    %m = tile.reduce sum %again axis(1) : !tile.tile<64x64xf32> -> !tile.tile<64x1xf32>
    tile.store %m, %ov[%i, %c0] : !tile.tile<64x1xf32>, !tile.view<?x32xf32>
    tile.store %sum, %ov[%i, %c0] : !tile.tile<64x32xf32>, !tile.view<?x32xf32>
  }
  return
}
