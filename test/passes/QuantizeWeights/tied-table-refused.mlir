// RUN: fovea-opt %s --fovea-quantize-weights=type=int4 --remarks-filter=quantize-weights --remark-policy=all --remark-format=emitRemark -verify-diagnostics | FileCheck %s

// A table that is a head stays where an int4 weight becomes the same argument, and so does that weight; and where its rows are
// read as bf16.

// CHECK-LABEL: fovea.weight @tied : tensor<32x32xf32>
// CHECK-NOT: xi8
// CHECK-NOT: xi4
// expected-remark @below {{a weight that becomes the same argument is not quantised}}
fovea.weight @tied : tensor<32x32xf32> = #fovea.stored<"f", "t", tensor<32x32xf32>>
// expected-remark @below {{a table of rows becomes the same argument}}
fovea.weight @beside : tensor<32x32xf32> = #fovea.stored<"f", "b", tensor<32x32xf32>>
// expected-remark @below {{'fovea.embedding' reads it too}}
fovea.weight @halves : tensor<6x32xbf16> = #fovea.stored<"f", "u", tensor<6x32xbf16>>
func.func private @one(%x: tensor<?x32xf32>, %w: tensor<32x32xf32>) -> tensor<?x32xf32> {
  %0 = fovea.linear %x, %w : tensor<?x32xf32>, tensor<32x32xf32> -> tensor<?x32xf32>
  return %0 : tensor<?x32xf32>
}

func.func @refused(%ids: tensor<?xi64>) -> (tensor<?x32xf32>, tensor<?x6xbf16>) attributes {fovea.entry} {
  %t = fovea.weight_ref @tied : tensor<32x32xf32>
  %b = fovea.weight_ref @beside : tensor<32x32xf32>
  %h = fovea.weight_ref @halves : tensor<6x32xbf16>
  %0 = fovea.embedding %ids, %t : tensor<?xi64>, tensor<32x32xf32> -> tensor<?x32xf32>
  %1 = call @one(%0, %t) : (tensor<?x32xf32>, tensor<32x32xf32>) -> tensor<?x32xf32>
  %2 = call @one(%1, %b) : (tensor<?x32xf32>, tensor<32x32xf32>) -> tensor<?x32xf32>
  %3 = fovea.embedding %ids, %h : tensor<?xi64>, tensor<6x32xbf16> -> tensor<?x32xbf16>
  %4 = fovea.linear %3, %h : tensor<?x32xbf16>, tensor<6x32xbf16> -> tensor<?x6xbf16>
  return %2, %4 : tensor<?x32xf32>, tensor<?x6xbf16>
}
