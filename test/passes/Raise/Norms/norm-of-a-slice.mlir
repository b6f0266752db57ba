// RUN: fovea-opt %s --fovea-raise-norms | FileCheck %s

// Of the first part of wider rows, and of fewer of them: DeepSeek's latents beside the rotary part of keys.

// CHECK-LABEL: func.func @norm_of_slice
// CHECK-SAME: (%[[X:.*]]: tensor<?x12xf32>, %[[N:.*]]: index)
// CHECK: %[[S:.*]] = tensor.extract_slice %[[X]][0, 0] [%[[N]], 8] [1, 1] : tensor<?x12xf32> to tensor<?x8xf32>
// CHECK: %[[Y:.*]] = fovea.rms_norm %[[S]] eps(
// CHECK-NEXT: return %[[Y]]
#xy = affine_map<(i, j) -> (i, j)>
#x = affine_map<(i, j) -> (i)>
func.func @norm_of_slice(%x: tensor<?x12xf32>, %n: index) -> tensor<?x8xf32> {
  %h = tensor.extract_slice %x[0, 0] [%n, 8] [1, 1] : tensor<?x12xf32> to tensor<?x8xf32>
  %full = tensor.empty(%n) : tensor<?x8xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?xf32>
  %zero = linalg.fill ins(%z : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %p = linalg.generic {indexing_maps = [#xy, #x], iterator_types = ["parallel", "reduction"]} ins(%h : tensor<?x8xf32>) outs(%zero : tensor<?xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = arith.mulf %a, %a : f32
    %1 = arith.addf %out, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<?xf32>
  %y = linalg.generic {indexing_maps = [#xy, #x, #xy], iterator_types = ["parallel", "parallel"]} ins(%h, %p : tensor<?x8xf32>, tensor<?xf32>) outs(%full : tensor<?x8xf32>) {
  ^bb0(%a: f32, %u: f32, %out: f32):
    %eighth = arith.constant 0.125 : f32
    %eps = arith.constant 1.0e-5 : f32
    %0 = arith.mulf %u, %eighth : f32
    %1 = arith.addf %0, %eps : f32
    %2 = math.rsqrt %1 : f32
    %3 = arith.mulf %a, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}
