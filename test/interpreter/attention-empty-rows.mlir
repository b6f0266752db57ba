// RUN: fovea-interpret %s | FileCheck %s

// What a row gives in which no key is allowed, and key length zero.

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

// A sink takes all of the probability; lse is the sink.
// CHECK-LABEL: @sink_takes_all
// CHECK-NEXT: 1x1x1x1 [0]
// CHECK-NEXT: 1x1x1 [3]
// CHECK-NEXT: 1x1x1x2 [0, 0]
func.func @sink_takes_all() -> (tensor<1x1x1x1xf64>, tensor<1x1x1xf64>, tensor<1x1x1x2xf64>) {
  %q, %k, %v = call @operands() : () -> (tensor<1x1x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>)
  %m = fovea.mask_or()
  %s = arith.constant dense<3.0> : tensor<1xf64>
  %o, %l, %w = fovea.attention %q, %k, %v mask(%m) sinks(%s : tensor<1xf64>) fill(nan) : tensor<1x1x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64> -> tensor<1x1x1x1xf64> lse tensor<1x1x1xf64> weights tensor<1x1x1x2xf64>
  return %o, %l, %w : tensor<1x1x1x1xf64>, tensor<1x1x1xf64>, tensor<1x1x1x2xf64>
}

// CHECK-LABEL: @no_keys
// CHECK-NEXT: 1x1x1x1 [0]
// CHECK-NEXT: 1x1x1 [-inf]
func.func @no_keys() -> (tensor<1x1x1x1xf64>, tensor<1x1x1xf64>) {
  %q = arith.constant dense<1.0> : tensor<1x1x1x1xf64>
  %k = tensor.empty() : tensor<1x0x1x1xf64>
  %o, %l = fovea.attention %q, %k, %k fill(nan) : tensor<1x1x1x1xf64>, tensor<1x0x1x1xf64>, tensor<1x0x1x1xf64> -> tensor<1x1x1x1xf64> lse tensor<1x1x1xf64>
  return %o, %l : tensor<1x1x1x1xf64>, tensor<1x1x1xf64>
}

// One row of the two is empty; the other is not touched by the fill.
// CHECK-LABEL: @rows_are_told_apart
// CHECK-NEXT: 2x1x1x1 [9, nan]
func.func @rows_are_told_apart() -> tensor<2x1x1x1xf64> {
  %q = arith.constant dense<1.0> : tensor<2x1x1x1xf64>
  %k = arith.constant dense<[[[[0.0]], [[1.09861228866810969]]], [[[0.0]], [[1.0]]]]> : tensor<2x2x1x1xf64>
  %v = arith.constant dense<[[[[0.0]], [[12.0]]], [[[0.0]], [[12.0]]]]> : tensor<2x2x1x1xf64>
  %n = arith.constant dense<[2, 0]> : tensor<2xi32>
  %m = fovea.mask_length %n : tensor<2xi32>
  %o = fovea.attention %q, %k, %v mask(%m) fill(nan) : tensor<2x1x1x1xf64>, tensor<2x2x1x1xf64>, tensor<2x2x1x1xf64> -> tensor<2x1x1x1xf64>
  return %o : tensor<2x1x1x1xf64>
}

// Scores 0 and ln 3, values 0 and 12.
func.func private @operands() -> (tensor<1x1x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>) {
  %q = arith.constant dense<1.0> : tensor<1x1x1x1xf64>
  %k = arith.constant dense<[[[[0.0]], [[1.09861228866810969]]]]> : tensor<1x2x1x1xf64>
  %v = arith.constant dense<[[[[0.0]], [[12.0]]]]> : tensor<1x2x1x1xf64>
  return %q, %k, %v : tensor<1x1x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>
}
