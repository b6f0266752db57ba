// RUN: fovea-opt %s --fovea-form-groups --fovea-fuse-groups --canonicalize --cse | FileCheck %s
// RUN: fovea-opt %s --fovea-form-groups --fovea-fuse-groups | fovea-opt --verify-roundtrip

// Heads that are no multiple of 16: ranges of columns, and no further. Rotation that is not of halves of the head, or
// whose frequencies depend on the longest position, stays outside; given positions are an operand. A projection of its
// own needs no range.

// CHECK-LABEL: func.func @asfar
// CHECK: %[[Y:.*]]:2 = fovea.group({{.*}}) : (tensor<?x?x32xf32>, tensor<96x32xf32>) -> (tensor<?x?x48xf32>, tensor<?x?x48xf32>) {
// CHECK: tensor.expand_shape %[[Y]]#0
// CHECK: tensor.expand_shape %[[Y]]#1
// CHECK: fovea.group
// CHECK-NEXT: fovea.cache_append
// CHECK: %[[Z:.*]]:3 = fovea.group({{.*}}, %[[P:.*]] = %{{.*}}) : (tensor<?x?x32xf32>, tensor<96x32xf32>, tensor<1x?xi32>) -> (tensor<?x?x2x16xf32>, tensor<?x?x2x16xf32>, tensor<?x?x2x16xf32>) {
// CHECK: fovea.rope half %{{.*}} at(%[[P]] : tensor<1x?xi32>) dim(16)
// CHECK-NOT: fovea.rope
// CHECK: fovea.group
// CHECK-NEXT: fovea.rope interleaved
// CHECK: fovea.group
// CHECK-NEXT: fovea.rope half {{.*}} dim(8)
// CHECK: fovea.group
// CHECK: fovea.linear
// CHECK: fovea.cache_append
// CHECK: fovea.yield
func.func @asfar(%x: tensor<?x?x32xf32> {fovea.dims = ["b", "s"]}, %p: tensor<1x?xi32> {fovea.dims = ["s"]}, %kc: !fovea.cache<key, 4x12xf32>, %vc: !fovea.cache<value, 2x16xf32>, %w: tensor<96x32xf32>, %u: tensor<32x32xf32>)
    -> (tensor<?x?x4x12xf32>, !fovea.cache<key, 4x12xf32>, tensor<?x?x2x16xf32>, tensor<?x?x2x16xf32>, tensor<?x?x2x16xf32>, !fovea.cache<value, 2x16xf32>) attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %x, %c0 : tensor<?x?x32xf32>
  %s = tensor.dim %x, %c1 : tensor<?x?x32xf32>
  %0 = fovea.linear %x, %w : tensor<?x?x32xf32>, tensor<96x32xf32> -> tensor<?x?x96xf32>
  %q = tensor.extract_slice %0[0, 0, 0] [%b, %s, 48] [1, 1, 1] : tensor<?x?x96xf32> to tensor<?x?x48xf32>
  %k = tensor.extract_slice %0[0, 0, 48] [%b, %s, 48] [1, 1, 1] : tensor<?x?x96xf32> to tensor<?x?x48xf32>
  %qe = tensor.expand_shape %q [[0], [1], [2, 3]] output_shape [%b, %s, 4, 12] : tensor<?x?x48xf32> into tensor<?x?x4x12xf32>
  %ke = tensor.expand_shape %k [[0], [1], [2, 3]] output_shape [%b, %s, 4, 12] : tensor<?x?x48xf32> into tensor<?x?x4x12xf32>
  %ka = fovea.cache_append %kc, %ke : !fovea.cache<key, 4x12xf32>, tensor<?x?x4x12xf32>
  %1 = fovea.linear %x, %w : tensor<?x?x32xf32>, tensor<96x32xf32> -> tensor<?x?x96xf32>
  %f = tensor.extract_slice %1[0, 0, 0] [%b, %s, 32] [1, 1, 1] : tensor<?x?x96xf32> to tensor<?x?x32xf32>
  %g = tensor.extract_slice %1[0, 0, 32] [%b, %s, 32] [1, 1, 1] : tensor<?x?x96xf32> to tensor<?x?x32xf32>
  %h = tensor.extract_slice %1[0, 0, 64] [%b, %s, 32] [1, 1, 1] : tensor<?x?x96xf32> to tensor<?x?x32xf32>
  %fe = tensor.expand_shape %f [[0], [1], [2, 3]] output_shape [%b, %s, 2, 16] : tensor<?x?x32xf32> into tensor<?x?x2x16xf32>
  %ge = tensor.expand_shape %g [[0], [1], [2, 3]] output_shape [%b, %s, 2, 16] : tensor<?x?x32xf32> into tensor<?x?x2x16xf32>
  %he = tensor.expand_shape %h [[0], [1], [2, 3]] output_shape [%b, %s, 2, 16] : tensor<?x?x32xf32> into tensor<?x?x2x16xf32>
  %fr = fovea.rope half %fe at(%p : tensor<1x?xi32>) dim(16) theta(10000.0) : tensor<?x?x2x16xf32>
  %gr = fovea.rope interleaved %ge at(%p : tensor<1x?xi32>) dim(16) theta(10000.0) : tensor<?x?x2x16xf32>
  %hr = fovea.rope half %he at(%p : tensor<1x?xi32>) dim(8) theta(10000.0) : tensor<?x?x2x16xf32>
  %2 = fovea.linear %x, %u : tensor<?x?x32xf32>, tensor<32x32xf32> -> tensor<?x?x32xf32>
  %ve = tensor.expand_shape %2 [[0], [1], [2, 3]] output_shape [%b, %s, 2, 16] : tensor<?x?x32xf32> into tensor<?x?x2x16xf32>
  %va = fovea.cache_append %vc, %ve : !fovea.cache<value, 2x16xf32>, tensor<?x?x2x16xf32>
  return %qe, %ka, %fr, %gr, %hr, %va : tensor<?x?x4x12xf32>, !fovea.cache<key, 4x12xf32>, tensor<?x?x2x16xf32>, tensor<?x?x2x16xf32>, tensor<?x?x2x16xf32>, !fovea.cache<value, 2x16xf32>
}
