// RUN: fovea-opt %s --fovea-localize-masks --fovea-verify-graph | FileCheck %s

// Layers with a window and without: the function is copied for the other form. The mask goes through two calls.

// CHECK-LABEL: func.func private @inner(
// CHECK: fovea.mask_causal
// CHECK-LABEL: func.func private @inner_1(
// CHECK: fovea.mask_window left(7) right(0)
func.func private @inner(%q: tensor<1x3x2x4xf32>, %m: !fovea.mask) -> tensor<1x3x2x4xf32> {
  %o = fovea.attention %q, %q, %q mask(%m) : tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32> -> tensor<1x3x2x4xf32>
  return %o : tensor<1x3x2x4xf32>
}

// CHECK-LABEL: func.func private @outer(
// CHECK: call @inner(
// CHECK-LABEL: func.func private @outer_0(
// CHECK: call @inner_1(
func.func private @outer(%q: tensor<1x3x2x4xf32>, %m: !fovea.mask) -> tensor<1x3x2x4xf32> {
  %o = call @inner(%q, %m) : (tensor<1x3x2x4xf32>, !fovea.mask) -> tensor<1x3x2x4xf32>
  return %o : tensor<1x3x2x4xf32>
}

// CHECK-LABEL: func.func @forms
// CHECK: call @outer(
// CHECK: call @outer_0(
// CHECK: call @outer(
func.func @forms(%q: tensor<1x3x2x4xf32>) -> tensor<1x3x2x4xf32> {
  %c = fovea.mask_causal
  %w = fovea.mask_window left(7) right(0)
  %0 = call @outer(%q, %c) : (tensor<1x3x2x4xf32>, !fovea.mask) -> tensor<1x3x2x4xf32>
  %1 = call @outer(%0, %w) : (tensor<1x3x2x4xf32>, !fovea.mask) -> tensor<1x3x2x4xf32>
  %2 = call @outer(%1, %c) : (tensor<1x3x2x4xf32>, !fovea.mask) -> tensor<1x3x2x4xf32>
  return %2 : tensor<1x3x2x4xf32>
}
