// RUN: fovea-opt %s --fovea-cast-weights=type=bf16 --split-input-file | FileCheck %s

// Through a call into the argument of a function; what has the type already, and integers, stay.

// CHECK: fovea.weight @w : tensor<6x4xbf16> = #fovea.cast<#fovea.stored<"f", "w", tensor<6x4xf32>>, bf16>
fovea.weight @w : tensor<6x4xf32> = #fovea.stored<"f", "w", tensor<6x4xf32>>
// CHECK: fovea.weight @there : tensor<4xbf16> = #fovea.stored<"f", "there", tensor<4xbf16>>
fovea.weight @there : tensor<4xbf16> = #fovea.stored<"f", "there", tensor<4xbf16>>
// CHECK: fovea.weight @ids : tensor<4xi64> = #fovea.stored<
fovea.weight @ids : tensor<4xi64> = #fovea.stored<"f", "ids", tensor<4xi64>>

// CHECK-LABEL: func.func private @layer
// CHECK-SAME: tensor<2x4xf32>, %{{[^:]*}}: tensor<6x4xbf16>)
// CHECK: fovea.linear {{.*}} : tensor<2x4xf32>, tensor<6x4xbf16> -> tensor<2x6xf32>
func.func private @layer(%x: tensor<2x4xf32>, %w: tensor<6x4xf32>) -> tensor<2x6xf32> {
  %y = fovea.linear %x, %w : tensor<2x4xf32>, tensor<6x4xf32> -> tensor<2x6xf32>
  return %y : tensor<2x6xf32>
}
// CHECK-LABEL: func.func @entry
// CHECK: call @layer({{.*}}) : (tensor<2x4xf32>, tensor<6x4xbf16>)
func.func @entry(%x: tensor<2x4xf32>) -> tensor<2x6xf32> {
  %w = fovea.weight_ref @w : tensor<6x4xf32>
  %y = call @layer(%x, %w) : (tensor<2x4xf32>, tensor<6x4xf32>) -> tensor<2x6xf32>
  return %y : tensor<2x6xf32>
}

// -----

// What takes no other type keeps its own, also in part: a norm's weight in a sum, and what a linear
// multiplies by its weight.

// CHECK: fovea.weight @w : tensor<4xf32> = #fovea.stored<
// CHECK: fovea.weight @places : tensor<3x4xf32> = #fovea.stored<
// CHECK: fovea.weight @m : tensor<6x4xbf16> = #fovea.cast<
fovea.weight @w : tensor<4xf32> = #fovea.stored<"f", "w", tensor<4xf32>>
fovea.weight @places : tensor<3x4xf32> = #fovea.stored<"f", "places", tensor<3x4xf32>>
fovea.weight @m : tensor<6x4xf32> = #fovea.stored<"f", "m", tensor<6x4xf32>>
func.func @keys_of_places() -> tensor<3x6xf32> {
  %places = fovea.weight_ref @places : tensor<3x4xf32>
  %m = fovea.weight_ref @m : tensor<6x4xf32>
  // CHECK: fovea.linear {{.*}} : tensor<3x4xf32>, tensor<6x4xbf16> -> tensor<3x6xf32>
  %y = fovea.linear %places, %m : tensor<3x4xf32>, tensor<6x4xf32> -> tensor<3x6xf32>
  return %y : tensor<3x6xf32>
}
func.func @elementwise(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %w = fovea.weight_ref @w : tensor<4xf32>
  %n = fovea.rms_norm %x weight(%w : tensor<4xf32>) eps(1.0e-5) : tensor<4xf32>
  %y = arith.addf %x, %w : tensor<4xf32>
  return %n, %y : tensor<4xf32>, tensor<4xf32>
}

// -----

// CHECK: fovea.weight @w : tensor<4xf32> = #fovea.stored<
// CHECK-LABEL: func.func @external
func.func private @outside(tensor<4xf32>)
fovea.weight @w : tensor<4xf32> = #fovea.stored<"f", "w", tensor<4xf32>>
func.func @external() {
  %w = fovea.weight_ref @w : tensor<4xf32>
  call @outside(%w) : (tensor<4xf32>) -> ()
  return
}

// -----

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
