// RUN: fovea-opt %s --fovea-raise-rope | FileCheck %s

// Half of each head turns, by tables of cosines and sines, from a position on.

// CHECK-LABEL: func.func @tables
// CHECK-SAME: (%[[Q:.*]]: tensor<1x2x3x4xf32>, %[[PAST:.*]]: index)
// CHECK: %[[P:.*]] = fovea.positions from %[[PAST]] : tensor<1x2xi32>
// CHECK: %[[R:.*]] = fovea.rope half %[[Q]] at(%[[P]] : tensor<1x2xi32>) dim(2) theta(1.000000e+04) : tensor<1x2x3x4xf32>
// CHECK: return %[[R]]
#q = affine_map<(b, s, h, d) -> (b, s, h, d)>
#s = affine_map<(b, s, h, d) -> (s, 0)>
func.func @tables(%q: tensor<1x2x3x4xf32>, %past: index) -> tensor<1x2x3x4xf32> {
  %cos = arith.constant dense<[[1.0], [0.540302277], [-0.416146845], [-0.9899925], [-0.653643608], [0.283662200], [0.960170269], [0.753902256], [-0.1455], [-0.91113]]> : tensor<10x1xf32>
  %sin = arith.constant dense<[[0.0], [0.841470956], [0.909297406], [0.14112], [-0.756802499], [-0.95892428], [-0.279415488], [0.656986594], [0.989358246], [0.412118494]]> : tensor<10x1xf32>
  %c = tensor.extract_slice %cos[%past, 0] [2, 1] [1, 1] : tensor<10x1xf32> to tensor<2x1xf32>
  %d = tensor.extract_slice %sin[%past, 0] [2, 1] [1, 1] : tensor<10x1xf32> to tensor<2x1xf32>
  %x1 = tensor.extract_slice %q[0, 0, 0, 0] [1, 2, 3, 1] [1, 1, 1, 1] : tensor<1x2x3x4xf32> to tensor<1x2x3x1xf32>
  %x2 = tensor.extract_slice %q[0, 0, 0, 1] [1, 2, 3, 1] [1, 1, 1, 1] : tensor<1x2x3x4xf32> to tensor<1x2x3x1xf32>
  %x3 = tensor.extract_slice %q[0, 0, 0, 2] [1, 2, 3, 2] [1, 1, 1, 1] : tensor<1x2x3x4xf32> to tensor<1x2x3x2xf32>
  %e = tensor.empty() : tensor<1x2x3x1xf32>
  %y1 = linalg.generic {indexing_maps = [#q, #q, #s, #s, #q], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x1, %x2, %c, %d : tensor<1x2x3x1xf32>, tensor<1x2x3x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>) outs(%e : tensor<1x2x3x1xf32>) {
  ^bb0(%u: f32, %v: f32, %co: f32, %si: f32, %out: f32):
    %0 = arith.mulf %u, %co : f32
    %1 = arith.mulf %v, %si : f32
    %2 = arith.subf %0, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<1x2x3x1xf32>
  %y2 = linalg.generic {indexing_maps = [#q, #q, #s, #s, #q], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x1, %x2, %c, %d : tensor<1x2x3x1xf32>, tensor<1x2x3x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>) outs(%e : tensor<1x2x3x1xf32>) {
  ^bb0(%u: f32, %v: f32, %co: f32, %si: f32, %out: f32):
    %0 = arith.mulf %v, %co : f32
    %1 = arith.mulf %u, %si : f32
    %2 = arith.addf %0, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<1x2x3x1xf32>
  %y = tensor.concat dim(3) %y1, %y2, %x3 : (tensor<1x2x3x1xf32>, tensor<1x2x3x1xf32>, tensor<1x2x3x2xf32>) -> tensor<1x2x3x4xf32>
  return %y : tensor<1x2x3x4xf32>
}
