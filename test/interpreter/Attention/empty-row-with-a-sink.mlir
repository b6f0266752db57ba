// RUN: fovea-interpret %s | FileCheck %s

// A sink takes all of the probability; lse is the sink.

// Scores 0 and ln 3, values 0 and 12.
func.func private @operands() -> (tensor<1x1x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>) {
  %q = arith.constant dense<1.0> : tensor<1x1x1x1xf64>
  %k = arith.constant dense<[[[[0.0]], [[1.09861228866810969]]]]> : tensor<1x2x1x1xf64>
  %v = arith.constant dense<[[[[0.0]], [[12.0]]]]> : tensor<1x2x1x1xf64>
  return %q, %k, %v : tensor<1x1x1x1xf64>, tensor<1x2x1x1xf64>, tensor<1x2x1x1xf64>
}

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
