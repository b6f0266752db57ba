// RUN: fovea-opt %s --fovea-raise-activations | FileCheck %s

// GELU by the error function, in two associations, and by tanh; x cubed by a power.

// CHECK-LABEL: func.func @gelu
// CHECK-SAME: (%[[X:.*]]: tensor<?x8xf32>)
// CHECK: %[[A:.*]] = fovea.activation gelu %[[X]]
// CHECK: %[[B:.*]] = fovea.activation gelu %[[X]]
// CHECK: %[[C:.*]] = fovea.activation gelu_tanh %[[X]]
// CHECK-NEXT: return %[[A]], %[[B]], %[[C]]
#id = affine_map<(i, j) -> (i, j)>
func.func @gelu(%x: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x8xf32>) outs(%x : tensor<?x8xf32>) {
  ^bb0(%a: f32, %out: f32):
    %r = arith.constant 1.41421354 : f32
    %h = arith.constant 0.5 : f32
    %one = arith.constant 1.0 : f32
    %1 = arith.divf %a, %r : f32
    %2 = math.erf %1 : f32
    %3 = arith.addf %2, %one : f32
    %4 = arith.mulf %a, %3 : f32
    %5 = arith.mulf %4, %h : f32
    linalg.yield %5 : f32
  } -> tensor<?x8xf32>
  %6 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x8xf32>) outs(%x : tensor<?x8xf32>) {
  ^bb0(%a: f32, %out: f32):
    %r = arith.constant 0.707106769 : f32
    %h = arith.constant 0.5 : f32
    %one = arith.constant 1.0 : f32
    %1 = arith.mulf %a, %r : f32
    %2 = math.erf %1 : f32
    %3 = arith.addf %one, %2 : f32
    %4 = arith.mulf %h, %3 : f32
    %5 = arith.mulf %4, %a : f32
    linalg.yield %5 : f32
  } -> tensor<?x8xf32>
  %7 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x8xf32>) outs(%x : tensor<?x8xf32>) {
  ^bb0(%a: f32, %out: f32):
    %c = arith.constant 0.044715 : f32
    %r = arith.constant 0.7978845608 : f32
    %h = arith.constant 0.5 : f32
    %one = arith.constant 1.0 : f32
    %three = arith.constant 3.0 : f32
    %1 = math.powf %a, %three : f32
    %2 = arith.mulf %c, %1 : f32
    %3 = arith.addf %a, %2 : f32
    %4 = arith.mulf %r, %3 : f32
    %5 = math.tanh %4 : f32
    %8 = arith.addf %5, %one : f32
    %9 = arith.mulf %h, %a : f32
    %10 = arith.mulf %9, %8 : f32
    linalg.yield %10 : f32
  } -> tensor<?x8xf32>
  return %0, %6, %7 : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
}
