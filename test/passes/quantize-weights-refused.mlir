// RUN: fovea-opt %s --fovea-quantize-weights=type=int8 --split-input-file --remarks-filter=quantize-weights --remark-policy=all --remark-format=emitRemark -verify-diagnostics | FileCheck %s

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

// -----

// What a caller gives is no weight, and a weight that meets it in one argument stays; so does a packed one.

// CHECK-LABEL: fovea.weight @met : tensor<6x6xf32>
// CHECK-NOT: i8
// expected-remark @below {{reach in ways that are not known}}
fovea.weight @met : tensor<6x6xf32> = #fovea.stored<"f", "m", tensor<6x6xf32>>
// expected-remark @below {{it is packed already}}
fovea.weight @packed : tensor<6x6xf32> = #fovea.pack<#fovea.stored<"f", "p", tensor<6x6xf32>>>
func.func private @inner(%x: tensor<?x6xf32>, %w: tensor<6x6xf32>) -> tensor<?x6xf32> {
  %0 = fovea.linear %x, %w : tensor<?x6xf32>, tensor<6x6xf32> -> tensor<?x6xf32>
  return %0 : tensor<?x6xf32>
}
func.func @given(%x: tensor<?x6xf32>, %w: tensor<6x6xf32>) -> (tensor<?x6xf32>, tensor<?x6xf32>) attributes {fovea.entry} {
  %m = fovea.weight_ref @met : tensor<6x6xf32>
  %p = fovea.weight_ref @packed : tensor<6x6xf32>
  %0 = call @inner(%x, %w) : (tensor<?x6xf32>, tensor<6x6xf32>) -> tensor<?x6xf32>
  %1 = call @inner(%0, %m) : (tensor<?x6xf32>, tensor<6x6xf32>) -> tensor<?x6xf32>
  %2 = fovea.linear %x, %p : tensor<?x6xf32>, tensor<6x6xf32> -> tensor<?x6xf32>
  %3 = fovea.linear %1, %m : tensor<?x6xf32>, tensor<6x6xf32> -> tensor<?x6xf32>
  return %2, %3 : tensor<?x6xf32>, tensor<?x6xf32>
}
