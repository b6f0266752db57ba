// RUN: fovea-opt %s --fovea-form-groups --canonicalize --cse > %t.formed
// RUN: fovea-opt %s --fovea-form-groups --fovea-fuse-groups --canonicalize --cse > %t.fused
// RUN: diff %t.formed %t.fused
// RUN: fovea-opt %s --fovea-form-groups --fovea-fuse-groups --canonicalize --cse | FileCheck %s

// The user stands in a branch, where it may not run.

// CHECK-LABEL: func.func @branch
// CHECK-COUNT-2: fovea.group
func.func @branch(%x: tensor<4x32xf32>, %w: tensor<32x32xf32>, %if: i1) -> tensor<4x32xf32> {
  %0 = fovea.linear %x, %w : tensor<4x32xf32>, tensor<32x32xf32> -> tensor<4x32xf32>
  %1 = scf.if %if -> tensor<4x32xf32> {
    %2 = fovea.activation gelu %0 : tensor<4x32xf32>
    scf.yield %2 : tensor<4x32xf32>
  } else {
    scf.yield %x : tensor<4x32xf32>
  }
  return %1 : tensor<4x32xf32>
}
