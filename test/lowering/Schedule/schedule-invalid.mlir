// RUN: fovea-opt %s --fovea-schedule --split-input-file -verify-diagnostics

func.func @passes_through(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @below {{expects an op that computes its first result}}
  %y = fovea.group(%a = %x) : (tensor<2xf32>) -> tensor<2xf32> {
    fovea.yield %a : tensor<2xf32>
  }
  return %y : tensor<2xf32>
}

// -----

func.func @empty() {
  // expected-error @below {{expects an op that computes its first result}}
  fovea.group() : () -> () {
  }
  return
}
