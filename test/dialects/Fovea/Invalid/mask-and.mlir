// RUN: fovea-opt %s -verify-diagnostics

func.func @mask_and_takes_masks(%x: tensor<2x2xi1>) {
  // expected-error @below {{operand #0 must be variadic of Which keys a query may attend to}}
  %t = "fovea.mask_and"(%x) : (tensor<2x2xi1>) -> !fovea.mask
  return
}
