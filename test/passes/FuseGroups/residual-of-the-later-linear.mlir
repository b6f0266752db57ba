// RUN: fovea-opt %s --fovea-form-groups --fovea-fuse-groups --canonicalize --cse | FileCheck %s
// RUN: fovea-opt %s --fovea-form-groups --fovea-fuse-groups | fovea-opt --verify-roundtrip

// Of two linears that are added, the later one takes the sum; what reads the sum and stood before follows the group.
// Equal names in an entry are equal sizes.

// CHECK-LABEL: func.func @later
// CHECK-SAME: (%[[X:[^:]*]]: tensor<?x32xf32> {{{.*}}}, %[[Z:[^:]*]]: tensor<?x32xf32> {{{.*}}}, %[[W:.*]]: tensor<32x32xf32>)
// CHECK: %[[P:.*]] = fovea.group(%[[A:.*]] = %[[X]]
// CHECK-NEXT: fovea.linear
// CHECK-NEXT: fovea.yield
// CHECK: %[[Y:.*]] = fovea.group(%[[A:.*]] = %[[Z]], %[[C:.*]] = %[[W]], %[[R:.*]] = %[[P]])
// CHECK-NEXT: %[[L:.*]] = fovea.linear %[[A]], %[[C]]
// CHECK-NEXT: arith.addf %[[R]], %[[L]]
func.func @later(%x: tensor<?x32xf32> {fovea.dims = ["n"], fovea.name = "x"}, %z: tensor<?x32xf32> {fovea.dims = ["n"], fovea.name = "z"}, %w: tensor<32x32xf32>) -> tensor<?x32xf32> attributes {fovea.entry} {
  %0 = fovea.linear %x, %w : tensor<?x32xf32>, tensor<32x32xf32> -> tensor<?x32xf32>
  %1 = fovea.linear %z, %w : tensor<?x32xf32>, tensor<32x32xf32> -> tensor<?x32xf32>
  %2 = arith.addf %0, %1 : tensor<?x32xf32>
  return %2 : tensor<?x32xf32>
}
