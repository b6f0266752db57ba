// RUN: fovea-interpret %s | FileCheck %s

// CHECK-LABEL: @maxima
// CHECK-NEXT: 2 [nan, 1]
func.func @maxima() -> tensor<2xf32> {
  %nan = arith.constant 0x7FC00000 : f32
  %x = arith.constant 1.0 : f32
  %0 = arith.maximumf %nan, %x : f32
  %1 = arith.maxnumf %nan, %x : f32
  %t = tensor.from_elements %0, %1 : tensor<2xf32>
  return %t : tensor<2xf32>
}
