// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// What fovea.weight_ref refuses, by the number of the constraint.

func.func @weight_ref_c1_missing() {
  // expected-error @below {{expects a weight named @head, found none}}
  %w = fovea.weight_ref @head : tensor<2x3xf32>
  return
}

// -----

fovea.weight @head : tensor<2x3xf32> = #fovea.stored<"a", "w", tensor<2x3xf32>>
func.func @weight_ref_c1_type() {
  // expected-error @below {{expects the weight's type 'tensor<2x3xf32>', got 'tensor<3x2xf32>'}}
  %w = fovea.weight_ref @head : tensor<3x2xf32>
  return
}

// -----

func.func private @head()
func.func @weight_ref_c1_function() {
  // expected-error @below {{expects a weight named @head, found none}}
  %w = fovea.weight_ref @head : tensor<2x3xf32>
  return
}

// -----

fovea.weight @head : tensor<2x3xf32, #fovea.panels<16>> = #fovea.pack<#fovea.stored<"a", "w", tensor<2x3xf32>>, #fovea.panels<16>>
func.func @weight_ref_c1_encoding() {
  // expected-error @below {{expects the weight's type 'tensor<2x3xf32, #fovea.panels<16>>', got 'tensor<2x3xf32>'}}
  %w = fovea.weight_ref @head : tensor<2x3xf32>
  return
}

// -----

fovea.weight @head : tensor<2x3xf32, #fovea.panels<16>> = #fovea.pack<#fovea.stored<"a", "w", tensor<2x3xf32>>, #fovea.panels<16>>
func.func @weight_ref_c2() {
  // expected-error @below {{expects the weight's buffer 'memref<1x3x16xf32>', got 'memref<2x3xf32>'}}
  %w = fovea.weight_ref @head : memref<2x3xf32>
  return
}
