// RUN: fovea-opt %s --fovea-raise-activations --split-input-file | FileCheck %s

// GELU by the error function, in two associations, and by tanh; x cubed by a power.

// CHECK-LABEL: func.func @gelu
// CHECK-SAME: (%[[X:.*]]: tensor<?x8xf32>)
// CHECK: %[[A:.*]] = fovea.activation gelu %[[X]]
// CHECK: %[[B:.*]] = fovea.activation gelu %[[X]]
// CHECK: %[[C:.*]] = fovea.activation gelu_tanh %[[X]]
// CHECK-NEXT: return %[[A]], %[[B]], %[[C]]
#id = affine_map<(i, j) -> (i, j)>
func.func @gelu(%x: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) {
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x8xf32>) outs(%x : tensor<?x8xf32>) {
  ^bb0(%a: f32, %out: f32):
    %r = arith.constant 1.41421354 : f32
    %h = arith.constant 0.5 : f32
    %one = arith.constant 1.0 : f32
    %1 = arith.divf %a, %r : f32
    %2 = math.erf %1 : f32
    %3 = arith.addf %2, %one : f32
    %4 = arith.mulf %a, %3 : f32
    %5 = arith.mulf %4, %h : f32
    linalg.yield %5 : f32
  } -> tensor<?x8xf32>
  %6 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x8xf32>) outs(%x : tensor<?x8xf32>) {
  ^bb0(%a: f32, %out: f32):
    %r = arith.constant 0.707106769 : f32
    %h = arith.constant 0.5 : f32
    %one = arith.constant 1.0 : f32
    %1 = arith.mulf %a, %r : f32
    %2 = math.erf %1 : f32
    %3 = arith.addf %one, %2 : f32
    %4 = arith.mulf %h, %3 : f32
    %5 = arith.mulf %4, %a : f32
    linalg.yield %5 : f32
  } -> tensor<?x8xf32>
  %7 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x8xf32>) outs(%x : tensor<?x8xf32>) {
  ^bb0(%a: f32, %out: f32):
    %c = arith.constant 0.044715 : f32
    %r = arith.constant 0.7978845608 : f32
    %h = arith.constant 0.5 : f32
    %one = arith.constant 1.0 : f32
    %three = arith.constant 3.0 : f32
    %1 = math.powf %a, %three : f32
    %2 = arith.mulf %c, %1 : f32
    %3 = arith.addf %a, %2 : f32
    %4 = arith.mulf %r, %3 : f32
    %5 = math.tanh %4 : f32
    %8 = arith.addf %5, %one : f32
    %9 = arith.mulf %h, %a : f32
    %10 = arith.mulf %9, %8 : f32
    linalg.yield %10 : f32
  } -> tensor<?x8xf32>
  return %0, %6, %7 : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
}

// -----

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

// -----

// CHECK-LABEL: func.func @gate
// CHECK: %[[G:.*]] = fovea.linear
// CHECK: %[[U:.*]] = fovea.linear
// CHECK: %[[Y:.*]] = fovea.glu silu %[[G]], %[[U]]
// CHECK-NEXT: return %[[Y]]
func.func @gate(%x: tensor<?x8xf32>, %wg: tensor<6x8xf32>, %wu: tensor<6x8xf32>) -> tensor<?x6xf32> {
  %0 = fovea.linear %x, %wg : tensor<?x8xf32>, tensor<6x8xf32> -> tensor<?x6xf32>
  %1 = fovea.linear %x, %wu : tensor<?x8xf32>, tensor<6x8xf32> -> tensor<?x6xf32>
  %2 = fovea.activation sigmoid %0 : tensor<?x6xf32>
  %3 = arith.mulf %0, %2 : tensor<?x6xf32>
  %4 = arith.mulf %1, %3 : tensor<?x6xf32>
  return %4 : tensor<?x6xf32>
}

// -----

// None of them: a wrong constant (ELU's slope, a GELU of half the width), a function of two tensors, a gate whose activation another op reads.

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
