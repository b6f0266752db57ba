// RUN: fovea-opt %s --fovea-gather-windows --mlir-print-local-scope | FileCheck %s

// Windows that overlap are copied, channels beside each other; many of them, or those of weights for
// each group, stay as they are.

// CHECK-LABEL: @overlap
// CHECK: %[[LAST:.*]] = linalg.transpose ins(%{{.*}} : tensor<?x8x40xf32>) outs(%{{.*}} : tensor<?x40x8xf32>) permutation = [0, 2, 1]
// CHECK: %[[WINDOWS:.*]] = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1 * 2 + d2, d3)>,
// CHECK-SAME: ins(%[[LAST]] : tensor<?x40x8xf32>) outs(%{{.*}} : tensor<?x19x3x8xf32>)
// CHECK: linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d2, d4, d3)>,
// CHECK-SAME: ins(%[[WINDOWS]], %{{.*}} : tensor<?x19x3x8xf32>, tensor<6x8x3xf32>)
fovea.weight @w : tensor<6x8x3xf32> = #fovea.stored<"f", "w", tensor<6x8x3xf32>>
func.func @overlap(%x: tensor<?x8x40xf32>, %none: tensor<?x6x19xf32>) -> tensor<?x6x19xf32> {
  %w = fovea.weight_ref @w : tensor<6x8x3xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(b, f, i, c, p) -> (b, c, i * 2 + p)>, affine_map<(b, f, i, c, p) -> (f, c, p)>,
                                        affine_map<(b, f, i, c, p) -> (b, f, i)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : tensor<?x8x40xf32>, tensor<6x8x3xf32>) outs(%none : tensor<?x6x19xf32>) {
  ^bb0(%l: f32, %r: f32, %s: f32):
    %0 = arith.mulf %l, %r : f32
    %1 = arith.addf %s, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<?x6x19xf32>
  return %y : tensor<?x6x19xf32>
}

// CHECK-LABEL: @many
// CHECK-NOT: linalg.transpose
// CHECK: affine_map<(d0, d1, d2, d3, d4) -> (d0, d3, d2 + d4)>
fovea.weight @v : tensor<6x8x9xf32> = #fovea.stored<"f", "v", tensor<6x8x9xf32>>
func.func @many(%x: tensor<1x8x?xf32>, %none: tensor<1x6x?xf32>) -> tensor<1x6x?xf32> {
  %w = fovea.weight_ref @v : tensor<6x8x9xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(b, f, i, c, p) -> (b, c, i + p)>, affine_map<(b, f, i, c, p) -> (f, c, p)>,
                                        affine_map<(b, f, i, c, p) -> (b, f, i)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : tensor<1x8x?xf32>, tensor<6x8x9xf32>) outs(%none : tensor<1x6x?xf32>) {
  ^bb0(%l: f32, %r: f32, %s: f32):
    %0 = arith.mulf %l, %r : f32
    %1 = arith.addf %s, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<1x6x?xf32>
  return %y : tensor<1x6x?xf32>
}

// CHECK-LABEL: @groups
// CHECK: affine_map<(d0, d1, d2, d3) -> (d0, d1, d2 + d3)>
fovea.weight @g : tensor<8x3xf32> = #fovea.stored<"f", "g", tensor<8x3xf32>>
func.func @groups(%x: tensor<?x8x40xf32>, %none: tensor<?x8x38xf32>) -> tensor<?x8x38xf32> {
  %w = fovea.weight_ref @g : tensor<8x3xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(b, c, i, p) -> (b, c, i + p)>, affine_map<(b, c, i, p) -> (c, p)>,
                                        affine_map<(b, c, i, p) -> (b, c, i)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<?x8x40xf32>, tensor<8x3xf32>) outs(%none : tensor<?x8x38xf32>) {
  ^bb0(%l: f32, %r: f32, %s: f32):
    %0 = arith.mulf %l, %r : f32
    %1 = arith.addf %s, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<?x8x38xf32>
  return %y : tensor<?x8x38xf32>
}
