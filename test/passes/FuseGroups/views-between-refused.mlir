// RUN: fovea-opt %s --fovea-form-groups --canonicalize --cse > %t.formed
// RUN: fovea-opt %s --fovea-form-groups --fovea-fuse-groups --canonicalize --cse > %t.fused
// RUN: diff %t.formed %t.fused
// RUN: fovea-opt %s --fovea-form-groups --fovea-fuse-groups --canonicalize --cse | FileCheck %s

// A view between linear and sum: other shapes, or a cast of open sizes.

// CHECK-LABEL: func.func @reshaped
// CHECK-COUNT-2: fovea.group
func.func @reshaped(%x: tensor<2x3x32xf32>, %r: tensor<6x32xf32>, %w: tensor<32x32xf32>) -> tensor<6x32xf32> {
  %0 = fovea.linear %x, %w : tensor<2x3x32xf32>, tensor<32x32xf32> -> tensor<2x3x32xf32>
  %1 = tensor.collapse_shape %0 [[0, 1], [2]] : tensor<2x3x32xf32> into tensor<6x32xf32>
  %2 = arith.addf %1, %r : tensor<6x32xf32>
  return %2 : tensor<6x32xf32>
}

// CHECK-LABEL: func.func @cast
// CHECK-COUNT-2: fovea.group
func.func @cast(%x: tensor<?x32xf32>, %r: tensor<4x32xf32>, %w: tensor<32x32xf32>) -> tensor<4x32xf32> {
  %0 = fovea.linear %x, %w : tensor<?x32xf32>, tensor<32x32xf32> -> tensor<?x32xf32>
  %1 = tensor.cast %0 : tensor<?x32xf32> to tensor<4x32xf32>
  %2 = arith.addf %1, %r : tensor<4x32xf32>
  return %2 : tensor<4x32xf32>
}
