// RUN: fovea-interpret %s | FileCheck %s

// CHECK-LABEL: @control
// CHECK-NEXT: 45
// CHECK-NEXT: 7
// CHECK-NEXT: 3 [1, 1, 1]
// CHECK-NEXT: 12
func.func @control() -> (index, i32, tensor<3xf32>, index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %ten = arith.constant 10 : index
  %sum = scf.for %i = %zero to %ten step %one iter_args(%s = %zero) -> index {
    %next = arith.addi %s, %i : index
    scf.yield %next : index
  }
  %c = arith.cmpi sgt, %sum, %ten : index
  %7 = scf.if %c -> i32 {
    %a = arith.constant 7 : i32
    scf.yield %a : i32
  } else {
    %b = arith.constant 8 : i32
    scf.yield %b : i32
  }
  %x = arith.constant dense<-1.0> : tensor<3xf32>
  %y = fovea.group(%a = %x) : (tensor<3xf32>) -> tensor<3xf32> {
    %0 = math.absf %a : tensor<3xf32>
    fovea.yield %0 : tensor<3xf32>
  }
  %m = affine.apply affine_map<(d)[s] -> (d + s * 2)>(%ten)[%one]
  return %sum, %7, %y, %m : index, i32, tensor<3xf32>, index
}
