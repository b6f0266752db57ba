// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// What fovea.mask_dense refuses, by the number of the constraint.

func.func @mask_dense_c1_rank(%t: tensor<1x1x1x1x1xi1>) {
  // expected-error @below {{operand #0 must be 1D/2D/3D/4D tensor of 1-bit signless integer}}
  %m = "fovea.mask_dense"(%t) : (tensor<1x1x1x1x1xi1>) -> !fovea.mask
  return
}

// -----

func.func @mask_dense_c1_element_type(%t: tensor<?x?xf32>) {
  // expected-error @below {{operand #0 must be 1D/2D/3D/4D tensor of 1-bit signless integer}}
  %m = "fovea.mask_dense"(%t) : (tensor<?x?xf32>) -> !fovea.mask
  return
}

// -----

func.func @mask_dense_c2(%d: tensor<2x8x3x5xi1>, %b: index) {
  %m = fovea.mask_dense %d : tensor<2x8x3x5xi1>
  // expected-error @below {{expects the mask's 'fovea.mask_dense' to take 'tensor<?x4x3x5xi1>', got 'tensor<2x8x3x5xi1>'}}
  %t = fovea.mask_materialize %m [%b] : tensor<?x4x3x5xi1>
  return
}
