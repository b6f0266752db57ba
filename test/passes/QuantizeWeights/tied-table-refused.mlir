// RUN: fovea-opt %s --fovea-quantize-weights=type=int8 --remarks-filter=quantize-weights --remark-policy=all --remark-format=emitRemark -verify-diagnostics | FileCheck %s

// A tied table stays, and so does what becomes the same argument as one, through another function too. Of tables that
// no linear reads nothing is said.

// CHECK-LABEL: fovea.weight @tied : tensor<6x6xf32>
// CHECK-NOT: i8
// expected-remark @below {{'fovea.embedding' reads it too}}
fovea.weight @tied : tensor<6x6xf32> = #fovea.stored<"f", "t", tensor<6x6xf32>>
// expected-remark @below {{a weight that becomes the same argument is not quantised}}
fovea.weight @beside : tensor<6x6xf32> = #fovea.stored<"f", "b", tensor<6x6xf32>>
// expected-remark @below {{a weight that becomes the same argument is not quantised}}
fovea.weight @behind : tensor<6x6xf32> = #fovea.stored<"f", "c", tensor<6x6xf32>>
fovea.weight @table : tensor<6x6xf32> = #fovea.stored<"f", "u", tensor<6x6xf32>>
func.func private @one(%x: tensor<?x6xf32>, %w: tensor<6x6xf32>) -> tensor<?x6xf32> {
  %0 = fovea.linear %x, %w : tensor<?x6xf32>, tensor<6x6xf32> -> tensor<?x6xf32>
  return %0 : tensor<?x6xf32>
}

func.func private @two(%x: tensor<?x6xf32>, %w: tensor<6x6xf32>) -> tensor<?x6xf32> {
  %0 = fovea.linear %x, %w : tensor<?x6xf32>, tensor<6x6xf32> -> tensor<?x6xf32>
  return %0 : tensor<?x6xf32>
}

func.func @refused(%ids: tensor<?xi64>) -> (tensor<?x6xf32>, tensor<?x6xf32>) attributes {fovea.entry} {
  %t = fovea.weight_ref @tied : tensor<6x6xf32>
  %b = fovea.weight_ref @beside : tensor<6x6xf32>
  %c = fovea.weight_ref @behind : tensor<6x6xf32>
  %u = fovea.weight_ref @table : tensor<6x6xf32>
  %0 = fovea.embedding %ids, %t : tensor<?xi64>, tensor<6x6xf32> -> tensor<?x6xf32>
  %1 = fovea.embedding %ids, %u : tensor<?xi64>, tensor<6x6xf32> -> tensor<?x6xf32>
  %2 = call @one(%0, %t) : (tensor<?x6xf32>, tensor<6x6xf32>) -> tensor<?x6xf32>
  %3 = call @one(%1, %b) : (tensor<?x6xf32>, tensor<6x6xf32>) -> tensor<?x6xf32>
  %4 = call @two(%2, %b) : (tensor<?x6xf32>, tensor<6x6xf32>) -> tensor<?x6xf32>
  %5 = call @two(%3, %c) : (tensor<?x6xf32>, tensor<6x6xf32>) -> tensor<?x6xf32>
  return %4, %5 : tensor<?x6xf32>, tensor<?x6xf32>
}
