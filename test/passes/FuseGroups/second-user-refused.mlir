// RUN: fovea-opt %s --fovea-form-groups --canonicalize --cse > %t.formed
// RUN: fovea-opt %s --fovea-form-groups --fovea-fuse-groups --canonicalize --cse > %t.fused
// RUN: diff %t.formed %t.fused
// RUN: fovea-opt %s --fovea-form-groups --fovea-fuse-groups --canonicalize --cse | FileCheck %s

// Another user of the linear: each op stays in a group of its own.

// CHECK-LABEL: func.func @second_user
// CHECK-COUNT-2: fovea.group
func.func @second_user(%x: tensor<?x32xf32>, %w: tensor<32x32xf32>) -> (tensor<?x32xf32>, tensor<?x32xf32>) {
  %0 = fovea.linear %x, %w : tensor<?x32xf32>, tensor<32x32xf32> -> tensor<?x32xf32>
  %1 = fovea.activation gelu %0 : tensor<?x32xf32>
  return %0, %1 : tensor<?x32xf32>, tensor<?x32xf32>
}
