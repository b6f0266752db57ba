// RUN: fovea-opt %s --fovea-quantize-weights=type=int8 | FileCheck %s
// RUN: fovea-opt %s --fovea-quantize-weights=type=int4 --remarks-filter=quantize-weights --remark-policy=all --remark-format=emitRemark -verify-diagnostics

// Through calls of a layer function, whose argument gets scales beside it, and to a linear in the entry. A bias and
// activations stay.

// CHECK: fovea.weight @a : tensor<6x4xi8> = #fovea.quantize<#fovea.stored<"f", "a", tensor<6x4xf32>>, i8, f32>
// CHECK: fovea.weight @a.scales : tensor<6xf32> = #fovea.quantization_scales<#fovea.stored<"f", "a", tensor<6x4xf32>>, i8, f32>
// expected-remark @below {{its 4 inputs are no multiple of 32}}
fovea.weight @a : tensor<6x4xf32> = #fovea.stored<"f", "a", tensor<6x4xf32>>
// CHECK: fovea.weight @b : tensor<6x4xi8> = #fovea.quantize<#fovea.stored<"f", "b", tensor<6x4xf32>>, i8, f32>
// CHECK: fovea.weight @b.scales : tensor<6xf32>
// expected-remark @below {{its 4 inputs are no multiple of 32}}
fovea.weight @b : tensor<6x4xf32> = #fovea.stored<"f", "b", tensor<6x4xf32>>
// CHECK: fovea.weight @head : tensor<9x6xi8> = #fovea.quantize<#fovea.stored<"f", "h", tensor<9x6xbf16>>, i8, f32>
// expected-remark @below {{its 6 inputs are no multiple of 32}}
fovea.weight @head : tensor<9x6xbf16> = #fovea.stored<"f", "h", tensor<9x6xbf16>>
// CHECK: fovea.weight @bias : tensor<9xf32> = #fovea.stored<
fovea.weight @bias : tensor<9xf32> = #fovea.stored<"f", "bias", tensor<9xf32>>

// CHECK-LABEL: func.func private @layer
// CHECK-SAME: (%[[X:[^:]*]]: tensor<2x4xf32>, %[[W:[^:]*]]: tensor<6x4xi8>, %[[S:[^:]*]]: tensor<6xf32>) -> tensor<2x6xf32>
// CHECK: fovea.linear %[[X]], %[[W]] scales(%[[S]] : tensor<6xf32>) : tensor<2x4xf32>, tensor<6x4xi8> -> tensor<2x6xf32>
func.func private @layer(%x: tensor<2x4xf32>, %w: tensor<6x4xf32>) -> tensor<2x6xf32> {
  %y = fovea.linear %x, %w : tensor<2x4xf32>, tensor<6x4xf32> -> tensor<2x6xf32>
  return %y : tensor<2x6xf32>
}

// CHECK-LABEL: func.func @entry
// CHECK-DAG: %[[A:.*]] = fovea.weight_ref @a : tensor<6x4xi8>
// CHECK-DAG: %[[AS:.*]] = fovea.weight_ref @a.scales : tensor<6xf32>
// CHECK-DAG: %[[B:.*]] = fovea.weight_ref @b : tensor<6x4xi8>
// CHECK-DAG: %[[BS:.*]] = fovea.weight_ref @b.scales : tensor<6xf32>
// CHECK-DAG: %[[H:.*]] = fovea.weight_ref @head : tensor<9x6xi8>
// CHECK-DAG: %[[HS:.*]] = fovea.weight_ref @head.scales : tensor<9xf32>
// CHECK: call @layer(%{{.*}}, %[[A]], %[[AS]]) : (tensor<2x4xf32>, tensor<6x4xi8>, tensor<6xf32>) -> tensor<2x6xf32>
// CHECK: call @layer(%{{.*}}, %[[B]], %[[BS]])
// CHECK: fovea.linear %{{.*}}, %[[H]] scales(%[[HS]] : tensor<9xf32>) bias(%{{.*}} : tensor<9xf32>)
func.func @entry(%x: tensor<2x4xf32>) -> (tensor<2x6xf32>, tensor<2x9xf32>) attributes {fovea.entry} {
  %a = fovea.weight_ref @a : tensor<6x4xf32>
  %b = fovea.weight_ref @b : tensor<6x4xf32>
  %h = fovea.weight_ref @head : tensor<9x6xbf16>
  %bias = fovea.weight_ref @bias : tensor<9xf32>
  %0 = call @layer(%x, %a) : (tensor<2x4xf32>, tensor<6x4xf32>) -> tensor<2x6xf32>
  %1 = call @layer(%x, %b) : (tensor<2x4xf32>, tensor<6x4xf32>) -> tensor<2x6xf32>
  %2 = fovea.linear %0, %h bias(%bias : tensor<9xf32>) : tensor<2x6xf32>, tensor<9x6xbf16> -> tensor<2x9xf32>
  return %1, %2 : tensor<2x6xf32>, tensor<2x9xf32>
}
