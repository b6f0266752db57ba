// RUN: fovea-opt %s --fovea-raise-activations | FileCheck %s

// None of them: a wrong constant (ELU's slope, a GELU of half the width), a function of two tensors, a gate whose
// activation another op reads.

// CHECK-LABEL: func.func @refused
// CHECK: math.erf
// CHECK-NOT: fovea.activation gelu
// CHECK: fovea.activation sigmoid
// CHECK-NOT: fovea.glu
// CHECK: return
func.func @refused(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %one = arith.constant dense<1.0> : tensor<4x8xf32>
  %half = arith.constant dense<0.5> : tensor<4x8xf32>
  %zero = arith.constant dense<0.0> : tensor<4x8xf32>
  %0 = math.erf %x : tensor<4x8xf32>
  %1 = arith.addf %0, %one : tensor<4x8xf32>
  %2 = arith.mulf %1, %half : tensor<4x8xf32>
  %3 = arith.mulf %2, %x : tensor<4x8xf32>
  %4 = math.expm1 %x : tensor<4x8xf32>
  %5 = arith.cmpf ogt, %x, %zero : tensor<4x8xf32>
  %6 = arith.select %5, %x, %4 : tensor<4x8xi1>, tensor<4x8xf32>
  %7 = arith.maximumf %x, %y : tensor<4x8xf32>
  %8 = fovea.activation sigmoid %x : tensor<4x8xf32>
  %9 = arith.mulf %8, %y : tensor<4x8xf32>
  return %3, %6, %7, %9 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}
