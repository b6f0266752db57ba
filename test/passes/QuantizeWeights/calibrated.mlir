// RUN: fovea-opt %s --fovea-quantize-weights="type=int4 calibrated=a,head wide=b" | FileCheck %s

// Weights that are rounded by a text: their integers and scales are in memory, by their names. A layer function whose
// argument stands for such a one and for one that stays int8 is two.

// CHECK: fovea.weight @a : tensor<6x32xi4> = #fovea.stored<"calibrated", "a", tensor<6x32xi4>>
// CHECK: fovea.weight @a.scales : tensor<6x1xf16> = #fovea.stored<"calibrated", "a.scales", tensor<6x1xf16>>
fovea.weight @a : tensor<6x32xf32> = #fovea.stored<"f", "a", tensor<6x32xf32>>
// CHECK: fovea.weight @b : tensor<6x32xi8> = #fovea.quantize<#fovea.stored<"f", "b", tensor<6x32xf32>>, i8, f32>
// CHECK: fovea.weight @b.scales : tensor<6xf32> = #fovea.quantization_scales<
fovea.weight @b : tensor<6x32xf32> = #fovea.stored<"f", "b", tensor<6x32xf32>>
// Not named: by itself.
// CHECK: fovea.weight @c : tensor<6x32xi4> = #fovea.quantize<#fovea.stored<"f", "c", tensor<6x32xf32>>, i4, f16, group = 32>
fovea.weight @c : tensor<6x32xf32> = #fovea.stored<"f", "c", tensor<6x32xf32>>
// CHECK: fovea.weight @head : tensor<9x32xi4> = #fovea.stored<"calibrated", "head", tensor<9x32xi4>>
fovea.weight @head : tensor<9x32xf32> = #fovea.stored<"f", "h", tensor<9x32xf32>>

// CHECK-LABEL: func.func private @layer(
// CHECK-SAME: tensor<6x32xi4>, %{{.*}}: tensor<6x1xf16>)
// CHECK: fovea.linear {{.*}} scales(%{{.*}} : tensor<6x1xf16>)
// CHECK-LABEL: func.func private @layer_0(
// CHECK-SAME: tensor<6x32xi8>, %{{.*}}: tensor<6xf32>)
// CHECK: fovea.linear {{.*}} scales(%{{.*}} : tensor<6xf32>)
func.func private @layer(%x: tensor<2x32xf32>, %w: tensor<6x32xf32>) -> tensor<2x6xf32> {
  %y = fovea.linear %x, %w : tensor<2x32xf32>, tensor<6x32xf32> -> tensor<2x6xf32>
  return %y : tensor<2x6xf32>
}

// CHECK-LABEL: func.func @entry
// CHECK: call @layer(
// CHECK: call @layer_0(
// CHECK: call @layer(
func.func @entry(%x: tensor<2x32xf32>) -> (tensor<2x6xf32>, tensor<2x6xf32>, tensor<2x6xf32>, tensor<2x9xf32>) attributes {fovea.entry} {
  %a = fovea.weight_ref @a : tensor<6x32xf32>
  %b = fovea.weight_ref @b : tensor<6x32xf32>
  %c = fovea.weight_ref @c : tensor<6x32xf32>
  %h = fovea.weight_ref @head : tensor<9x32xf32>
  %0 = call @layer(%x, %a) : (tensor<2x32xf32>, tensor<6x32xf32>) -> tensor<2x6xf32>
  %1 = call @layer(%x, %b) : (tensor<2x32xf32>, tensor<6x32xf32>) -> tensor<2x6xf32>
  %2 = call @layer(%x, %c) : (tensor<2x32xf32>, tensor<6x32xf32>) -> tensor<2x6xf32>
  %3 = fovea.linear %x, %h : tensor<2x32xf32>, tensor<9x32xf32> -> tensor<2x9xf32>
  return %0, %1, %2, %3 : tensor<2x6xf32>, tensor<2x6xf32>, tensor<2x6xf32>, tensor<2x9xf32>
}
