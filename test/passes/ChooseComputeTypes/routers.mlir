// RUN: fovea-opt %s --fovea-choose-compute-types | FileCheck %s

// Where experts are chosen by the result, inputs stay as they are: another choice is no rounding.

// CHECK-LABEL: func.func @router
// CHECK: %[[ROUNDED:.*]] = arith.truncf %arg0
// CHECK: fovea.linear %arg0, %arg1 : tensor<?x64xf32>, tensor<8x64xbf16>
// CHECK: fovea.linear %arg0, %arg1 : tensor<?x64xf32>, tensor<8x64xbf16>
// CHECK: fovea.linear %arg0, %arg1 : tensor<?x64xf32>, tensor<8x64xbf16>
// CHECK: fovea.linear %[[ROUNDED]], %arg1 : tensor<?x64xbf16>, tensor<8x64xbf16>
func.func @router(%arg0: tensor<?x64xf32>, %arg1: tensor<8x64xbf16>, %arg2: tensor<?x8xf32>) -> (tensor<?x2xi64>, tensor<?x2xi64>, tensor<?x2xi64>, tensor<?x8xf32>) {
  %0 = fovea.linear %arg0, %arg1 : tensor<?x64xf32>, tensor<8x64xbf16> -> tensor<?x8xf32>
  %1, %2 = fovea.top_k %0 : tensor<?x8xf32> -> tensor<?x2xf32>, tensor<?x2xi64>
  %3 = fovea.linear %arg0, %arg1 : tensor<?x64xf32>, tensor<8x64xbf16> -> tensor<?x8xf32>
  %4 = linalg.softmax dimension(1) ins(%3 : tensor<?x8xf32>) outs(%arg2 : tensor<?x8xf32>) -> tensor<?x8xf32>
  %5, %6 = fovea.top_k %4 : tensor<?x8xf32> -> tensor<?x2xf32>, tensor<?x2xi64>
  %7 = fovea.linear %arg0, %arg1 : tensor<?x64xf32>, tensor<8x64xbf16> -> tensor<?x8xf32>
  %8 = fovea.activation sigmoid %7 : tensor<?x8xf32>
  %9, %10 = fovea.top_k %8 : tensor<?x8xf32> -> tensor<?x2xf32>, tensor<?x2xi64>
  %11 = fovea.linear %arg0, %arg1 : tensor<?x64xf32>, tensor<8x64xbf16> -> tensor<?x8xf32>
  return %2, %6, %10, %11 : tensor<?x2xi64>, tensor<?x2xi64>, tensor<?x2xi64>, tensor<?x8xf32>
}
