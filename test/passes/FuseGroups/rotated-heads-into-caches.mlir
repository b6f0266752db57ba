// RUN: fovea-opt %s --fovea-form-groups --fovea-fuse-groups --canonicalize --cse | FileCheck %s
// RUN: fovea-opt %s --fovea-form-groups --fovea-fuse-groups | fovea-opt --verify-roundtrip

// Query, key and value, with rotation and caches; one group of positions is computed inside, and stays for the
// attention. What measures a cache between the parts follows.

// CHECK-LABEL: func.func @rotated
// CHECK-SAME: (%[[X:.*]]: tensor<?x?x32xf32>, %[[KC:.*]]: !fovea.cache<key, 1x32xf32>, %[[VC:.*]]: !fovea.cache<value, 1x32xf32>, %[[W:.*]]: tensor<128x32xf32>)
// CHECK-DAG: %[[N:.*]] = fovea.cache_length %[[KC]]
// CHECK-DAG: %[[S:.*]] = tensor.dim %[[X]]
// CHECK: %[[P:.*]] = fovea.group
// CHECK-NEXT: fovea.positions
// CHECK: %[[Y:.*]]:3 = fovea.group(%[[A:.*]] = %[[X]], %[[B:.*]] = %[[W]], %[[F:.*]] = %[[N]], %[[C:.*]] = %[[S]], %[[K:.*]] = %[[KC]], %[[V:.*]] = %[[VC]])
// CHECK-SAME: -> (tensor<?x?x2x32xf32>, !fovea.cache<key, 1x32xf32>, !fovea.cache<value, 1x32xf32>) {
// CHECK-DAG: %[[L:.*]] = fovea.linear %[[A]], %[[B]]
// CHECK-DAG: %[[N0:.*]] = tensor.dim %[[A]], %c0
// CHECK-DAG: %[[N1:.*]] = tensor.dim %[[A]], %c1
// CHECK-DAG: %[[QS:.*]] = tensor.extract_slice %[[L]][0, 0, 0] [%[[N0]], %[[N1]], 64] [1, 1, 1]
// CHECK-DAG: %[[KS:.*]] = tensor.extract_slice %[[L]][0, 0, 64] [%[[N0]], %[[N1]], 32] [1, 1, 1]
// CHECK-DAG: %[[VS:.*]] = tensor.extract_slice %[[L]][0, 0, 96] [%[[N0]], %[[N1]], 32] [1, 1, 1]
// CHECK-DAG: %[[QE:.*]] = tensor.expand_shape %[[QS]] {{\[}}[0], [1], [2, 3]] output_shape [%[[N0]], %[[N1]], 2, 32]
// CHECK-DAG: %[[KE:.*]] = tensor.expand_shape %[[KS]] {{\[}}[0], [1], [2, 3]] output_shape [%[[N0]], %[[N1]], 1, 32]
// CHECK-DAG: %[[VE:.*]] = tensor.expand_shape %[[VS]] {{\[}}[0], [1], [2, 3]] output_shape [%[[N0]], %[[N1]], 1, 32]
// CHECK: %[[I:.*]] = fovea.positions from %[[F]] count %[[C]]
// CHECK: %[[QR:.*]] = fovea.rope half %[[QE]] at(%[[I]] : tensor<1x?xi32>)
// CHECK: %[[KR:.*]] = fovea.rope half %[[KE]] at(%[[I]] : tensor<1x?xi32>)
// CHECK: %[[KA:.*]] = fovea.cache_append %[[K]], %[[KR]]
// CHECK: %[[VA:.*]] = fovea.cache_append %[[V]], %[[VE]]
// CHECK: fovea.yield %[[QR]], %[[KA]], %[[VA]]
// CHECK: fovea.cache_length %[[Y]]#1
// CHECK: fovea.group({{.*}} = %[[Y]]#0, {{.*}} = %[[Y]]#1, {{.*}} = %[[Y]]#2, {{.*}} = %[[P]])
func.func @rotated(%x: tensor<?x?x32xf32>, %kc: !fovea.cache<key, 1x32xf32>, %vc: !fovea.cache<value, 1x32xf32>, %w: tensor<128x32xf32>) -> (tensor<?x?x2x32xf32>, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %x, %c0 : tensor<?x?x32xf32>
  %s = tensor.dim %x, %c1 : tensor<?x?x32xf32>
  %0 = fovea.linear %x, %w : tensor<?x?x32xf32>, tensor<128x32xf32> -> tensor<?x?x128xf32>
  %v = tensor.extract_slice %0[0, 0, 96] [%b, %s, 32] [1, 1, 1] : tensor<?x?x128xf32> to tensor<?x?x32xf32>
  %q = tensor.extract_slice %0[0, 0, 0] [%b, %s, 64] [1, 1, 1] : tensor<?x?x128xf32> to tensor<?x?x64xf32>
  %k = tensor.extract_slice %0[0, 0, 64] [%b, %s, 32] [1, 1, 1] : tensor<?x?x128xf32> to tensor<?x?x32xf32>
  %qe = tensor.expand_shape %q [[0], [1], [2, 3]] output_shape [%b, %s, 2, 32] : tensor<?x?x64xf32> into tensor<?x?x2x32xf32>
  %ke = tensor.expand_shape %k [[0], [1], [2, 3]] output_shape [%b, %s, 1, 32] : tensor<?x?x32xf32> into tensor<?x?x1x32xf32>
  %ve = tensor.expand_shape %v [[0], [1], [2, 3]] output_shape [%b, %s, 1, 32] : tensor<?x?x32xf32> into tensor<?x?x1x32xf32>
  %n = fovea.cache_length %kc : !fovea.cache<key, 1x32xf32>
  %p = fovea.positions from %n count %s : tensor<1x?xi32>
  %qr = fovea.rope half %qe at(%p : tensor<1x?xi32>) dim(32) theta(10000.0) : tensor<?x?x2x32xf32>
  %kr = fovea.rope half %ke at(%p : tensor<1x?xi32>) dim(32) theta(10000.0) : tensor<?x?x1x32xf32>
  %ka = fovea.cache_append %kc, %kr : !fovea.cache<key, 1x32xf32>, tensor<?x?x1x32xf32>
  %l = fovea.cache_length %ka : !fovea.cache<key, 1x32xf32>
  %va = fovea.cache_append %vc, %ve : !fovea.cache<value, 1x32xf32>, tensor<?x?x1x32xf32>
  %m = fovea.mask_causal
  %o = fovea.attention %qr, %ka, %va q_pos(%p : tensor<1x?xi32>) mask(%m) : tensor<?x?x2x32xf32>, !fovea.cache<key, 1x32xf32>, !fovea.cache<value, 1x32xf32> -> tensor<?x?x2x32xf32>
  return %o, %l : tensor<?x?x2x32xf32>, index
}
