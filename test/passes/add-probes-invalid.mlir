// RUN: fovea-opt %s --fovea-add-probes=kinds=attention -split-input-file -verify-diagnostics

// expected-error @below {{--probe: expects an entry of kind forward, or one entry}}
module {
  func.func @a(%x: tensor<4xf32>) -> tensor<4xf32> attributes {fovea.entry} {
    return %x : tensor<4xf32>
  }
  func.func @b(%x: tensor<4xf32>) -> tensor<4xf32> attributes {fovea.entry} {
    return %x : tensor<4xf32>
  }
}

// -----

// expected-error @below {{--probe: expects attention in the entry @a, outside of branches and loops, found none}}
func.func @a(%x: tensor<4xf32>) -> tensor<4xf32> attributes {fovea.entry} {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{expects attention in the entry @a, outside of branches and loops, found none}}
func.func @a(%x: tensor<1x3x2x4xf32>, %is: i1) -> tensor<1x3x2x4xf32> attributes {fovea.entry} {
  %0 = scf.if %is -> tensor<1x3x2x4xf32> {
    %o = fovea.attention %x, %x, %x scale(0.5) : tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32> -> tensor<1x3x2x4xf32>
    scf.yield %o : tensor<1x3x2x4xf32>
  } else {
    scf.yield %x : tensor<1x3x2x4xf32>
  }
  return %0 : tensor<1x3x2x4xf32>
}

// -----

func.func @a(%x: tensor<1x3x2x4xf32>) -> tensor<1x3x2x4xf32> attributes {fovea.entry} {
  %o = fovea.attention %x, %x, %x scale(0.5) : tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32> -> tensor<1x3x2x4xf32>
  return %o : tensor<1x3x2x4xf32>
}
// expected-error @below {{--probe: this name is wanted for the entry that shows attention}}
func.func private @attention_maps(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

