// RUN: fovea-opt %s --pass-pipeline='builtin.module(func.func(fovea-tile-to-loops))' | FileCheck %s

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
