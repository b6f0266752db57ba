// RUN: fovea-opt %s --fovea-merge-linears --split-input-file | FileCheck %s

// Gate and up in an entry, whose weights it refers to itself.

// CHECK: fovea.weight @"g+u" : tensor<14x4xf32> = #fovea.concat<0, #fovea.stored<"f", "g", tensor<8x4xf32>>, #fovea.stored<"f", "u", tensor<6x4xf32>>>
// CHECK-NOT: fovea.weight
fovea.weight @g : tensor<8x4xf32> = #fovea.stored<"f", "g", tensor<8x4xf32>>
fovea.weight @u : tensor<6x4xf32> = #fovea.stored<"f", "u", tensor<6x4xf32>>
// CHECK-LABEL: @references
// CHECK-SAME: (%[[X:.*]]: tensor<?x?x4xf32>)
func.func @references(%x: tensor<?x?x4xf32>) -> (tensor<?x?x8xf32>, tensor<?x?x6xf32>) {
  %g = fovea.weight_ref @g : tensor<8x4xf32>
  %u = fovea.weight_ref @u : tensor<6x4xf32>
  // CHECK: %[[W:.*]] = fovea.weight_ref @"g+u" : tensor<14x4xf32>
  // CHECK: %[[Y:.*]] = fovea.linear %[[X]], %[[W]] : tensor<?x?x4xf32>, tensor<14x4xf32> -> tensor<?x?x14xf32>
  // CHECK: %[[B:.*]] = tensor.dim %[[X]], %{{.*}} : tensor<?x?x4xf32>
  // CHECK: %[[S:.*]] = tensor.dim %[[X]], %{{.*}} : tensor<?x?x4xf32>
  // CHECK: %[[G:.*]] = tensor.extract_slice %[[Y]][0, 0, 0] [%[[B]], %[[S]], 8] [1, 1, 1] : tensor<?x?x14xf32> to tensor<?x?x8xf32>
  // CHECK: %[[U:.*]] = tensor.extract_slice %[[Y]][0, 0, 8] [%[[B]], %[[S]], 6] [1, 1, 1] : tensor<?x?x14xf32> to tensor<?x?x6xf32>
  %0 = fovea.linear %x, %g : tensor<?x?x4xf32>, tensor<8x4xf32> -> tensor<?x?x8xf32>
  %1 = fovea.linear %x, %u : tensor<?x?x4xf32>, tensor<6x4xf32> -> tensor<?x?x6xf32>
  // CHECK: return %[[G]], %[[U]]
  return %0, %1 : tensor<?x?x8xf32>, tensor<?x?x6xf32>
}

// -----

// A layer function that is called for two layers by each of two entries: the weights are its arguments, with biases. A third linear reads another input.

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

// -----

// A recipe that concatenates already is not nested, and the new name gives way to one that is taken.

// CHECK: fovea.weight @"a+b" :
// CHECK: fovea.weight @"a+b_0" : tensor<5x2xf32> = #fovea.concat<0, #fovea.stored<"f", "a0", tensor<1x2xf32>>, #fovea.stored<"f", "a1", tensor<2x2xf32>>, #fovea.stored<"f", "b", tensor<2x2xf32>>>
fovea.weight @"a+b" : tensor<2xf32> = #fovea.stored<"f", "x", tensor<2xf32>>
fovea.weight @a : tensor<3x2xf32> = #fovea.concat<0, #fovea.stored<"f", "a0", tensor<1x2xf32>>, #fovea.stored<"f", "a1", tensor<2x2xf32>>>
fovea.weight @b : tensor<2x2xf32> = #fovea.stored<"f", "b", tensor<2x2xf32>>
func.func @flat(%x: tensor<2x2xf32>) -> (tensor<2x3xf32>, tensor<2x2xf32>) {
  %a = fovea.weight_ref @a : tensor<3x2xf32>
  %b = fovea.weight_ref @b : tensor<2x2xf32>
  %0 = fovea.linear %x, %a : tensor<2x2xf32>, tensor<3x2xf32> -> tensor<2x3xf32>
  %1 = fovea.linear %x, %b : tensor<2x2xf32>, tensor<2x2xf32> -> tensor<2x2xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<2x2xf32>
}
