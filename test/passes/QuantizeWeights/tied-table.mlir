// RUN: fovea-opt %s --fovea-quantize-weights=type=int8 | FileCheck %s
// RUN: fovea-opt %s --fovea-quantize-weights=type=int4 | FileCheck %s

// A table that is a head, too, is int8 with a scale for each row, which the embedding reads by the same number; of tables
// that no linear reads nothing is changed.

// CHECK: fovea.weight @tied : tensor<6x32xi8> = #fovea.quantize<#fovea.stored<"f", "t", tensor<6x32xf32>>, i8, f32>
// CHECK: fovea.weight @tied.scales : tensor<6xf32> = #fovea.quantization_scales<
// CHECK: fovea.weight @table : tensor<6x32xf32> = #fovea.stored<
fovea.weight @tied : tensor<6x32xf32> = #fovea.stored<"f", "t", tensor<6x32xf32>>
fovea.weight @table : tensor<6x32xf32> = #fovea.stored<"f", "u", tensor<6x32xf32>>
// CHECK-LABEL: func.func @model
// CHECK-DAG: %[[T:.*]] = fovea.weight_ref @tied : tensor<6x32xi8>
// CHECK-DAG: %[[S:.*]] = fovea.weight_ref @tied.scales : tensor<6xf32>
// CHECK: %[[A:.*]] = fovea.embedding %{{.*}}, %[[T]] scales(%[[S]] : tensor<6xf32>) : tensor<?xi64>, tensor<6x32xi8> -> tensor<?x32xf32>
// CHECK: fovea.embedding %{{.*}} : tensor<?xi64>, tensor<6x32xf32> -> tensor<?x32xf32>
// CHECK: fovea.linear %{{.*}}, %[[T]] scales(%[[S]] : tensor<6xf32>) : tensor<?x32xf32>, tensor<6x32xi8> -> tensor<?x6xf32>
func.func @model(%ids: tensor<?xi64>) -> tensor<?x6xf32> attributes {fovea.entry} {
  %t = fovea.weight_ref @tied : tensor<6x32xf32>
  %u = fovea.weight_ref @table : tensor<6x32xf32>
  %0 = fovea.embedding %ids, %t : tensor<?xi64>, tensor<6x32xf32> -> tensor<?x32xf32>
  %1 = fovea.embedding %ids, %u : tensor<?xi64>, tensor<6x32xf32> -> tensor<?x32xf32>
  %2 = arith.addf %0, %1 : tensor<?x32xf32>
  %3 = fovea.linear %2, %t : tensor<?x32xf32>, tensor<6x32xf32> -> tensor<?x6xf32>
  return %3 : tensor<?x6xf32>
}
