// RUN: fovea-opt %s --fovea-raise-linear | FileCheck %s

// A sum in f32 that is read besides, or that begins with something, is not only rounded.

// CHECK-LABEL: func.func @wide_sums
// CHECK-COUNT-2: linalg.matmul
// CHECK-NOT: fovea.linear
fovea.weight @w : tensor<2x3xf16> = #fovea.stored<"f", "w", tensor<2x3xf16>>
func.func @wide_sums(%x: tensor<4x2xf16>, %s: tensor<4x3xf32>) -> (tensor<4x3xf16>, tensor<4x3xf32>, tensor<4x3xf16>) {
  %zero = arith.constant 0.0 : f32
  %w = fovea.weight_ref @w : tensor<2x3xf16>
  %init = tensor.empty() : tensor<4x3xf32>
  %0 = linalg.fill ins(%zero : f32) outs(%init : tensor<4x3xf32>) -> tensor<4x3xf32>
  %1 = linalg.matmul ins(%x, %w : tensor<4x2xf16>, tensor<2x3xf16>) outs(%0 : tensor<4x3xf32>) -> tensor<4x3xf32>
  %2 = arith.truncf %1 : tensor<4x3xf32> to tensor<4x3xf16>
  %3 = linalg.matmul ins(%x, %w : tensor<4x2xf16>, tensor<2x3xf16>) outs(%s : tensor<4x3xf32>) -> tensor<4x3xf32>
  %4 = arith.truncf %3 : tensor<4x3xf32> to tensor<4x3xf16>
  return %2, %1, %4 : tensor<4x3xf16>, tensor<4x3xf32>, tensor<4x3xf16>
}
