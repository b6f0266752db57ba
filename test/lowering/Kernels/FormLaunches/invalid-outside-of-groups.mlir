// RUN: fovea-opt %s --verify-diagnostics --fovea-form-launches

func.func @computing_outside_of_groups(%x: tensor<?x4xf32>) -> tensor<?x4xf32> attributes {fovea.entry} {
  // expected-error @below {{is neither in a group, nor a view, nor index arithmetic}}
  %0 = fovea.activation relu %x : tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}
