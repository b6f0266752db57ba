// RUN: fovea-interpret %s | FileCheck %s

// CHECK-LABEL: @linear
// CHECK-NEXT: 2x3 [11, 101, 1, 33, 303, 1]
func.func @linear() -> tensor<2x3xf32> {
  %x = arith.constant dense<[[1.0, 10.0], [3.0, 30.0]]> : tensor<2x2xf32>
  %w = arith.constant dense<[[1.0, 1.0], [1.0, 10.0], [0.0, 0.0]]> : tensor<3x2xbf16>
  %b = arith.constant dense<[0.0, 0.0, 1.0]> : tensor<3xf32>
  %y = fovea.linear %x, %w bias(%b : tensor<3xf32>) : tensor<2x2xf32>, tensor<3x2xbf16> -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// Five products: one past the four that are summed side by side.
// CHECK-LABEL: @linear_of_five
// CHECK-NEXT: 1x1 [12345]
func.func @linear_of_five() -> tensor<1x1xf32> {
  %x = arith.constant dense<[[1.0, 2.0, 3.0, 4.0, 5.0]]> : tensor<1x5xf32>
  %w = arith.constant dense<[[10000.0, 1000.0, 100.0, 10.0, 1.0]]> : tensor<1x5xf32>
  %y = fovea.linear %x, %w : tensor<1x5xf32>, tensor<1x5xf32> -> tensor<1x1xf32>
  return %y : tensor<1x1xf32>
}

// Numbers times the scale of their output, or of their pair.
// CHECK-LABEL: @linear_of_numbers
// CHECK-NEXT: 1x2 [2200, -0.5]
// CHECK-NEXT: 1x2 [2106, 795.5]
func.func @linear_of_numbers() -> (tensor<1x2xf32>, tensor<1x2xf32>) {
  %x = arith.constant dense<[[1.0, 10.0, 100.0, 1000.0]]> : tensor<1x4xf32>
  %w = arith.constant dense<[[100, -10, 1, 1], [-1, 0, 0, 0]]> : tensor<2x4xi8>
  %v = arith.constant dense<[[7, -1, 1, 1], [-8, 0, 0, 1]]> : tensor<2x4xi4>
  %s = arith.constant dense<[2.0, 0.5]> : tensor<2xf32>
  %g = arith.constant dense<[[2.0, 2.0], [0.5, 0.75]]> : tensor<2x2xf16>
  %b = arith.constant dense<[-88.0, 49.5]> : tensor<2xf32>
  %0 = fovea.linear %x, %w scales(%s : tensor<2xf32>) : tensor<1x4xf32>, tensor<2x4xi8> -> tensor<1x2xf32>
  %1 = fovea.linear %x, %v scales(%g : tensor<2x2xf16>) bias(%b : tensor<2xf32>) : tensor<1x4xf32>, tensor<2x4xi4> -> tensor<1x2xf32>
  return %0, %1 : tensor<1x2xf32>, tensor<1x2xf32>
}

// CHECK-LABEL: @embedding
// CHECK-NEXT: 1x3x2 [5, 6, 1, 2, 5, 6]
func.func @embedding() -> tensor<1x3x2xf32> {
  %ids = arith.constant dense<[[2, 0, 2]]> : tensor<1x3xi64>
  %t = arith.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf16>
  %x = fovea.embedding %ids, %t : tensor<1x3xi64>, tensor<3x2xf16> -> tensor<1x3x2xf32>
  return %x : tensor<1x3x2xf32>
}

// Mean 4, variance 9 (not 12), eps 7 makes 16: (-3, 0, 3) / 4 with other numbers.
// CHECK-LABEL: @layer_norm
// CHECK-NEXT: 2x2 [-7.5, 9.5, 7.5, 10.5]
// CHECK-NEXT: 1x2 [-0.75, 0.75]
func.func @layer_norm() -> (tensor<2x2xf32>, tensor<1x2xf32>) {
  %x = arith.constant dense<[[1.0, 7.0], [7.0, 1.0]]> : tensor<2x2xf32>
  %x1 = arith.constant dense<[[1.0, 7.0]]> : tensor<1x2xf32>
  %w = arith.constant dense<[10.0, -0.66666666666666666]> : tensor<2xf64>
  %b = arith.constant dense<[0.0, 10.0]> : tensor<2xf64>
  %y = fovea.layer_norm %x weight(%w : tensor<2xf64>) bias(%b : tensor<2xf64>) eps(7.0) : tensor<2x2xf32>
  %y1 = fovea.layer_norm %x1 eps(7.0) : tensor<1x2xf32>
  return %y, %y1 : tensor<2x2xf32>, tensor<1x2xf32>
}

// Mean of squares 25 / 2, eps 12.5: divided by 5.
// CHECK-LABEL: @rms_norm
// CHECK-NEXT: 1x2 [1.2, 2.4]
// CHECK-NEXT: 1x2 [0.6, 0.8]
func.func @rms_norm() -> (tensor<1x2xf32>, tensor<1x2xf32>) {
  %x = arith.constant dense<[[3.0, 4.0]]> : tensor<1x2xf32>
  %w = arith.constant dense<[1.0, 2.0]> : tensor<2xbf16>
  %y = fovea.rms_norm %x weight(%w : tensor<2xbf16>) offset(1.0) eps(12.5) : tensor<1x2xf32>
  %y1 = fovea.rms_norm %x eps(12.5) : tensor<1x2xf32>
  return %y, %y1 : tensor<1x2xf32>, tensor<1x2xf32>
}

// CHECK-LABEL: @l2_norm
// CHECK-NEXT: 2x2 [0.6, 0.8, 0, 0]
// CHECK-NEXT: 1x2 [0.3, 0.4]
func.func @l2_norm() -> (tensor<2x2xf32>, tensor<1x2xf32>) {
  %x = arith.constant dense<[[3.0, 4.0], [0.0, 0.0]]> : tensor<2x2xf32>
  %y = fovea.l2_norm %x eps(1.0e-12) : tensor<2x2xf32>
  %x1 = arith.constant dense<[[3.0, 4.0]]> : tensor<1x2xf32>
  %y1 = fovea.l2_norm %x1 eps(10.0) : tensor<1x2xf32>
  return %y, %y1 : tensor<2x2xf32>, tensor<1x2xf32>
}

// At -1 and 2, by a calculator.
// CHECK-LABEL: @activations
// CHECK-NEXT: 2 [-0.158655, 1.9545]
// CHECK-NEXT: 2 [-0.158808, 1.9546]
// CHECK-NEXT: 2 [-0.154204, 1.93566]
// CHECK-NEXT: 2 [0, 2]
// CHECK-NEXT: 2 [-0.268941, 1.76159]
// CHECK-NEXT: 2 [-0.761594, 0.964028]
// CHECK-NEXT: 2 [0.268941, 0.880797]
// CHECK-NEXT: 2 [0, 4]
func.func @activations() -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %x = arith.constant dense<[-1.0, 2.0]> : tensor<2xf32>
  %0 = fovea.activation gelu %x : tensor<2xf32>
  %1 = fovea.activation gelu_tanh %x : tensor<2xf32>
  %2 = fovea.activation gelu_quick %x : tensor<2xf32>
  %3 = fovea.activation relu %x : tensor<2xf32>
  %4 = fovea.activation silu %x : tensor<2xf32>
  %5 = fovea.activation tanh %x : tensor<2xf32>
  %6 = fovea.activation sigmoid %x : tensor<2xf32>
  %7 = fovea.activation relu_squared %x : tensor<2xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// The activation is the gate's.
// CHECK-LABEL: @glu
// CHECK-NEXT: 2 [0, -6]
func.func @glu() -> tensor<2xf32> {
  %g = arith.constant dense<[-1.0, 2.0]> : tensor<2xf32>
  %u = arith.constant dense<[5.0, -3.0]> : tensor<2xf32>
  %y = fovea.glu relu %g, %u : tensor<2xf32>
  return %y : tensor<2xf32>
}

// CHECK-LABEL: @dropout
// CHECK-NEXT: 2 [-1, 2]
func.func @dropout() -> tensor<2xf32> {
  %x = arith.constant dense<[-1.0, 2.0]> : tensor<2xf32>
  %y = fovea.dropout %x rate(0.5) : tensor<2xf32>
  return %y : tensor<2xf32>
}

// The first of equal ones; the first NaN, behind infinity too; minus infinity alone; one element.
// CHECK-LABEL: @argmax
// CHECK-NEXT: 1x5 [2, 3, 1, 0, 1]
// CHECK-NEXT: 2 [0, 0]
// CHECK-NEXT: {{^ *}}[1]
func.func @argmax() -> (tensor<1x5xi64>, tensor<2xi64>, tensor<i64>) {
  %x = arith.constant dense<[[[-1.0, 2.0, 3.0, 3.0], [0x7F800000, 5.0, -1.0, 0x7FC00000], [-1.0, 0xFFC00000, 3.0, 0x7FC00000], [0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000], [-9.0, -2.0, -4.0, -3.0]]]> : tensor<1x5x4xf32>
  %one = arith.constant dense<[[-1.0], [0xFF800000]]> : tensor<2x1xf32>
  %row = arith.constant dense<[1.0, 2.0, 2.0]> : tensor<3xbf16>
  %y = fovea.argmax %x : tensor<1x5x4xf32> -> tensor<1x5xi64>
  %y1 = fovea.argmax %one : tensor<2x1xf32> -> tensor<2xi64>
  %y2 = fovea.argmax %row : tensor<3xbf16> -> tensor<i64>
  return %y, %y1, %y2 : tensor<1x5xi64>, tensor<2xi64>, tensor<i64>
}

// Rows: places 1 and 2 kept; nothing kept.
// CHECK-LABEL: @pool
// CHECK-NEXT: 2x2 [-4, 5, 0, 0]
// CHECK-NEXT: 2x2 [-3, 6, -inf, -inf]
// CHECK-NEXT: 2x2 [-3, 4, 0, 0]
// CHECK-NEXT: 2x2 [-5, 6, 0, 0]
// CHECK-NEXT: 2x2 [-3, 4, 4, 4]
func.func @pool() -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) {
  %x = arith.constant dense<[[[-1.0, 2.0], [-3.0, 4.0], [-5.0, 6.0]], [[1.0, 1.0], [2.0, 2.0], [9.0, 9.0]]]> : tensor<2x3x2xf32>
  %k = arith.constant dense<[[0, 1, 2], [0, 0, 0]]> : tensor<2x3xi64>
  %0 = fovea.pool mean %x keep(%k : tensor<2x3xi64>) : tensor<2x3x2xf32> -> tensor<2x2xf32>
  %1 = fovea.pool max %x keep(%k : tensor<2x3xi64>) : tensor<2x3x2xf32> -> tensor<2x2xf32>
  %2 = fovea.pool first %x keep(%k : tensor<2x3xi64>) : tensor<2x3x2xf32> -> tensor<2x2xf32>
  %3 = fovea.pool last %x keep(%k : tensor<2x3xi64>) : tensor<2x3x2xf32> -> tensor<2x2xf32>
  %4 = fovea.pool mean %x : tensor<2x3x2xf32> -> tensor<2x2xf32>
  return %0, %1, %2, %3, %4 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>
}
