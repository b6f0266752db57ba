// RUN: fovea-interpret %s | FileCheck %s

// CHECK-LABEL: @math
// CHECK-NEXT: 8 [2, 0.5, 8, 3, 2, 0.842701, 2, 0]
func.func @math() -> tensor<8xf32> {
  %four = arith.constant 4.0 : f32
  %three = arith.constant 3.0 : f32
  %two = arith.constant 2.0 : f32
  %one = arith.constant 1.0 : f32
  %half = arith.constant 2.5 : f32
  %0 = math.sqrt %four : f32
  %1 = math.rsqrt %four : f32
  %2 = math.powf %two, %three : f32
  %3 = math.ceil %half : f32
  %4 = math.roundeven %half : f32
  %5 = math.erf %one : f32
  %6 = math.log2 %four : f32
  %7 = math.log %one : f32
  %t = tensor.from_elements %0, %1, %2, %3, %4, %5, %6, %7 : tensor<8xf32>
  return %t : tensor<8xf32>
}
