// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// What fovea.mask_materialize refuses, by the number of the constraint.

func.func @mask_materialize_c1(%b: index) {
  %m = fovea.mask_causal
  // expected-error @below {{expects 2 sizes, got 1}}
  %t = fovea.mask_materialize %m [%b] : tensor<?x4x?x5xi1>
  return
}

// -----

func.func @mask_materialize_c2_batch(%p: tensor<3x5xi32>) {
  %m = fovea.mask_causal
  // expected-error @below {{expects query positions for 'tensor<2x4x5x5xi1>', got 'tensor<3x5xi32>'}}
  %t = fovea.mask_materialize %m [] q_pos(%p : tensor<3x5xi32>) : tensor<2x4x5x5xi1>
  return
}

// -----

func.func @mask_materialize_c2_length(%p: tensor<1x5xi32>) {
  %m = fovea.mask_causal
  // expected-error @below {{expects key positions for 'tensor<2x4x5x6xi1>', got 'tensor<1x5xi32>'}}
  %t = fovea.mask_materialize %m [] k_pos(%p : tensor<1x5xi32>) : tensor<2x4x5x6xi1>
  return
}

// -----

func.func @mask_materialize_c3(%n: tensor<3xi32>) {
  %m = fovea.mask_length %n : tensor<3xi32>
  // expected-error @below {{expects the mask's 'fovea.mask_length' to take 'tensor<2xi32>', got 'tensor<3xi32>'}}
  %t = fovea.mask_materialize %m [] : tensor<2x4x5x6xi1>
  return
}
