// RUN: fovea-opt %s --fovea-localize-masks --fovea-verify-graph | FileCheck %s

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
