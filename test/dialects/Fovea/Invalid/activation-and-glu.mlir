// RUN: fovea-opt %s -split-input-file -verify-diagnostics

func.func @activation_same_type(%x: tensor<?x4xf32>) {
  // expected-error @below {{requires the same type for all operands and results}}
  %y = "fovea.activation"(%x) <{kind = 0 : i32}> : (tensor<?x4xf32>) -> tensor<?x4xf64>
  return
}

// -----

func.func @glu_same_type(%x: tensor<?x4xf32>, %u: tensor<?x5xf32>) {
  // expected-error @below {{requires the same type for all operands and results}}
  %y = "fovea.glu"(%x, %u) <{kind = 0 : i32}> : (tensor<?x4xf32>, tensor<?x5xf32>) -> tensor<?x4xf32>
  return
}
