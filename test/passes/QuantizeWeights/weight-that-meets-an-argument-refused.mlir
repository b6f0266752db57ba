// RUN: fovea-opt %s --fovea-quantize-weights=type=int8 --remarks-filter=quantize-weights --remark-policy=all --remark-format=emitRemark -verify-diagnostics | FileCheck %s

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
