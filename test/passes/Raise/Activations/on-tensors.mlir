// RUN: fovea-opt %s --fovea-raise-activations | FileCheck %s

// On tensors: SiLU of a sum, squared ReLU, the quick GELU, widened f16 with constants of f16.

// CHECK-LABEL: func.func @others
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>, %[[Y:.*]]: tensor<4x8xf32>, %[[H:.*]]: tensor<4x8xf16>)
// CHECK: %[[S:.*]] = arith.addf %[[X]], %[[Y]]
// CHECK: %[[A:.*]] = fovea.activation silu %[[S]]
// CHECK: %[[B:.*]] = fovea.activation relu_squared %[[X]]
// CHECK: %[[C:.*]] = fovea.activation gelu_quick %[[X]]
// CHECK: %[[D:.*]] = fovea.activation gelu %[[H]] : tensor<4x8xf16>
// CHECK-NEXT: return %[[A]], %[[B]], %[[C]], %[[D]]
func.func @others(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %h: tensor<4x8xf16>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf16>) {
  %one = arith.constant dense<1.0> : tensor<4x8xf32>
  %zero = arith.constant dense<0.0> : tensor<4x8xf32>
  %q = arith.constant dense<-1.702> : tensor<4x8xf32>
  %0 = arith.addf %x, %y : tensor<4x8xf32>
  %1 = arith.negf %0 : tensor<4x8xf32>
  %2 = math.exp %1 : tensor<4x8xf32>
  %3 = arith.addf %2, %one : tensor<4x8xf32>
  %4 = arith.divf %0, %3 : tensor<4x8xf32>
  %5 = arith.cmpf ogt, %x, %zero : tensor<4x8xf32>
  %6 = arith.select %5, %x, %zero : tensor<4x8xi1>, tensor<4x8xf32>
  %7 = arith.mulf %6, %6 : tensor<4x8xf32>
  %8 = arith.mulf %x, %q : tensor<4x8xf32>
  %9 = math.exp %8 : tensor<4x8xf32>
  %10 = arith.addf %one, %9 : tensor<4x8xf32>
  %11 = arith.divf %x, %10 : tensor<4x8xf32>
  %r = arith.constant dense<0.70703125> : tensor<4x8xf32>
  %half = arith.constant dense<0.5> : tensor<4x8xf32>
  %12 = arith.extf %h : tensor<4x8xf16> to tensor<4x8xf32>
  %13 = arith.mulf %12, %r : tensor<4x8xf32>
  %14 = math.erf %13 : tensor<4x8xf32>
  %15 = arith.addf %14, %one : tensor<4x8xf32>
  %16 = arith.mulf %15, %half : tensor<4x8xf32>
  %17 = arith.mulf %16, %12 : tensor<4x8xf32>
  %18 = arith.truncf %17 : tensor<4x8xf32> to tensor<4x8xf16>
  return %4, %7, %11, %18 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf16>
}
