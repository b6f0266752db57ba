// RUN: fovea-opt %s --fovea-form-groups --canonicalize --cse > %t.formed
// RUN: fovea-opt %s --fovea-form-groups --fovea-fuse-groups --canonicalize --cse > %t.fused
// RUN: diff %t.formed %t.fused
// RUN: fovea-opt %s --fovea-form-groups --fovea-fuse-groups --canonicalize --cse | FileCheck %s

// Sizes that may differ: two arguments without names, or with different ones.

// CHECK-LABEL: func.func @unnamed
// CHECK-COUNT-2: fovea.group
func.func @unnamed(%x: tensor<?x32xf32>, %r: tensor<?x32xf32>, %w: tensor<32x32xf32>) -> tensor<?x32xf32> {
  %0 = fovea.linear %x, %w : tensor<?x32xf32>, tensor<32x32xf32> -> tensor<?x32xf32>
  %1 = arith.addf %r, %0 : tensor<?x32xf32>
  return %1 : tensor<?x32xf32>
}

// CHECK-LABEL: func.func @named
// CHECK-COUNT-2: fovea.group
func.func @named(%x: tensor<?x32xf32> {fovea.dims = ["n"]}, %r: tensor<?x32xf32> {fovea.dims = ["m"]}, %w: tensor<32x32xf32>) -> tensor<?x32xf32> attributes {fovea.entry} {
  %0 = fovea.linear %x, %w : tensor<?x32xf32>, tensor<32x32xf32> -> tensor<?x32xf32>
  %1 = arith.addf %r, %0 : tensor<?x32xf32>
  return %1 : tensor<?x32xf32>
}

// CHECK-LABEL: func.func @gathered
// CHECK-COUNT-3: fovea.group
func.func @gathered(%i: tensor<?x?xi64>, %j: tensor<?x?xi64>, %t: tensor<9x20xf32>) -> tensor<?x?x20xf32> {
  %0 = fovea.embedding %i, %t : tensor<?x?xi64>, tensor<9x20xf32> -> tensor<?x?x20xf32>
  %1 = fovea.embedding %j, %t : tensor<?x?xi64>, tensor<9x20xf32> -> tensor<?x?x20xf32>
  %2 = arith.addf %0, %1 : tensor<?x?x20xf32>
  return %2 : tensor<?x?x20xf32>
}
