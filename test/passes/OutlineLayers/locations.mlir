// RUN: fovea-opt %s --fovea-outline-layers --mlir-print-debuginfo --mlir-print-local-scope --split-input-file | FileCheck %s

// A layer's ops are named with a star where their layers' names differ, its calls by the layer's own number and not by that of
// whichever op came last.

// CHECK-LABEL: func.func private @layer
// CHECK: fovea.linear {{.*}} loc("model.layers.*.up/linear_*")
// CHECK: fovea.activation {{.*}} loc("model.layers.*.act/gelu_*")
// CHECK: fovea.linear {{.*}} loc("model.layers.*.down/linear_*")
// CHECK-LABEL: func.func @stack
// CHECK: call @layer({{.*}} loc("model.layers.4")
// CHECK: call @layer({{.*}} loc("model.layers.5")
func.func @stack(%x: tensor<?x8xf32>, %u: tensor<16x8xf32>, %v: tensor<8x16xf32>) -> tensor<?x8xf32> {
  %0 = fovea.linear %x, %u : tensor<?x8xf32>, tensor<16x8xf32> -> tensor<?x16xf32> loc("model.layers.4.up/linear_7")
  %1 = fovea.activation gelu %0 : tensor<?x16xf32> loc("model.layers.4.act/gelu_1")
  %2 = fovea.linear %1, %v : tensor<?x16xf32>, tensor<8x16xf32> -> tensor<?x8xf32> loc("model.layers.4.down/linear_8")
  %3 = fovea.linear %2, %u : tensor<?x8xf32>, tensor<16x8xf32> -> tensor<?x16xf32> loc("model.layers.5.up/linear_9")
  %4 = fovea.activation gelu %3 : tensor<?x16xf32> loc("model.layers.5.act/gelu_2")
  %5 = fovea.linear %4, %v : tensor<?x16xf32>, tensor<8x16xf32> -> tensor<?x8xf32> loc("model.layers.5.down/linear_10")
  return %5 : tensor<?x8xf32>
}

// -----

// Ops whose names say nothing of layers keep them.

// CHECK-LABEL: func.func @unnamed
// CHECK: call @layer({{.*}} loc("second")
// CHECK: call @layer({{.*}} loc("fourth")
func.func @unnamed(%x: tensor<?x8xf32>, %u: tensor<16x8xf32>, %v: tensor<8x16xf32>) -> tensor<?x8xf32> {
  %0 = fovea.linear %x, %u : tensor<?x8xf32>, tensor<16x8xf32> -> tensor<?x16xf32> loc("first")
  %1 = fovea.linear %0, %v : tensor<?x16xf32>, tensor<8x16xf32> -> tensor<?x8xf32> loc("second")
  %2 = fovea.linear %1, %u : tensor<?x8xf32>, tensor<16x8xf32> -> tensor<?x16xf32> loc("third")
  %3 = fovea.linear %2, %v : tensor<?x16xf32>, tensor<8x16xf32> -> tensor<?x8xf32> loc("fourth")
  return %3 : tensor<?x8xf32>
}
