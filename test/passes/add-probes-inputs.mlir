// RUN: fovea-opt %s --pass-pipeline="builtin.module(fovea-add-probes{kinds=inputs},canonicalize,cse,symbol-dce)" | FileCheck %s

// What linears multiply, named by the weight: through calls of a layer's function, which is copied once, by what each
// call passes.

fovea.weight @a : tensor<8x8xf32> = #fovea.stored<"f", "a", tensor<8x8xf32>>
fovea.weight @b : tensor<8x8xf32> = #fovea.stored<"f", "b", tensor<8x8xf32>>
fovea.weight @head : tensor<5x8xf32> = #fovea.stored<"f", "h", tensor<5x8xf32>>

// CHECK-LABEL: func.func private @layer_with_inputs(
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf32>, %{{.*}}: tensor<8x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>)
// CHECK: %[[Y:.*]] = fovea.linear %[[X]]
// CHECK: return %[[Y]], %[[X]]
func.func private @layer(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>) -> tensor<?x8xf32> {
  %y = fovea.linear %x, %w : tensor<?x8xf32>, tensor<8x8xf32> -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// CHECK-LABEL: func.func @linear_inputs(
// CHECK-SAME: -> (tensor<?x8xf32> {fovea.name = "a_0"}, tensor<?x8xf32> {fovea.name = "b_1"}, tensor<?x8xf32> {fovea.name = "head_2"})
// CHECK: %[[FIRST:.*]]:2 = call @layer_with_inputs(
// CHECK: %[[SECOND:.*]]:2 = call @layer_with_inputs(%[[FIRST]]#0
// CHECK: return %[[FIRST]]#1, %[[SECOND]]#1, %[[SECOND]]#0
func.func @forward(%x: tensor<?x8xf32> {fovea.name = "x", fovea.dims = ["rows"]}) -> (tensor<?x5xf32> {fovea.name = "y"}) attributes {fovea.entry} {
  %a = fovea.weight_ref @a : tensor<8x8xf32>
  %b = fovea.weight_ref @b : tensor<8x8xf32>
  %h = fovea.weight_ref @head : tensor<5x8xf32>
  %0 = call @layer(%x, %a) : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  %1 = call @layer(%0, %b) : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  %2 = fovea.linear %1, %h : tensor<?x8xf32>, tensor<5x8xf32> -> tensor<?x5xf32>
  return %2 : tensor<?x5xf32>
}
