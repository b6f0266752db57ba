// RUN: fovea-opt %s --fovea-cast-weights=type=bf16 | FileCheck %s

// What a function outside reads keeps its type.

// CHECK: fovea.weight @w : tensor<4xf32> = #fovea.stored<
// CHECK-LABEL: func.func @external
func.func private @outside(tensor<4xf32>)
fovea.weight @w : tensor<4xf32> = #fovea.stored<"f", "w", tensor<4xf32>>
func.func @external() {
  %w = fovea.weight_ref @w : tensor<4xf32>
  call @outside(%w) : (tensor<4xf32>) -> ()
  return
}
