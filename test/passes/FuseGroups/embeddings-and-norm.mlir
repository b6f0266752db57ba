// RUN: fovea-opt %s --fovea-form-groups --fovea-fuse-groups --canonicalize --cse | FileCheck %s
// RUN: fovea-opt %s --fovea-form-groups --fovea-fuse-groups | fovea-opt --verify-roundtrip

// Embeddings, learned positions over the batch, their sum and its norm. The positions need no memory.

// CHECK-LABEL: func.func @embeddings
// CHECK-SAME: (%[[I:[^:]*]]: tensor<?x?xi64> {{{.*}}}, %[[J:[^:]*]]: tensor<?x?xi64> {{{.*}}}, %[[T:.*]]: tensor<9x20xf32>, %[[U:.*]]: tensor<2x20xbf16>, %[[P:.*]]: tensor<7x20xf32>, %[[W:.*]]: tensor<20xf32>)
// CHECK-NOT: fovea.group
// CHECK: fovea.group(
// CHECK-DAG: %[[PS:.*]] = fovea.positions from %{{.*}} count
// CHECK-DAG: %[[PL:.*]] = fovea.position_learned %[[PS]]
// CHECK-DAG: %[[PC:.*]] = tensor.collapse_shape %[[PL]]
// CHECK-DAG: %[[PB:.*]] = linalg.broadcast ins(%[[PC]]
// CHECK-DAG: %[[E:.*]] = fovea.embedding %{{.*}} : tensor<?x?xi64>, tensor<9x20xf32>
// CHECK-DAG: %[[F:.*]] = fovea.embedding %{{.*}} : tensor<?x?xi64>, tensor<2x20xbf16>
// CHECK: %[[S:.*]] = arith.addf %[[E]], %[[F]]
// CHECK: %[[R:.*]] = arith.addf %[[S]], %[[PB]]
// CHECK: %[[N:.*]] = fovea.layer_norm %[[R]]
// CHECK: fovea.yield %[[N]]
// CHECK-NOT: fovea.group
func.func @embeddings(%i: tensor<?x?xi64> {fovea.dims = ["b", "s"]}, %j: tensor<?x?xi64> {fovea.dims = ["b", "s"]}, %t: tensor<9x20xf32>, %u: tensor<2x20xbf16>, %p: tensor<7x20xf32>, %w: tensor<20xf32>) -> tensor<?x?x20xf32> attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %i, %c0 : tensor<?x?xi64>
  %s = tensor.dim %i, %c1 : tensor<?x?xi64>
  %0 = fovea.embedding %i, %t : tensor<?x?xi64>, tensor<9x20xf32> -> tensor<?x?x20xf32>
  %1 = fovea.embedding %j, %u : tensor<?x?xi64>, tensor<2x20xbf16> -> tensor<?x?x20xf32>
  %2 = arith.addf %0, %1 : tensor<?x?x20xf32>
  %ps = fovea.positions from %c0 count %s : tensor<1x?xi32>
  %pl = fovea.position_learned %ps, %p : tensor<1x?xi32>, tensor<7x20xf32> -> tensor<1x?x20xf32>
  %pc = tensor.collapse_shape %pl [[0, 1], [2]] : tensor<1x?x20xf32> into tensor<?x20xf32>
  %e = tensor.empty(%b, %s) : tensor<?x?x20xf32>
  %pb = linalg.broadcast ins(%pc : tensor<?x20xf32>) outs(%e : tensor<?x?x20xf32>) dimensions = [0]
  %3 = arith.addf %2, %pb : tensor<?x?x20xf32>
  %4 = fovea.layer_norm %3 weight(%w : tensor<20xf32>) eps(1.0e-12) : tensor<?x?x20xf32>
  return %4 : tensor<?x?x20xf32>
}
