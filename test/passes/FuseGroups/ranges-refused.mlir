// RUN: fovea-opt %s --fovea-form-groups --canonicalize --cse > %t.formed
// RUN: fovea-opt %s --fovea-form-groups --fovea-fuse-groups --canonicalize --cse > %t.fused
// RUN: diff %t.formed %t.fused
// RUN: fovea-opt %s --fovea-form-groups --fovea-fuse-groups --canonicalize --cse | FileCheck %s

// Ranges that are no multiples of 16, that overlap, or that are not of all rows. Or the whole is read too.

// CHECK-LABEL: func.func @ragged
// CHECK-COUNT-2: fovea.group
func.func @ragged(%x: tensor<4x32xf32>, %w: tensor<40x32xf32>) -> tensor<4x20xf32> {
  %0 = fovea.linear %x, %w : tensor<4x32xf32>, tensor<40x32xf32> -> tensor<4x40xf32>
  %g = tensor.extract_slice %0[0, 0] [4, 20] [1, 1] : tensor<4x40xf32> to tensor<4x20xf32>
  %u = tensor.extract_slice %0[0, 20] [4, 20] [1, 1] : tensor<4x40xf32> to tensor<4x20xf32>
  %1 = fovea.glu silu %g, %u : tensor<4x20xf32>
  return %1 : tensor<4x20xf32>
}

// CHECK-LABEL: func.func @overlap
// CHECK-COUNT-2: fovea.group
func.func @overlap(%x: tensor<4x32xf32>, %w: tensor<48x32xf32>) -> tensor<4x32xf32> {
  %0 = fovea.linear %x, %w : tensor<4x32xf32>, tensor<48x32xf32> -> tensor<4x48xf32>
  %g = tensor.extract_slice %0[0, 0] [4, 32] [1, 1] : tensor<4x48xf32> to tensor<4x32xf32>
  %u = tensor.extract_slice %0[0, 16] [4, 32] [1, 1] : tensor<4x48xf32> to tensor<4x32xf32>
  %1 = fovea.glu silu %g, %u : tensor<4x32xf32>
  return %1 : tensor<4x32xf32>
}

// CHECK-LABEL: func.func @rows
// CHECK-COUNT-2: fovea.group
func.func @rows(%x: tensor<?x32xf32>, %n: index, %w: tensor<32x32xf32>) -> tensor<?x16xf32> {
  %0 = fovea.linear %x, %w : tensor<?x32xf32>, tensor<32x32xf32> -> tensor<?x32xf32>
  %g = tensor.extract_slice %0[0, 0] [%n, 16] [1, 1] : tensor<?x32xf32> to tensor<?x16xf32>
  %u = tensor.extract_slice %0[0, 16] [%n, 16] [1, 1] : tensor<?x32xf32> to tensor<?x16xf32>
  %1 = fovea.glu silu %g, %u : tensor<?x16xf32>
  return %1 : tensor<?x16xf32>
}

// CHECK-LABEL: func.func @whole
// CHECK-COUNT-2: fovea.group
func.func @whole(%x: tensor<4x32xf32>, %w: tensor<32x32xf32>) -> (tensor<4x32xf32>, tensor<4x16xf32>) {
  %0 = fovea.linear %x, %w : tensor<4x32xf32>, tensor<32x32xf32> -> tensor<4x32xf32>
  %g = tensor.extract_slice %0[0, 0] [4, 16] [1, 1] : tensor<4x32xf32> to tensor<4x16xf32>
  %u = tensor.extract_slice %0[0, 16] [4, 16] [1, 1] : tensor<4x32xf32> to tensor<4x16xf32>
  %1 = fovea.glu silu %g, %u : tensor<4x16xf32>
  return %0, %1 : tensor<4x32xf32>, tensor<4x16xf32>
}
