// RUN: fovea-opt %s --fovea-form-groups --fovea-fuse-groups --canonicalize --cse | FileCheck %s
// RUN: fovea-opt %s --fovea-form-groups --fovea-fuse-groups | fovea-opt --verify-roundtrip

// A gate; its halves in the other order. The slices' sizes are the input's, whatever they were computed from. Then the
// residual.

// CHECK-LABEL: func.func @gate
// CHECK-SAME: (%[[X:.*]]: tensor<?x?x32xf32>, %[[R:.*]]: tensor<?x?x32xf32>, %[[W:.*]]: tensor<96x32xf16>, %[[V:.*]]: tensor<32x48xf32>)
// CHECK: %[[S:.*]] = fovea.group
// CHECK-NEXT: arith.addf
// CHECK: %[[Y:.*]] = fovea.group(%[[A:.*]] = %[[S]], %[[C:.*]] = %[[W]]) : (tensor<?x?x32xf32>, tensor<96x32xf16>) -> tensor<?x?x48xf32> {
// CHECK: %[[L:.*]] = fovea.linear %[[A]], %[[C]]
// CHECK: %[[N0:.*]] = tensor.dim %[[A]], %{{.*}}
// CHECK: %[[N1:.*]] = tensor.dim %[[A]], %{{.*}}
// CHECK: %[[U:.*]] = tensor.extract_slice %[[L]][0, 0, 0] [%[[N0]], %[[N1]], 48] [1, 1, 1]
// CHECK: %[[G:.*]] = tensor.extract_slice %[[L]][0, 0, 48] [%[[N0]], %[[N1]], 48] [1, 1, 1]
// CHECK: %[[Q:.*]] = fovea.glu silu %[[G]], %[[U]]
// CHECK-NEXT: fovea.yield %[[Q]]
// CHECK: fovea.group(%[[A:.*]] = %[[Y]], %[[C:.*]] = %[[V]], %[[D:.*]] = %[[S]])
// CHECK-NEXT: fovea.linear
// CHECK-NEXT: arith.addf %[[D]]
// CHECK-NOT: fovea.group
func.func @gate(%x: tensor<?x?x32xf32>, %r: tensor<?x?x32xf32>, %w: tensor<96x32xf16>, %v: tensor<32x48xf32>) -> tensor<?x?x32xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = arith.addf %x, %r : tensor<?x?x32xf32>
  %1 = fovea.linear %0, %w : tensor<?x?x32xf32>, tensor<96x32xf16> -> tensor<?x?x96xf32>
  %b = tensor.dim %0, %c0 : tensor<?x?x32xf32>
  %s = tensor.dim %x, %c1 : tensor<?x?x32xf32>
  %u = tensor.extract_slice %1[0, 0, 0] [%b, %s, 48] [1, 1, 1] : tensor<?x?x96xf32> to tensor<?x?x48xf32>
  %g = tensor.extract_slice %1[0, 0, 48] [%b, %s, 48] [1, 1, 1] : tensor<?x?x96xf32> to tensor<?x?x48xf32>
  %2 = fovea.glu silu %g, %u : tensor<?x?x48xf32>
  %3 = fovea.linear %2, %v : tensor<?x?x48xf32>, tensor<32x48xf32> -> tensor<?x?x32xf32>
  %4 = arith.addf %0, %3 : tensor<?x?x32xf32>
  return %4 : tensor<?x?x32xf32>
}
