// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// What fovea.mask_segment refuses, by the number of the constraint.

func.func @mask_segment_c1(%a: tensor<2x?xi32>, %b: tensor<3x?xi32>) {
  // expected-error @below {{expects query and key segments of one batch size, got 2 and 3}}
  %m = fovea.mask_segment %a, %b : tensor<2x?xi32>, tensor<3x?xi32>
  return
}

// -----

func.func @mask_segment_c2_queries(%q: tensor<?x3x8x64xf32>, %k: tensor<?x5x2x64xf32>, %a: tensor<?x4xi32>, %b: tensor<?x5xi32>) {
  %m = fovea.mask_segment %a, %b : tensor<?x4xi32>, tensor<?x5xi32>
  // expected-error @below {{expects the mask's 'fovea.mask_segment' to take 'tensor<?x3xi32>', got 'tensor<?x4xi32>'}}
  %o = fovea.attention %q, %k, %k mask(%m) : tensor<?x3x8x64xf32>, tensor<?x5x2x64xf32>, tensor<?x5x2x64xf32> -> tensor<?x3x8x64xf32>
  return
}

// -----

func.func @mask_segment_c2_keys(%q: tensor<?x3x8x64xf32>, %k: tensor<?x5x2x64xf32>, %a: tensor<?x3xi32>, %b: tensor<?x1xi32>) {
  %m = fovea.mask_segment %a, %b : tensor<?x3xi32>, tensor<?x1xi32>
  // expected-error @below {{expects the mask's 'fovea.mask_segment' to take 'tensor<?x5xi32>', got 'tensor<?x1xi32>'}}
  %o = fovea.attention %q, %k, %k mask(%m) : tensor<?x3x8x64xf32>, tensor<?x5x2x64xf32>, tensor<?x5x2x64xf32> -> tensor<?x3x8x64xf32>
  return
}
