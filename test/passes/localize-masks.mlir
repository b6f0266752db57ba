// RUN: fovea-opt %s --fovea-localize-masks --fovea-verify-graph --split-input-file | FileCheck %s

// The mask's operand travels in its place; what the call passes already is not passed twice, a constant is cloned.

// CHECK-LABEL: func.func private @layer
// CHECK-SAME: (%[[Q:[^:]*]]: tensor<?x?x2x4xf32>, %[[SEGMENTS:[^:]*]]: tensor<?x?xi32>, %[[N:[^:]*]]: tensor<?xi32>)
// CHECK-DAG: %[[C:.*]] = fovea.mask_causal
// CHECK-DAG: %[[L:.*]] = fovea.mask_length %[[N]]
// CHECK-DAG: %[[S:.*]] = fovea.mask_segment %[[SEGMENTS]], %[[SEGMENTS]]
// CHECK: %[[D:.*]] = fovea.mask_dense %{{.*}} : tensor<1xi1>
// CHECK: %[[M:.*]] = fovea.mask_and(%[[C]], %[[L]], %[[S]], %[[D]])
// CHECK-NEXT: fovea.attention {{.*}} mask(%[[M]])
func.func private @layer(%q: tensor<?x?x2x4xf32>, %m: !fovea.mask, %s: tensor<?x?xi32>) -> tensor<?x?x2x4xf32> {
  %o = fovea.attention %q, %q, %q mask(%m) : tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32> -> tensor<?x?x2x4xf32>
  return %o : tensor<?x?x2x4xf32>
}
// CHECK-LABEL: func.func @entry
// CHECK-SAME: (%[[Q:.*]]: tensor<?x?x2x4xf32>, %[[N:.*]]: tensor<?xi32>, %[[S:.*]]: tensor<?x?xi32>)
// CHECK-NOT: fovea.mask
// CHECK: %[[Y:.*]] = call @layer(%[[Q]], %[[S]], %[[N]])
// CHECK: call @layer(%[[Y]], %[[S]], %[[N]])
func.func @entry(%q: tensor<?x?x2x4xf32>, %n: tensor<?xi32>, %s: tensor<?x?xi32>) -> tensor<?x?x2x4xf32> attributes {fovea.entry} {
  %t = arith.constant dense<true> : tensor<1xi1>
  %c = fovea.mask_causal
  %l = fovea.mask_length %n : tensor<?xi32>
  %e = fovea.mask_segment %s, %s : tensor<?x?xi32>, tensor<?x?xi32>
  %d = fovea.mask_dense %t : tensor<1xi1>
  %m = fovea.mask_and(%c, %l, %e, %d)
  %y = call @layer(%q, %m, %s) : (tensor<?x?x2x4xf32>, !fovea.mask, tensor<?x?xi32>) -> tensor<?x?x2x4xf32>
  %z = call @layer(%y, %m, %s) : (tensor<?x?x2x4xf32>, !fovea.mask, tensor<?x?xi32>) -> tensor<?x?x2x4xf32>
  return %z : tensor<?x?x2x4xf32>
}

// -----

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

// -----

// Calls that pass different lengths: an argument, not a copy. A shared mask is cloned for each user, into the branch and the loop too.

// CHECK-LABEL: func.func private @one(
// CHECK-SAME: %{{[^:]*}}: tensor<1x3x2x4xf32>, %[[N:[^:]*]]: tensor<1xi32>)
// CHECK: fovea.mask_length %[[N]]
func.func private @one(%q: tensor<1x3x2x4xf32>, %m: !fovea.mask) -> tensor<1x3x2x4xf32> {
  %o = fovea.attention %q, %q, %q mask(%m) : tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32> -> tensor<1x3x2x4xf32>
  return %o : tensor<1x3x2x4xf32>
}
// CHECK-LABEL: func.func @control
// CHECK-SAME: %[[N1:[^:]*]]: tensor<1xi32>, %[[N2:[^:]*]]: tensor<1xi32>
// CHECK: call @one(%{{.*}}, %[[N1]])
// CHECK: call @one(%{{.*}}, %[[N2]])
// CHECK: scf.if
// CHECK-NEXT: %[[A:.*]] = fovea.mask_length %[[N1]]
// CHECK-NEXT: fovea.attention {{.*}} mask(%[[A]])
// CHECK: scf.for
// CHECK-NEXT: %[[B:.*]] = fovea.mask_length %[[N1]]
// CHECK-NEXT: fovea.attention {{.*}} mask(%[[B]])
func.func @control(%q: tensor<1x3x2x4xf32>, %n1: tensor<1xi32>, %n2: tensor<1xi32>, %if: i1, %i: index) -> tensor<1x3x2x4xf32> {
  %m1 = fovea.mask_length %n1 : tensor<1xi32>
  %m2 = fovea.mask_length %n2 : tensor<1xi32>
  %0 = call @one(%q, %m1) : (tensor<1x3x2x4xf32>, !fovea.mask) -> tensor<1x3x2x4xf32>
  %1 = call @one(%0, %m2) : (tensor<1x3x2x4xf32>, !fovea.mask) -> tensor<1x3x2x4xf32>
  %2 = scf.if %if -> tensor<1x3x2x4xf32> {
    %o = fovea.attention %1, %1, %1 mask(%m1) : tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32> -> tensor<1x3x2x4xf32>
    scf.yield %o : tensor<1x3x2x4xf32>
  } else {
    scf.yield %1 : tensor<1x3x2x4xf32>
  }
  %3 = scf.for %k = %i to %i step %i iter_args(%x = %2) -> tensor<1x3x2x4xf32> {
    %o = fovea.attention %x, %x, %x mask(%m1) : tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32> -> tensor<1x3x2x4xf32>
    scf.yield %o : tensor<1x3x2x4xf32>
  }
  return %3 : tensor<1x3x2x4xf32>
}
