// RUN: fovea-opt %s --fovea-raise-rope | FileCheck %s

// Rotated halves as transformers writes them: frequencies of a buffer times positions by a product of one summand, side by side
// twice; heads before the sequence.

// CHECK-LABEL: func.func @half
// CHECK-SAME: (%[[Q:.*]]: tensor<?x2x?x8xf32>)
// CHECK: %[[X:.*]] = linalg.transpose ins(%[[Q]] : tensor<?x2x?x8xf32>) {{.*}} permutation = [0, 2, 1, 3]
// CHECK: %[[P:.*]] = fovea.positions from %{{.*}} count %{{.*}} : tensor<1x?xi32>
// CHECK: %[[R:.*]] = fovea.rope half %[[X]] at(%[[P]] : tensor<1x?xi32>) dim(8) theta(1.000000e+04) : tensor<?x?x2x8xf32>
// CHECK: %[[Y:.*]] = linalg.transpose ins(%[[R]] : tensor<?x?x2x8xf32>) {{.*}} permutation = [0, 2, 1, 3]
// CHECK: return %[[Y]]
#q = affine_map<(b, h, s, d) -> (b, h, s, d)>
#sd = affine_map<(b, h, s, d) -> (s, d)>
func.func @half(%q: tensor<?x2x?x8xf32>) -> tensor<?x2x?x8xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %b = tensor.dim %q, %c0 : tensor<?x2x?x8xf32>
  %s = tensor.dim %q, %c2 : tensor<?x2x?x8xf32>
  %f = arith.constant dense<[1.0, 0.1, 0.01, 0.001]> : tensor<4xf32>
  %pe = tensor.empty(%s) : tensor<?xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%pe : tensor<?xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i64
    %x = arith.sitofp %j : i64 to f32
    linalg.yield %x : f32
  } -> tensor<?xf32>
  %f1 = tensor.expand_shape %f [[0, 1]] output_shape [4, 1] : tensor<4xf32> into tensor<4x1xf32>
  %p1 = tensor.expand_shape %p [[0, 1]] output_shape [1, %s] : tensor<?xf32> into tensor<1x?xf32>
  %ae = tensor.empty(%s) : tensor<?x4xf32>
  %af = linalg.fill ins(%zero : f32) outs(%ae : tensor<?x4xf32>) -> tensor<?x4xf32>
  %angle = linalg.contract indexing_maps = [affine_map<(s, i, k) -> (i, k)>, affine_map<(s, i, k) -> (k, s)>, affine_map<(s, i, k) -> (s, i)>]
      ins(%f1, %p1 : tensor<4x1xf32>, tensor<1x?xf32>) outs(%af : tensor<?x4xf32>) -> tensor<?x4xf32>
  %twice = tensor.concat dim(1) %angle, %angle : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x8xf32>
  %cos = math.cos %twice : tensor<?x8xf32>
  %sin = math.sin %twice : tensor<?x8xf32>
  %x1 = tensor.extract_slice %q[0, 0, 0, 0] [%b, 2, %s, 4] [1, 1, 1, 1] : tensor<?x2x?x8xf32> to tensor<?x2x?x4xf32>
  %x2 = tensor.extract_slice %q[0, 0, 0, 4] [%b, 2, %s, 4] [1, 1, 1, 1] : tensor<?x2x?x8xf32> to tensor<?x2x?x4xf32>
  %n = arith.negf %x2 : tensor<?x2x?x4xf32>
  %rot = tensor.concat dim(3) %n, %x1 : (tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>) -> tensor<?x2x?x8xf32>
  %m1 = linalg.generic {indexing_maps = [#q, #sd, #q], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%q, %cos : tensor<?x2x?x8xf32>, tensor<?x8xf32>) outs(%q : tensor<?x2x?x8xf32>) {
  ^bb0(%u: f32, %v: f32, %out: f32):
    %0 = arith.mulf %u, %v : f32
    linalg.yield %0 : f32
  } -> tensor<?x2x?x8xf32>
  %m2 = linalg.generic {indexing_maps = [#q, #sd, #q], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%rot, %sin : tensor<?x2x?x8xf32>, tensor<?x8xf32>) outs(%q : tensor<?x2x?x8xf32>) {
  ^bb0(%u: f32, %v: f32, %out: f32):
    %0 = arith.mulf %u, %v : f32
    linalg.yield %0 : f32
  } -> tensor<?x2x?x8xf32>
  %y = arith.addf %m1, %m2 : tensor<?x2x?x8xf32>
  return %y : tensor<?x2x?x8xf32>
}
