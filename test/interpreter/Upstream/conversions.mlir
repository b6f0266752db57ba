// RUN: fovea-interpret %s | FileCheck %s

// CHECK-LABEL: @conversions
// CHECK-NEXT: 4 [-2, 2147483647, -2147483648, 0]
// CHECK-NEXT: -1
// CHECK-NEXT: 4.29497e+09
// CHECK-NEXT: -5
func.func @conversions() -> (tensor<4xi32>, f32, f32, index) {
  %x = arith.constant dense<[-2.9, 1.0e20, -1.0e20, 0x7FC00000]> : tensor<4xf32>
  %0 = arith.fptosi %x : tensor<4xf32> to tensor<4xi32>
  %m = arith.constant -1 : i32
  %1 = arith.sitofp %m : i32 to f32
  %2 = arith.uitofp %m : i32 to f32
  %f = arith.constant -5 : i32
  %3 = arith.index_cast %f : i32 to index
  return %0, %1, %2, %3 : tensor<4xi32>, f32, f32, index
}
