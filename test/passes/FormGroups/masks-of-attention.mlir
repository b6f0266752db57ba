// RUN: fovea-opt %s --fovea-form-groups --canonicalize | FileCheck %s

// The masks of an attention go in, for each attention; their tensors become operands. Nothing is left outside.

// CHECK-LABEL: func.func @masks
// CHECK-SAME: (%[[Q:.*]]: tensor<?x?x2x4xf32>, %[[N:.*]]: tensor<?xi32>)
// CHECK-NOT: fovea.mask
// CHECK: fovea.group(%[[A:.*]] = %[[Q]], %[[B:.*]] = %[[N]])
// CHECK: %[[L:.*]] = fovea.mask_length %[[B]]
// CHECK: %[[C:.*]] = fovea.mask_causal
// CHECK: %[[M:.*]] = fovea.mask_and(%[[L]], %[[C]])
// CHECK: fovea.attention %[[A]], %[[A]], %[[A]] mask(%[[M]])
// CHECK: fovea.group
// CHECK: fovea.mask_length
// CHECK: fovea.attention
func.func @masks(%q: tensor<?x?x2x4xf32>, %n: tensor<?xi32>) -> tensor<?x?x2x4xf32> {
  %l = fovea.mask_length %n : tensor<?xi32>
  %c = fovea.mask_causal
  %m = fovea.mask_and(%l, %c)
  %o = fovea.attention %q, %q, %q mask(%m) : tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32> -> tensor<?x?x2x4xf32>
  %p = fovea.attention %o, %o, %o mask(%l) : tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32> -> tensor<?x?x2x4xf32>
  return %p : tensor<?x?x2x4xf32>
}
