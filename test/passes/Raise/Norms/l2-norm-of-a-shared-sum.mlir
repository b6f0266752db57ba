// RUN: fovea-opt %s --fovea-raise-norms | FileCheck %s

// Of a sum that is read elsewhere too.

// CHECK-LABEL: func.func @l2_norm
// CHECK: %[[S:.*]] = arith.addf
// CHECK: %[[Y:.*]] = fovea.l2_norm %[[S]] eps({{9.99.*E-7|9.99.*e-07|1.0+E-6}}
// CHECK-NEXT: return %[[Y]], %[[S]]
#xy = affine_map<(i, j) -> (i, j)>
#x = affine_map<(i, j) -> (i)>
func.func @l2_norm(%p: tensor<4x8xf32>, %q: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %x = arith.addf %p, %q : tensor<4x8xf32>
  %f = arith.constant dense<0.0> : tensor<4xf32>
  %z = arith.mulf %x, %x : tensor<4x8xf32>
  %s = linalg.reduce { arith.addf } ins(%z : tensor<4x8xf32>) outs(%f : tensor<4xf32>) dimensions = [1]
  %i = tensor.empty() : tensor<4x8xf32>
  %y = linalg.generic {indexing_maps = [#xy, #x, #xy], iterator_types = ["parallel", "parallel"]} ins(%x, %s : tensor<4x8xf32>, tensor<4xf32>) outs(%i : tensor<4x8xf32>) {
  ^bb0(%a: f32, %u: f32, %out: f32):
    %eps = arith.constant 1.0e-6 : f32
    %0 = math.sqrt %u : f32
    %1 = arith.maximumf %0, %eps : f32
    %2 = arith.divf %a, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<4x8xf32>
  return %y, %x : tensor<4x8xf32>, tensor<4x8xf32>
}
