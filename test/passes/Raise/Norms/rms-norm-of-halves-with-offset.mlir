// RUN: fovea-opt %s --fovea-raise-norms | FileCheck %s

// RMSNorm of f16, widened, with the weight's distance from one as [1, 8]; the sum of squares is multiplied by 1/8.

// CHECK: fovea.weight @[[$V:.*]] : tensor<8xf16> = #fovea.reshape<#fovea.stored<"f", "w", tensor<1x8xf16>>, [8]>
// CHECK-LABEL: func.func @rms_norm
// CHECK-SAME: (%[[X:.*]]: tensor<?x8xf16>)
// CHECK: %[[W:.*]] = fovea.weight_ref @[[$V]] : tensor<8xf16>
// CHECK: %[[Y:.*]] = fovea.rms_norm %[[X]] weight(%[[W]] : tensor<8xf16>) offset(1.000000e+00) eps({{9.99.*E-6|9.99.*e-06|1.0+E-5}}
// CHECK-NEXT: return %[[Y]]
#xy = affine_map<(i, j) -> (i, j)>
#x = affine_map<(i, j) -> (i)>
#y = affine_map<(i, j) -> (0, j)>
fovea.weight @w : tensor<1x8xf16> = #fovea.stored<"f", "w", tensor<1x8xf16>>
func.func @rms_norm(%x: tensor<?x8xf16>) -> tensor<?x8xf16> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %w = fovea.weight_ref @w : tensor<1x8xf16>
  %m = tensor.dim %x, %c0 : tensor<?x8xf16>
  %e = tensor.empty(%m) : tensor<?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %h = arith.extf %x : tensor<?x8xf16> to tensor<?x8xf32>
  %s = linalg.generic {indexing_maps = [#xy, #x], iterator_types = ["parallel", "reduction"]} ins(%h : tensor<?x8xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = arith.mulf %a, %a : f32
    %1 = arith.addf %out, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<?xf32>
  %i = tensor.empty(%m) : tensor<?x8xf16>
  %y = linalg.generic {indexing_maps = [#xy, #x, #y, #xy], iterator_types = ["parallel", "parallel"]} ins(%h, %s, %w : tensor<?x8xf32>, tensor<?xf32>, tensor<1x8xf16>) outs(%i : tensor<?x8xf16>) {
  ^bb0(%a: f32, %u: f32, %p: f16, %out: f16):
    %c = arith.constant 0.125 : f32
    %eps = arith.constant 1.0e-5 : f32
    %one = arith.constant 1.0 : f16
    %0 = arith.mulf %u, %c : f32
    %1 = arith.addf %0, %eps : f32
    %2 = math.rsqrt %1 : f32
    %3 = arith.mulf %a, %2 : f32
    %4 = arith.truncf %3 : f32 to f16
    %5 = arith.addf %p, %one : f16
    %6 = arith.mulf %4, %5 : f16
    linalg.yield %6 : f16
  } -> tensor<?x8xf16>
  return %y : tensor<?x8xf16>
}
