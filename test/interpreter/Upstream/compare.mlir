// RUN: fovea-interpret %s | FileCheck %s

// CHECK-LABEL: @compare
// CHECK-NEXT: 5 [1, 0, 0, 1, 1]
func.func @compare() -> tensor<5xi1> {
  %a = arith.constant -1 : i32
  %b = arith.constant 1 : i32
  %0 = arith.cmpi slt, %a, %b : i32
  %1 = arith.cmpi ult, %a, %b : i32
  %nan = arith.constant 0x7FC00000 : f32
  %x = arith.constant 1.0 : f32
  %2 = arith.cmpf olt, %nan, %x : f32
  %3 = arith.cmpf ult, %nan, %x : f32
  %4 = arith.cmpf uno, %nan, %x : f32
  %t = tensor.from_elements %0, %1, %2, %3, %4 : tensor<5xi1>
  return %t : tensor<5xi1>
}
