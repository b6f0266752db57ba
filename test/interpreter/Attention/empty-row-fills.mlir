// RUN: fovea-interpret %s | FileCheck %s

// What a row gives in which no key is allowed, by each fill.

// Scores 0 and ln 3, values 0 and 12.
func.func private @operands() -> (tensor<1x1x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>) {
  %q = arith.constant dense<1.0> : tensor<1x1x1x1xf64>
  %k = arith.constant dense<[[[[0.0]], [[1.09861228866810969]]]]> : tensor<1x2x1x1xf64>
  %v = arith.constant dense<[[[[0.0]], [[12.0]]]]> : tensor<1x2x1x1xf64>
  return %q, %k, %v : tensor<1x1x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>
}

// CHECK-LABEL: @zero
// CHECK-NEXT: 1x1x1x1 [0]
// CHECK-NEXT: 1x1x1 [-inf]
// CHECK-NEXT: 1x1x1x2 [0, 0]
func.func @zero() -> (tensor<1x1x1x1xf64>, tensor<1x1x1xf64>, tensor<1x1x1x2xf64>) {
  %q, %k, %v = call @operands() : () -> (tensor<1x1x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>)
  %m = fovea.mask_or()
  %o, %l, %w = fovea.attention %q, %k, %v mask(%m) : tensor<1x1x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64> -> tensor<1x1x1x1xf64> lse tensor<1x1x1xf64> weights tensor<1x1x1x2xf64>
  return %o, %l, %w : tensor<1x1x1x1xf64>, tensor<1x1x1xf64>, tensor<1x1x1x2xf64>
}

// CHECK-LABEL: @mean
// CHECK-NEXT: 1x1x1x1 [6]
// CHECK-NEXT: 1x1x1 [-inf]
// CHECK-NEXT: 1x1x1x2 [0.5, 0.5]
func.func @mean() -> (tensor<1x1x1x1xf64>, tensor<1x1x1xf64>, tensor<1x1x1x2xf64>) {
  %q, %k, %v = call @operands() : () -> (tensor<1x1x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>)
  %m = fovea.mask_or()
  %o, %l, %w = fovea.attention %q, %k, %v mask(%m) fill(mean) : tensor<1x1x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64> -> tensor<1x1x1x1xf64> lse tensor<1x1x1xf64> weights tensor<1x1x1x2xf64>
  return %o, %l, %w : tensor<1x1x1x1xf64>, tensor<1x1x1xf64>, tensor<1x1x1x2xf64>
}

// CHECK-LABEL: @raw
// CHECK-NEXT: 1x1x1x1 [9]
// CHECK-NEXT: 1x1x1 [-inf]
// CHECK-NEXT: 1x1x1x2 [0.25, 0.75]
func.func @raw() -> (tensor<1x1x1x1xf64>, tensor<1x1x1xf64>, tensor<1x1x1x2xf64>) {
  %q, %k, %v = call @operands() : () -> (tensor<1x1x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>)
  %m = fovea.mask_or()
  %o, %l, %w = fovea.attention %q, %k, %v mask(%m) fill(raw) : tensor<1x1x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64> -> tensor<1x1x1x1xf64> lse tensor<1x1x1xf64> weights tensor<1x1x1x2xf64>
  return %o, %l, %w : tensor<1x1x1x1xf64>, tensor<1x1x1xf64>, tensor<1x1x1x2xf64>
}

// CHECK-LABEL: @nan
// CHECK-NEXT: 1x1x1x1 [nan]
// CHECK-NEXT: 1x1x1 [-inf]
// CHECK-NEXT: 1x1x1x2 [nan, nan]
func.func @nan() -> (tensor<1x1x1x1xf64>, tensor<1x1x1xf64>, tensor<1x1x1x2xf64>) {
  %q, %k, %v = call @operands() : () -> (tensor<1x1x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>)
  %m = fovea.mask_or()
  %o, %l, %w = fovea.attention %q, %k, %v mask(%m) fill(nan) : tensor<1x1x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64> -> tensor<1x1x1x1xf64> lse tensor<1x1x1xf64> weights tensor<1x1x1x2xf64>
  return %o, %l, %w : tensor<1x1x1x1xf64>, tensor<1x1x1xf64>, tensor<1x1x1x2xf64>
}
