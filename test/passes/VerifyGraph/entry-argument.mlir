// RUN: fovea-opt %s --fovea-localize-masks --fovea-verify-graph -verify-diagnostics

// What fovea-localize-masks leaves alone is reported: a mask that an entry takes.

// expected-error @below {{expects no mask to enter its region, got one as argument 1}}
func.func @entry_argument(%q: tensor<1x3x2x4xf32>, %m: !fovea.mask) -> tensor<1x3x2x4xf32> attributes {fovea.entry} {
  %o = fovea.attention %q, %q, %q mask(%m) : tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32> -> tensor<1x3x2x4xf32>
  return %o : tensor<1x3x2x4xf32>
}
