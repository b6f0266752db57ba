// RUN: fovea-interpret %s | FileCheck %s

// Rounded to bf16: 1 + 2^-9 is 1.
// CHECK-LABEL: @narrow_result
// CHECK-NEXT: 1x1x1x1 [1]
func.func @narrow_result() -> tensor<1x1x1x1xbf16> {
  %q = arith.constant dense<0.0> : tensor<1x1x1x1xbf16>
  %k = arith.constant dense<0.0> : tensor<1x2x1x1xbf16>
  %v = arith.constant dense<[[[[1.0]], [[1.0078125]]]]> : tensor<1x2x1x1xbf16>
  %o = fovea.attention %q, %k, %v : tensor<1x1x1x1xbf16>, tensor<1x2x1x1xbf16>, tensor<1x2x1x1xbf16> -> tensor<1x1x1x1xbf16>
  return %o : tensor<1x1x1x1xbf16>
}
