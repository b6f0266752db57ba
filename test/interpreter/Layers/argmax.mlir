// RUN: fovea-interpret %s | FileCheck %s

// The first of equal ones; -1 for a row with a NaN, after infinity too; minus infinity alone; one element.
// CHECK-LABEL: @argmax
// CHECK-NEXT: 1x5 [2, -1, -1, 0, 1]
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
