// RUN: fovea-opt %s --pass-pipeline='builtin.module(func.func(fovea-tile-to-loops))' --split-input-file | FileCheck %s

// One buffer for each tile at the function's entry, one nest of loops for each op; what is outside reads zero and is
// not written. The grid is parallel.
// CHECK-LABEL: func.func private @copy(
// CHECK-SAME: %[[X:[^:]*]]: memref<?x5xf32>, %[[Y:[^:]*]]: memref<?x5xf32>
func.func private @copy(%x: memref<?x5xf32>, %y: memref<?x5xf32>, %rows: index) {
  // CHECK: %[[TILE:.*]] = memref.alloca() {{.*}} : memref<2x3xf32>
  // CHECK-NOT: memref.alloca
  // CHECK: %[[XROWS:.*]] = memref.dim %[[X]],
  // CHECK: %[[YROWS:.*]] = memref.dim %[[Y]],
  %c0 = arith.constant 0 : index
  %xv = tile.view %x axes(0, 1) : memref<?x5xf32> -> !tile.view<?x5xf32>
  %yv = tile.view %y axes(0, 1) : memref<?x5xf32> -> !tile.view<?x5xf32>
  // CHECK: scf.parallel (%[[I:.*]]) =
  tile.kernel grid(%i) = (%rows) {
    // CHECK: scf.for %[[R:[^ ]*]] =
    // CHECK: scf.for %[[C:[^ ]*]] =
    // CHECK: %[[ROW:.*]] = arith.addi %[[I]], %[[R]]
    // CHECK: memref.store %{{.*}}, %[[TILE]][%[[R]], %[[C]]]
    // CHECK: arith.cmpi ult, %[[ROW]], %[[XROWS]]
    // CHECK: scf.if
    // CHECK: memref.load %[[X]][%[[ROW]],
    // CHECK: memref.store %{{.*}}, %[[TILE]][%[[R]], %[[C]]]
    %t = tile.load %xv[%i, %c0] : !tile.view<?x5xf32> -> !tile.tile<2x3xf32, lanes 0>
    // CHECK: arith.cmpi ult, %{{.*}}, %[[YROWS]]
    // CHECK: scf.if
    // CHECK: memref.load %[[TILE]]
    // CHECK: memref.store %{{.*}}, %[[Y]]
    tile.store %t, %yv[%i, %c0] : !tile.tile<2x3xf32, lanes 0>, !tile.view<?x5xf32>
  }
  // CHECK-NOT: tile.
  return
}

// -----

// A packed weight with pairs of k; k beyond it, or beyond the view of x, adds nothing.
// CHECK-LABEL: func.func private @dot(
// CHECK-SAME: %{{[^:]*}}: memref<?x7xf32>, %[[W:[^:]*]]: memref<2x4x16x2xbf16>
func.func private @dot(%x: memref<?x7xf32>, %w: memref<2x4x16x2xbf16>, %y: memref<?x20xf32>, %i: index, %one: index) {
  // CHECK: memref.load %[[W]][%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}]
  // CHECK: arith.extf %{{.*}} : bf16 to f32
  // CHECK: %[[NEXT:.*]] = arith.addf %[[SUM:.*]], %{{.*}} : f32
  // CHECK: arith.cmpi ult
  // CHECK: %[[FIRST:.*]] = arith.select %{{.*}}, %[[NEXT]], %[[SUM]] : f32
  // CHECK: arith.cmpi ult
  // CHECK: arith.select %{{.*}}, %[[FIRST]], %[[SUM]] : f32
  %c0 = arith.constant 0 : index
  %xv = tile.view %x axes(0, 1) : memref<?x7xf32> -> !tile.view<?x7xf32>
  %wv = tile.packed %w : memref<2x4x16x2xbf16> -> !tile.view<20x7xbf16>
  %yv = tile.view %y axes(0, 1) : memref<?x20xf32> -> !tile.view<?x20xf32>
  tile.kernel grid(%n) = (%one) {
    %a = tile.load %xv[%i, %c0] : !tile.view<?x7xf32> -> !tile.tile<2x8xf32>
    %b = tile.load %wv[%c0, %c0] : !tile.view<20x7xbf16> -> !tile.tile<16x8xbf16>
    %s = tile.dot %a, %b transpose_b : !tile.tile<2x8xf32>, !tile.tile<16x8xbf16> -> !tile.tile<2x16xf32>
    tile.store %s, %yv[%i, %c0] : !tile.tile<2x16xf32>, !tile.view<?x20xf32>
  }
  return
}

// -----

// Carried tiles that change places: both are copied aside before either is written.
// CHECK-LABEL: func.func private @swap(
func.func private @swap(%y: memref<1x2xf32>, %p: f32, %q: f32, %n: index) {
  // CHECK-COUNT-6: memref.alloca() {{.*}} : memref<1x2xf32>
  // CHECK-NOT: memref.alloca
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %yv = tile.view %y axes(0, 1) : memref<1x2xf32> -> !tile.view<1x2xf32>
  tile.kernel grid(%i) = (%c1) {
    %a = tile.splat %p : !tile.tile<1x2xf32>
    %b = tile.splat %q : !tile.tile<1x2xf32>
    // CHECK: %[[COUNT:.*]] = scf.for %{{.*}} iter_args(%{{.*}} = %{{.*}}) -> (index) {
    %r:3 = scf.for %l = %c0 to %n step %c1 iter_args(%u = %a, %k = %c0, %v = %b) -> (!tile.tile<1x2xf32>, index, !tile.tile<1x2xf32>) {
      // CHECK: memref.load %[[V:.*]][
      // CHECK: memref.store %{{.*}}, %[[VASIDE:.*]][
      // CHECK: memref.load %[[U:.*]][
      // CHECK: memref.store %{{.*}}, %[[UASIDE:.*]][
      // CHECK: memref.load %[[VASIDE]][
      // CHECK: memref.store %{{.*}}, %[[U]][
      // CHECK: memref.load %[[UASIDE]][
      // CHECK: memref.store %{{.*}}, %[[V]][
      %next = arith.addi %k, %l : index
      scf.yield %v, %next, %u : !tile.tile<1x2xf32>, index, !tile.tile<1x2xf32>
    }
    // CHECK: arith.addi %{{.*}}, %[[COUNT]]
    %at = arith.addi %c0, %r#1 : index
    tile.store %r#0, %yv[%at, %c0] : !tile.tile<1x2xf32>, !tile.view<1x2xf32>
  }
  return
}

// -----

// Functions without tiles stay as they are, whatever else they are made of.
// CHECK-LABEL: func.func @other
// CHECK: cf.br
func.func @other() {
  cf.br ^bb1
^bb1:
  return
}
