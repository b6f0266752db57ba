// RUN: fovea-opt %s --pass-pipeline='builtin.module(func.func(fovea-tile-to-loops))' | FileCheck %s

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
