// RUN: fovea-opt %s --fovea-cast-weights=type=bf16 | FileCheck %s

// Weights that become one argument have one type: @sum reads @b, so @a stays, and only @c is cast.

// CHECK: fovea.weight @a : tensor<4xf32> = #fovea.stored<
// CHECK: fovea.weight @b : tensor<4xf32> = #fovea.stored<
// CHECK: fovea.weight @c : tensor<4xbf16> = #fovea.cast<
fovea.weight @a : tensor<4xf32> = #fovea.stored<"f", "a", tensor<4xf32>>
fovea.weight @b : tensor<4xf32> = #fovea.stored<"f", "b", tensor<4xf32>>
fovea.weight @c : tensor<4xf32> = #fovea.stored<"f", "c", tensor<4xf32>>
// CHECK-LABEL: func.func private @norm
// CHECK-SAME: %{{[^:]*}}: tensor<4xf32>, %{{[^:]*}}: tensor<4xf32>, %{{[^:]*}}: tensor<4xbf16>)
func.func private @norm(%x: tensor<4xf32>, %w: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %n = fovea.layer_norm %x weight(%w : tensor<4xf32>) bias(%b : tensor<4xf32>) eps(1.0e-5) : tensor<4xf32>
  return %n : tensor<4xf32>
}

func.func private @sum(%x: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %y = arith.addf %x, %b : tensor<4xf32>
  return %y : tensor<4xf32>
}

func.func @entry(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %a = fovea.weight_ref @a : tensor<4xf32>
  %b = fovea.weight_ref @b : tensor<4xf32>
  %c = fovea.weight_ref @c : tensor<4xf32>
  %0 = call @norm(%x, %a, %c) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = call @norm(%x, %b, %c) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = call @sum(%x, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
