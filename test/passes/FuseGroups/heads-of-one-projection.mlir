// RUN: fovea-opt %s --fovea-form-groups --fovea-fuse-groups --canonicalize --cse | FileCheck %s
// RUN: fovea-opt %s --fovea-form-groups --fovea-fuse-groups | fovea-opt --verify-roundtrip

// Without rotation and caches: dense tensors for the attention. The decoding step's static length.

// CHECK-LABEL: func.func @split
// CHECK: fovea.group({{.*}}) : (tensor<?x1x32xf32>, tensor<96x32xf32>) -> (tensor<?x1x2x16xf32>, tensor<?x1x2x16xf32>, tensor<?x1x2x16xf32>) {
// CHECK: fovea.linear
// CHECK-COUNT-3: tensor.expand_shape
// CHECK: fovea.group
// CHECK-NEXT: fovea.attention
func.func @split(%x: tensor<?x1x32xf32>, %w: tensor<96x32xf32>) -> tensor<?x1x2x16xf32> {
  %c0 = arith.constant 0 : index
  %b = tensor.dim %x, %c0 : tensor<?x1x32xf32>
  %0 = fovea.linear %x, %w : tensor<?x1x32xf32>, tensor<96x32xf32> -> tensor<?x1x96xf32>
  %q = tensor.extract_slice %0[0, 0, 0] [%b, 1, 32] [1, 1, 1] : tensor<?x1x96xf32> to tensor<?x1x32xf32>
  %k = tensor.extract_slice %0[0, 0, 32] [%b, 1, 32] [1, 1, 1] : tensor<?x1x96xf32> to tensor<?x1x32xf32>
  %v = tensor.extract_slice %0[0, 0, 64] [%b, 1, 32] [1, 1, 1] : tensor<?x1x96xf32> to tensor<?x1x32xf32>
  %qe = tensor.expand_shape %q [[0], [1], [2, 3]] output_shape [%b, 1, 2, 16] : tensor<?x1x32xf32> into tensor<?x1x2x16xf32>
  %ke = tensor.expand_shape %k [[0], [1], [2, 3]] output_shape [%b, 1, 2, 16] : tensor<?x1x32xf32> into tensor<?x1x2x16xf32>
  %ve = tensor.expand_shape %v [[0], [1], [2, 3]] output_shape [%b, 1, 2, 16] : tensor<?x1x32xf32> into tensor<?x1x2x16xf32>
  %o = fovea.attention %qe, %ke, %ve : tensor<?x1x2x16xf32>, tensor<?x1x2x16xf32>, tensor<?x1x2x16xf32> -> tensor<?x1x2x16xf32>
  return %o : tensor<?x1x2x16xf32>
}
