// RUN: fovea-opt %s --fovea-cast-weights=type=bf16 | FileCheck %s

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
