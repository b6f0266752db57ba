// RUN: fovea verify %s --quiet | FileCheck %s
// RUN: not fovea-verify-planted %s --plant=arith.addf@sum | FileCheck %s --check-prefix=PLANTED

// x^16 / x^16 overflows in f32 and not in f64, for large x; so does 1e9 + x - 1e9 lose x, for any. Neither is the compiled code's fault. What is, is still found.

// CHECK-NOT: DEPARTS
// CHECK: outputs agree

// PLANTED: forward batch 2, scaled by 1000 z {{.*}} DEPARTS at [3]
// PLANTED: outputs depart
// PLANTED-NEXT: the first op of 'forward' that departs is arith.addf of sum

func.func @forward(%x: tensor<4xf32> {fovea.name = "x"}) -> (tensor<4xf32> {fovea.name = "y"}, tensor<4xf32> {fovea.name = "l"}, tensor<4xf32> {fovea.name = "z"}) attributes {fovea.entry} {
  %far = arith.constant dense<1.0e9> : tensor<4xf32>
  %2 = arith.mulf %x, %x : tensor<4xf32>
  %4 = arith.mulf %2, %2 : tensor<4xf32>
  %8 = arith.mulf %4, %4 : tensor<4xf32>
  %16 = arith.mulf %8, %8 : tensor<4xf32>
  %y = arith.divf %16, %16 : tensor<4xf32>
  %away = arith.addf %x, %far : tensor<4xf32>
  %lost = arith.subf %away, %far : tensor<4xf32>
  %z = arith.addf %x, %2 : tensor<4xf32> loc("sum")
  return %y, %lost, %z : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
