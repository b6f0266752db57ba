// RUN: fovea-interpret %s | FileCheck %s

// Key length zero.

// CHECK-LABEL: @no_keys
// CHECK-NEXT: 1x1x1x1 [0]
// CHECK-NEXT: 1x1x1 [-inf]
func.func @no_keys() -> (tensor<1x1x1x1xf64>, tensor<1x1x1xf64>) {
  %q = arith.constant dense<1.0> : tensor<1x1x1x1xf64>
  %k = tensor.empty() : tensor<1x0x1x1xf64>
  %o, %l = fovea.attention %q, %k, %k fill(nan) : tensor<1x1x1x1xf64>, tensor<1x0x1x1xf64>, tensor<1x0x1x1xf64> -> tensor<1x1x1x1xf64> lse tensor<1x1x1xf64>
  return %o, %l : tensor<1x1x1x1xf64>, tensor<1x1x1xf64>
}
