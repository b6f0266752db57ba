// RUN: fovea-opt %s --split-input-file --verify-diagnostics --fovea-form-launches

func.func @static_size_beyond_memory(%x: tensor<?xf32>) -> tensor<?xf32> attributes {fovea.entry} {
  %v = arith.constant 1.0 : f32
  // expected-error @below {{expects static sizes below 2^48 bytes, got 'tensor<4611686018427387904x4xf32>'}}
  %0 = fovea.group(%a = %x) schedule(#fovea.loops<parallel = 1>) : (tensor<?xf32>) -> tensor<4611686018427387904x4xf32> {
    %s = arith.constant 1.0 : f32
    %1 = tensor.splat %s : tensor<4611686018427387904x4xf32>
    fovea.yield %1 : tensor<4611686018427387904x4xf32>
  }
  return %x : tensor<?xf32>
}

// -----

// expected-error @below {{expects elements that are floats, integers or indices, got 'tensor<2xcomplex<f32>>'}}
func.func @complex(%x: tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>> attributes {fovea.entry} {
  return %x : tensor<2xcomplex<f32>>
}
