// RUN: fovea-opt %s --fovea-form-groups --canonicalize --cse > %t.formed
// RUN: fovea-opt %s --fovea-form-groups --fovea-fuse-groups --canonicalize --cse > %t.fused
// RUN: diff %t.formed %t.fused
// RUN: fovea-opt %s --fovea-form-groups --fovea-fuse-groups --canonicalize --cse | FileCheck %s

// f64 activations, and an f64 weight.

// CHECK-LABEL: func.func @wide
// CHECK-COUNT-2: fovea.group
func.func @wide(%x: tensor<4x32xf64>, %w: tensor<32x32xf64>) -> tensor<4x32xf64> {
  %0 = fovea.linear %x, %w : tensor<4x32xf64>, tensor<32x32xf64> -> tensor<4x32xf64>
  %1 = arith.addf %0, %x : tensor<4x32xf64>
  return %1 : tensor<4x32xf64>
}

// CHECK-LABEL: func.func @wide_weight
// CHECK-COUNT-2: fovea.group
func.func @wide_weight(%x: tensor<4x32xf32>, %w: tensor<32x32xf64>) -> tensor<4x32xf32> {
  %0 = fovea.linear %x, %w : tensor<4x32xf32>, tensor<32x32xf64> -> tensor<4x32xf32>
  %1 = arith.addf %0, %x : tensor<4x32xf32>
  return %1 : tensor<4x32xf32>
}

// CHECK-LABEL: func.func @wide_norm
// CHECK-COUNT-2: fovea.group
func.func @wide_norm(%x: tensor<4x32xf64>) -> tensor<4x32xf64> {
  %0 = arith.addf %x, %x : tensor<4x32xf64>
  %1 = fovea.rms_norm %0 eps(1.0e-5) : tensor<4x32xf64>
  return %1 : tensor<4x32xf64>
}
