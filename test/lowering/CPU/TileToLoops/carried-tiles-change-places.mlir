// RUN: fovea-opt %s --pass-pipeline='builtin.module(func.func(fovea-tile-to-loops))' | FileCheck %s

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
