// RUN: fovea-opt %s --fovea-form-groups --canonicalize --cse > %t.formed
// RUN: fovea-opt %s --fovea-form-groups --fovea-fuse-groups --canonicalize --cse > %t.fused
// RUN: diff %t.formed %t.fused
// RUN: fovea-opt %s --fovea-form-groups --fovea-fuse-groups --canonicalize --cse | FileCheck %s

// Groups that have a schedule stay what it was made for.

// CHECK-LABEL: func.func @scheduled
// CHECK-COUNT-2: fovea.group
func.func @scheduled(%x: tensor<4x32xf32>, %w: tensor<32x32xf32>) -> tensor<4x32xf32> {
  %0 = fovea.group(%a = %x, %b = %w) schedule(#fovea.loops<parallel = 2>) : (tensor<4x32xf32>, tensor<32x32xf32>) -> tensor<4x32xf32> {
    %2 = fovea.linear %a, %b : tensor<4x32xf32>, tensor<32x32xf32> -> tensor<4x32xf32>
    fovea.yield %2 : tensor<4x32xf32>
  }
  %1 = fovea.activation gelu %0 : tensor<4x32xf32>
  return %1 : tensor<4x32xf32>
}
