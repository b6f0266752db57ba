// RUN: fovea-opt %s --fovea-merge-linears | FileCheck %s

// A layer function that is called for two layers by each of two entries: the weights are its arguments, with biases. A
// third linear reads another input.

// CHECK-DAG: fovea.weight @"q0+k0" : tensor<6x4xbf16>
// CHECK-DAG: fovea.weight @"bq0+bk0" : tensor<6xf32> = #fovea.concat<0, #fovea.stored<"f", "bq0", tensor<4xf32>>, #fovea.stored<"f", "bk0", tensor<2xf32>>>
// CHECK-DAG: fovea.weight @"q1+k1" : tensor<6x4xbf16>
// CHECK-DAG: fovea.weight @"bq1+bk1" : tensor<6xf32>
fovea.weight @q0 : tensor<4x4xbf16> = #fovea.stored<"f", "q0", tensor<4x4xbf16>>
fovea.weight @k0 : tensor<2x4xbf16> = #fovea.stored<"f", "k0", tensor<2x4xbf16>>
fovea.weight @bq0 : tensor<4xf32> = #fovea.stored<"f", "bq0", tensor<4xf32>>
fovea.weight @bk0 : tensor<2xf32> = #fovea.stored<"f", "bk0", tensor<2xf32>>
fovea.weight @q1 : tensor<4x4xbf16> = #fovea.stored<"f", "q1", tensor<4x4xbf16>>
fovea.weight @k1 : tensor<2x4xbf16> = #fovea.stored<"f", "k1", tensor<2x4xbf16>>
fovea.weight @bq1 : tensor<4xf32> = #fovea.stored<"f", "bq1", tensor<4xf32>>
fovea.weight @bk1 : tensor<2xf32> = #fovea.stored<"f", "bk1", tensor<2xf32>>

// CHECK-LABEL: func.func private @layer
// CHECK-SAME: (%[[X:[^:]*]]: tensor<?x4xf32>, %[[W:[^:]*]]: tensor<6x4xbf16>, %[[B:[^:]*]]: tensor<6xf32>)
func.func private @layer(%x: tensor<?x4xf32>, %q: tensor<4x4xbf16>, %k: tensor<2x4xbf16>, %bq: tensor<4xf32>, %bk: tensor<2xf32>) -> (tensor<?x4xf32>, tensor<?x2xf32>) {
  // CHECK: fovea.linear %[[X]], %[[W]] bias(%[[B]] : tensor<6xf32>)
  // CHECK-NOT: fovea.linear
  %0 = fovea.linear %x, %q bias(%bq : tensor<4xf32>) : tensor<?x4xf32>, tensor<4x4xbf16> -> tensor<?x4xf32>
  %1 = fovea.linear %x, %k bias(%bk : tensor<2xf32>) : tensor<?x4xf32>, tensor<2x4xbf16> -> tensor<?x2xf32>
  return %0, %1 : tensor<?x4xf32>, tensor<?x2xf32>
}

// CHECK-LABEL: func.func @forward
func.func @forward(%x: tensor<?x4xf32>) -> tensor<?x2xf32> attributes {fovea.entry} {
  // CHECK: %[[W0:.*]] = fovea.weight_ref @"q0+k0"
  // CHECK: %[[B0:.*]] = fovea.weight_ref @"bq0+bk0"
  // CHECK: call @layer(%{{.*}}, %[[W0]], %[[B0]]) : (tensor<?x4xf32>, tensor<6x4xbf16>, tensor<6xf32>)
  // CHECK: fovea.weight_ref @"q1+k1"
  %q0 = fovea.weight_ref @q0 : tensor<4x4xbf16>
  %k0 = fovea.weight_ref @k0 : tensor<2x4xbf16>
  %bq0 = fovea.weight_ref @bq0 : tensor<4xf32>
  %bk0 = fovea.weight_ref @bk0 : tensor<2xf32>
  %q1 = fovea.weight_ref @q1 : tensor<4x4xbf16>
  %k1 = fovea.weight_ref @k1 : tensor<2x4xbf16>
  %bq1 = fovea.weight_ref @bq1 : tensor<4xf32>
  %bk1 = fovea.weight_ref @bk1 : tensor<2xf32>
  %y, %k = call @layer(%x, %q0, %k0, %bq0, %bk0) : (tensor<?x4xf32>, tensor<4x4xbf16>, tensor<2x4xbf16>, tensor<4xf32>, tensor<2xf32>) -> (tensor<?x4xf32>, tensor<?x2xf32>)
  %z, %l = call @layer(%y, %q1, %k1, %bq1, %bk1) : (tensor<?x4xf32>, tensor<4x4xbf16>, tensor<2x4xbf16>, tensor<4xf32>, tensor<2xf32>) -> (tensor<?x4xf32>, tensor<?x2xf32>)
  return %l : tensor<?x2xf32>
}

// CHECK-LABEL: func.func @decode
func.func @decode(%x: tensor<?x4xf32>) -> tensor<?x2xf32> attributes {fovea.entry} {
  // CHECK: %[[W0:.*]] = fovea.weight_ref @"q0+k0"
  // CHECK: call @layer(%{{.*}}, %[[W0]], %{{.*}})
  %q0 = fovea.weight_ref @q0 : tensor<4x4xbf16>
  %k0 = fovea.weight_ref @k0 : tensor<2x4xbf16>
  %bq0 = fovea.weight_ref @bq0 : tensor<4xf32>
  %bk0 = fovea.weight_ref @bk0 : tensor<2xf32>
  %y, %k = call @layer(%x, %q0, %k0, %bq0, %bk0) : (tensor<?x4xf32>, tensor<4x4xbf16>, tensor<2x4xbf16>, tensor<4xf32>, tensor<2xf32>) -> (tensor<?x4xf32>, tensor<?x2xf32>)
  return %k : tensor<?x2xf32>
}
