// RUN: fovea-opt %s --fovea-form-groups --canonicalize --cse > %t.formed
// RUN: fovea-opt %s --fovea-form-groups --fovea-fuse-groups --canonicalize --cse > %t.fused
// RUN: diff %t.formed %t.fused
// RUN: fovea-opt %s --fovea-form-groups --fovea-fuse-groups --canonicalize --cse | FileCheck %s

// A norm that a linear and something else read, as input or residual; a norm with a weight.

// CHECK-LABEL: func.func @norm
// CHECK: fovea.group
// CHECK-NEXT: fovea.rms_norm
// CHECK-NEXT: fovea.yield
// CHECK-COUNT-3: fovea.group
func.func @norm(%x: tensor<4x32xf32>, %w: tensor<32x32xf32>, %n: tensor<32xf32>) -> (tensor<4x32xf32>, tensor<4x32xf32>, tensor<4x32xf32>) {
  %0 = fovea.rms_norm %x eps(1.0e-5) : tensor<4x32xf32>
  %1 = fovea.linear %0, %w : tensor<4x32xf32>, tensor<32x32xf32> -> tensor<4x32xf32>
  %2 = fovea.rms_norm %x weight(%n : tensor<32xf32>) eps(1.0e-5) : tensor<4x32xf32>
  %3 = fovea.linear %2, %w : tensor<4x32xf32>, tensor<32x32xf32> -> tensor<4x32xf32>
  return %0, %1, %3 : tensor<4x32xf32>, tensor<4x32xf32>, tensor<4x32xf32>
}
