// RUN: fovea-opt %s --fovea-form-groups --fovea-fuse-groups --canonicalize --cse | FileCheck %s
// RUN: fovea-opt %s --fovea-form-groups --fovea-fuse-groups | fovea-opt --verify-roundtrip

// Frequencies that depend on the longest position.

// CHECK-LABEL: func.func @stretched
// CHECK: fovea.group({{.*}}) : (tensor<2x3x32xf32>, tensor<64x32xf32>) -> (tensor<2x3x2x16xf32>, tensor<2x3x2x16xf32>) {
// CHECK-NOT: fovea.rope
// CHECK: fovea.yield
// CHECK: fovea.group
// CHECK-NEXT: fovea.rope {{.*}} scaling(<dynamic
func.func @stretched(%x: tensor<2x3x32xf32>, %p: tensor<1x3xi32>, %w: tensor<64x32xf32>) -> (tensor<2x3x2x16xf32>, tensor<2x3x2x16xf32>) {
  %0 = fovea.linear %x, %w : tensor<2x3x32xf32>, tensor<64x32xf32> -> tensor<2x3x64xf32>
  %q = tensor.extract_slice %0[0, 0, 0] [2, 3, 32] [1, 1, 1] : tensor<2x3x64xf32> to tensor<2x3x32xf32>
  %k = tensor.extract_slice %0[0, 0, 32] [2, 3, 32] [1, 1, 1] : tensor<2x3x64xf32> to tensor<2x3x32xf32>
  %qe = tensor.expand_shape %q [[0], [1], [2, 3]] output_shape [2, 3, 2, 16] : tensor<2x3x32xf32> into tensor<2x3x2x16xf32>
  %ke = tensor.expand_shape %k [[0], [1], [2, 3]] output_shape [2, 3, 2, 16] : tensor<2x3x32xf32> into tensor<2x3x2x16xf32>
  %qr = fovea.rope half %qe at(%p : tensor<1x3xi32>) dim(16) theta(10000.0) scaling(#fovea.rope_scaling<dynamic, factor = 4.0, original = 32>) : tensor<2x3x2x16xf32>
  return %qr, %ke : tensor<2x3x2x16xf32>, tensor<2x3x2x16xf32>
}
