// RUN: fovea-interpret %s | FileCheck %s

// Each row by a scale of its own, halves to even: 127 + 2 - 4 + 0, and twice 127 + 2 + 0 + 2; a row next to zero is zero.
// CHECK-LABEL: @quantized_rows
// CHECK-NEXT: 3x1 [125, 262, 0]
func.func @quantized_rows() -> tensor<3x1xf32> {
  %x = arith.constant dense<[[127.0, 2.5, -3.5, 0.25], [254.0, 5.0, 1.0, 3.0], [1.0e-31, 0.0, 0.0, 0.0]]> : tensor<3x4xf32>
  %w = arith.constant dense<1> : tensor<1x4xi8>
  %s = arith.constant dense<1.0> : tensor<1xf32>
  %0 = fovea.linear %x, %w quantize_rows scales(%s : tensor<1xf32>) : tensor<3x4xf32>, tensor<1x4xi8> -> tensor<3x1xf32>
  return %0 : tensor<3x1xf32>
}
