// RUN: fovea-opt %s --fovea-raise-norms | FileCheck %s

// A row that another norm gave, and what it is added to: Gemma 2's norms behind and before a layer's halves.

// CHECK-LABEL: func.func @norm_of_norm
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>, %[[H:.*]]: tensor<4x8xf32>)
// CHECK: %[[N:.*]] = fovea.rms_norm %[[H]] eps(
// CHECK: %[[S:.*]] = arith.addf %[[X]], %[[N]]
// CHECK: %[[Y:.*]] = fovea.rms_norm %[[S]] eps(
// CHECK-NEXT: return %[[Y]]
#xy = affine_map<(i, j) -> (i, j)>
#x = affine_map<(i, j) -> (i)>
func.func @norm_of_norm(%x: tensor<4x8xf32>, %h: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %full = tensor.empty() : tensor<4x8xf32>
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %p = linalg.generic {indexing_maps = [#xy, #x], iterator_types = ["parallel", "reduction"]} ins(%h : tensor<4x8xf32>) outs(%zero : tensor<4xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = arith.mulf %a, %a : f32
    %1 = arith.addf %out, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  %n = linalg.generic {indexing_maps = [#xy, #x, #xy], iterator_types = ["parallel", "parallel"]} ins(%h, %p : tensor<4x8xf32>, tensor<4xf32>) outs(%full : tensor<4x8xf32>) {
  ^bb0(%a: f32, %u: f32, %out: f32):
    %eighth = arith.constant 0.125 : f32
    %eps = arith.constant 1.0e-5 : f32
    %0 = arith.mulf %u, %eighth : f32
    %1 = arith.addf %0, %eps : f32
    %2 = math.rsqrt %1 : f32
    %3 = arith.mulf %a, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<4x8xf32>
  %s = arith.addf %x, %n : tensor<4x8xf32>
  %q = linalg.generic {indexing_maps = [#xy, #x], iterator_types = ["parallel", "reduction"]} ins(%s : tensor<4x8xf32>) outs(%zero : tensor<4xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = arith.mulf %a, %a : f32
    %1 = arith.addf %out, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  %y = linalg.generic {indexing_maps = [#xy, #x, #xy], iterator_types = ["parallel", "parallel"]} ins(%s, %q : tensor<4x8xf32>, tensor<4xf32>) outs(%full : tensor<4x8xf32>) {
  ^bb0(%a: f32, %u: f32, %out: f32):
    %eighth = arith.constant 0.125 : f32
    %eps = arith.constant 1.0e-5 : f32
    %0 = arith.mulf %u, %eighth : f32
    %1 = arith.addf %0, %eps : f32
    %2 = math.rsqrt %1 : f32
    %3 = arith.mulf %a, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
