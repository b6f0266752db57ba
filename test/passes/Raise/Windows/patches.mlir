// RUN: fovea-opt %s --fovea-gather-windows | FileCheck %s
// RUN: fovea-opt %s --fovea-gather-windows --fovea-raise-linear | FileCheck %s --check-prefix=LINEAR

// Windows beside each other are a view. The bias, which the source spreads over places by axes of
// one, is the linear's.

// CHECK: #[[$INPUT:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2, d5, d3, d6)>
// CHECK-LABEL: @patches
// CHECK: %[[VIEW:.*]] = tensor.expand_shape %{{.*}} {{\[\[}}0], [1], [2, 3], [4, 5]] output_shape [%{{.*}}, 3, 14, 16, 14, 16]
// CHECK: linalg.generic {indexing_maps = [#[[$INPUT]],
// CHECK-SAME: ins(%[[VIEW]], %{{.*}} : tensor<?x3x14x16x14x16xf32>, tensor<32x3x16x16xf32>)
// LINEAR-LABEL: @patches
// LINEAR: fovea.linear %{{.*}}, %{{.*}} bias(%{{.*}} : tensor<32xf32>) : tensor<?x14x14x768xf32>, tensor<32x768xf32> -> tensor<?x14x14x32xf32>
// LINEAR-NOT: arith.addf
fovea.weight @w : tensor<32x3x16x16xf32> = #fovea.stored<"f", "w", tensor<32x3x16x16xf32>>
fovea.weight @b : tensor<32xf32> = #fovea.stored<"f", "b", tensor<32xf32>>
func.func @patches(%x: tensor<?x3x224x224xf32>) -> tensor<?x32x14x14xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %batch = tensor.dim %x, %c0 : tensor<?x3x224x224xf32>
  %w = fovea.weight_ref @w : tensor<32x3x16x16xf32>
  %b = fovea.weight_ref @b : tensor<32xf32>
  %empty = tensor.empty(%batch) : tensor<?x32x14x14xf32>
  %none = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x32x14x14xf32>) -> tensor<?x32x14x14xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(b, f, i, j, c, p, q) -> (b, c, i * 16 + p, j * 16 + q)>,
                                        affine_map<(b, f, i, j, c, p, q) -> (f, c, p, q)>,
                                        affine_map<(b, f, i, j, c, p, q) -> (b, f, i, j)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<?x3x224x224xf32>, tensor<32x3x16x16xf32>) outs(%none : tensor<?x32x14x14xf32>) {
  ^bb0(%l: f32, %r: f32, %s: f32):
    %0 = arith.mulf %l, %r : f32
    %1 = arith.addf %s, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<?x32x14x14xf32>
  %spread = tensor.expand_shape %b [[0, 1, 2, 3]] output_shape [1, 32, 1, 1] : tensor<32xf32> into tensor<1x32x1x1xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(b, f, i, j) -> (b, f, i, j)>, affine_map<(b, f, i, j) -> (0, f, 0, 0)>,
                                        affine_map<(b, f, i, j) -> (b, f, i, j)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%y, %spread : tensor<?x32x14x14xf32>, tensor<1x32x1x1xf32>) outs(%empty : tensor<?x32x14x14xf32>) {
  ^bb0(%l: f32, %r: f32, %out: f32):
    %0 = arith.addf %l, %r : f32
    linalg.yield %0 : f32
  } -> tensor<?x32x14x14xf32>
  return %z : tensor<?x32x14x14xf32>
}
