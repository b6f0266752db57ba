// RUN: fovea-interpret %s | FileCheck %s

// CHECK-LABEL: @division
// CHECK-NEXT: 4 [-2, -3, -2, -1]
// CHECK-NEXT: 2147483645
// CHECK-NEXT: -2147483648
func.func @division() -> (tensor<4xi32>, i32, i32) {
  %a = arith.constant -5 : i32
  %b = arith.constant 2 : i32
  %0 = arith.divsi %a, %b : i32
  %1 = arith.floordivsi %a, %b : i32
  %2 = arith.ceildivsi %a, %b : i32
  %3 = arith.remsi %a, %b : i32
  %t = tensor.from_elements %0, %1, %2, %3 : tensor<4xi32>
  %4 = arith.divui %a, %b : i32
  %least = arith.constant -2147483648 : i32
  %minus = arith.constant -1 : i32
  %5 = arith.divsi %least, %minus : i32
  return %t, %4, %5 : tensor<4xi32>, i32, i32
}
