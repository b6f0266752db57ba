// RUN: fovea-interpret %s | FileCheck %s

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
