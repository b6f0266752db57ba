// RUN: fovea-opt %s --split-input-file --verify-diagnostics --fovea-form-launches

// expected-error @below {{expects row-major tensors as arguments and results, got 'tensor<4x4xf32, #fovea.panels<16>>'}}
func.func @panels_from_a_caller(%w: tensor<4x4xf32, #fovea.panels<16>>) -> tensor<4xf32> attributes {fovea.entry} {
  %0 = arith.constant dense<0.0> : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

fovea.weight @w : tensor<4x4xf32, #fovea.panels<16>> = #fovea.pack<#fovea.stored<"f", "w", tensor<4x4xf32>>, #fovea.panels<16>>
func.func @panels_read_by_what_does_not_know_them() -> tensor<4x4xf32> attributes {fovea.entry} {
  %w = fovea.weight_ref @w : tensor<4x4xf32, #fovea.panels<16>>
  // expected-error @below {{expects a row-major tensor as operand 0, got 'tensor<4x4xf32, #fovea.panels<16>>'}}
  %0 = tensor.cast %w : tensor<4x4xf32, #fovea.panels<16>> to tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

fovea.weight @w : tensor<4x4xf32, #fovea.panels<16>> = #fovea.pack<#fovea.stored<"f", "w", tensor<4x4xf32>>, #fovea.panels<16>>
func.func @panels_as_a_linears_input(%x: tensor<6x4xf32>) -> tensor<4x6xf32> attributes {fovea.entry} {
  %w = fovea.weight_ref @w : tensor<4x4xf32, #fovea.panels<16>>
  %0 = fovea.group(%a = %w, %b = %x) schedule(#fovea.loops<parallel = 2>) : (tensor<4x4xf32, #fovea.panels<16>>, tensor<6x4xf32>) -> tensor<4x6xf32> {
    // expected-error @below {{expects a row-major tensor as operand 0, got 'tensor<4x4xf32, #fovea.panels<16>>'}}
    %i = fovea.linear %a, %b : tensor<4x4xf32, #fovea.panels<16>>, tensor<6x4xf32> -> tensor<4x6xf32>
    fovea.yield %i : tensor<4x6xf32>
  }
  return %0 : tensor<4x6xf32>
}

// -----

func.func @panels_made_by_a_group(%x: tensor<4x4xf32>) attributes {fovea.entry} {
  %0 = fovea.group(%a = %x) schedule(#fovea.loops<parallel = 2>) : (tensor<4x4xf32>) -> tensor<4x4xf32, #fovea.panels<16>> {
    // expected-error @below {{expects only weights to have an encoding, got a result of type 'tensor<4x4xf32, #fovea.panels<16>>'}}
    %i = tensor.cast %a : tensor<4x4xf32> to tensor<4x4xf32, #fovea.panels<16>>
    fovea.yield %i : tensor<4x4xf32, #fovea.panels<16>>
  }
  return
}
