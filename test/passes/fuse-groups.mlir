// RUN: fovea-opt %s --fovea-form-groups --fovea-fuse-groups --canonicalize --cse --split-input-file | FileCheck %s
// RUN: fovea-opt %s --fovea-form-groups --fovea-fuse-groups --split-input-file | fovea-opt --split-input-file --verify-roundtrip

// Epilogues: an activation; a chain, in which the residual is the first operand. A narrow weight and a bias.

// CHECK-LABEL: func.func @epilogue
// CHECK-SAME: (%[[X:.*]]: tensor<?x?x32xf32>, %[[W:.*]]: tensor<64x32xf32>, %[[V:.*]]: tensor<32x64xbf16>, %[[B:.*]]: tensor<32xf32>)
// CHECK: %[[H:.*]] = fovea.group(%[[A:.*]] = %[[X]], %[[C:.*]] = %[[W]]) : (tensor<?x?x32xf32>, tensor<64x32xf32>) -> tensor<?x?x64xf32> {
// CHECK-NEXT: %[[L:.*]] = fovea.linear %[[A]], %[[C]]
// CHECK-NEXT: %[[G:.*]] = fovea.activation gelu %[[L]]
// CHECK-NEXT: fovea.yield %[[G]]
// CHECK: %[[Y:.*]] = fovea.group(%[[A:.*]] = %[[H]], %[[C:.*]] = %[[V]], %[[D:.*]] = %[[B]], %[[R:.*]] = %[[X]])
// CHECK-NEXT: %[[L:.*]] = fovea.linear %[[A]], %[[C]] bias(%[[D]]
// CHECK-NEXT: %[[G:.*]] = fovea.activation silu %[[L]]
// CHECK-NEXT: %[[M:.*]] = arith.mulf %[[G]], %[[R]]
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[R]], %[[M]]
// CHECK-NEXT: fovea.yield %[[S]]
// CHECK: return %[[Y]]
func.func @epilogue(%x: tensor<?x?x32xf32>, %w: tensor<64x32xf32>, %v: tensor<32x64xbf16>, %b: tensor<32xf32>) -> tensor<?x?x32xf32> {
  %0 = fovea.linear %x, %w : tensor<?x?x32xf32>, tensor<64x32xf32> -> tensor<?x?x64xf32>
  %1 = fovea.activation gelu %0 : tensor<?x?x64xf32>
  %2 = fovea.linear %1, %v bias(%b : tensor<32xf32>) : tensor<?x?x64xf32>, tensor<32x64xbf16> -> tensor<?x?x32xf32>
  %3 = fovea.activation silu %2 : tensor<?x?x32xf32>
  %4 = arith.mulf %3, %x : tensor<?x?x32xf32>
  %5 = arith.addf %x, %4 : tensor<?x?x32xf32>
  return %5 : tensor<?x?x32xf32>
}

// -----

// Halves too; and a sum with its norm.

// CHECK-LABEL: func.func @halves
// CHECK: fovea.group
// CHECK-NEXT: fovea.linear
// CHECK-NEXT: fovea.activation
// CHECK-NEXT: arith.addf
// CHECK: fovea.group
// CHECK-NEXT: arith.addf
// CHECK-NEXT: fovea.layer_norm
// CHECK-NOT: fovea.group
func.func @halves(%x: tensor<?x32xf16>, %w: tensor<32x32xf16>, %g: tensor<32xf16>) -> (tensor<?x32xf16>, tensor<?x32xf16>) {
  %0 = fovea.linear %x, %w : tensor<?x32xf16>, tensor<32x32xf16> -> tensor<?x32xf16>
  %1 = fovea.activation gelu %0 : tensor<?x32xf16>
  %2 = arith.addf %1, %x : tensor<?x32xf16>
  %3 = arith.addf %x, %x : tensor<?x32xf16>
  %4 = fovea.layer_norm %3 weight(%g : tensor<32xf16>) eps(1.0e-5) : tensor<?x32xf16>
  return %2, %4 : tensor<?x32xf16>, tensor<?x32xf16>
}

// -----

// Of two linears that are added, the later one takes the sum; what reads the sum and stood before follows the group. Equal names in an entry are equal sizes.

// CHECK-LABEL: func.func @later
// CHECK-SAME: (%[[X:[^:]*]]: tensor<?x32xf32> {{{.*}}}, %[[Z:[^:]*]]: tensor<?x32xf32> {{{.*}}}, %[[W:.*]]: tensor<32x32xf32>)
// CHECK: %[[P:.*]] = fovea.group(%[[A:.*]] = %[[X]]
// CHECK-NEXT: fovea.linear
// CHECK-NEXT: fovea.yield
// CHECK: %[[Y:.*]] = fovea.group(%[[A:.*]] = %[[Z]], %[[C:.*]] = %[[W]], %[[R:.*]] = %[[P]])
// CHECK-NEXT: %[[L:.*]] = fovea.linear %[[A]], %[[C]]
// CHECK-NEXT: arith.addf %[[R]], %[[L]]
func.func @later(%x: tensor<?x32xf32> {fovea.dims = ["n"], fovea.name = "x"}, %z: tensor<?x32xf32> {fovea.dims = ["n"], fovea.name = "z"}, %w: tensor<32x32xf32>) -> tensor<?x32xf32> attributes {fovea.entry} {
  %0 = fovea.linear %x, %w : tensor<?x32xf32>, tensor<32x32xf32> -> tensor<?x32xf32>
  %1 = fovea.linear %z, %w : tensor<?x32xf32>, tensor<32x32xf32> -> tensor<?x32xf32>
  %2 = arith.addf %0, %1 : tensor<?x32xf32>
  return %2 : tensor<?x32xf32>
}

// -----

// The place of the greatest logit, beside the logits if others read them.

// CHECK-LABEL: func.func @argmax
// CHECK: %[[Y:.*]]:2 = fovea.group({{.*}}) : (tensor<?x32xf32>, tensor<50x32xbf16>) -> (tensor<?x50xf32>, tensor<?xi64>) {
// CHECK-NEXT: %[[L:.*]] = fovea.linear
// CHECK-NEXT: %[[T:.*]] = fovea.argmax %[[L]]
// CHECK-NEXT: fovea.yield %[[L]], %[[T]]
// CHECK-NOT: fovea.group
// CHECK: return %[[Y]]#0, %[[Y]]#1
func.func @argmax(%x: tensor<?x32xf32>, %w: tensor<50x32xbf16>) -> (tensor<?x50xf32>, tensor<?xi64>) {
  %0 = fovea.linear %x, %w : tensor<?x32xf32>, tensor<50x32xbf16> -> tensor<?x50xf32>
  %1 = fovea.argmax %0 : tensor<?x50xf32> -> tensor<?xi64>
  return %0, %1 : tensor<?x50xf32>, tensor<?xi64>
}

// CHECK-LABEL: func.func @argmax_alone
// CHECK: %[[Y:.*]] = fovea.group({{.*}}) -> tensor<?x?xi64> {
// CHECK-NEXT: %[[N:.*]] = fovea.rms_norm
// CHECK-NEXT: %[[L:.*]] = fovea.linear %[[N]]
// CHECK-NEXT: %[[E:.*]] = fovea.activation tanh %[[L]]
// CHECK-NEXT: %[[T:.*]] = fovea.argmax %[[E]]
// CHECK-NEXT: fovea.yield %[[T]]
// CHECK-NOT: fovea.group
// CHECK: return %[[Y]]
func.func @argmax_alone(%x: tensor<?x?x32xf32>, %w: tensor<50x32xf32>) -> tensor<?x?xi64> {
  %0 = fovea.rms_norm %x eps(1.0e-5) : tensor<?x?x32xf32>
  %1 = fovea.linear %0, %w : tensor<?x?x32xf32>, tensor<50x32xf32> -> tensor<?x?x50xf32>
  %2 = fovea.activation tanh %1 : tensor<?x?x50xf32>
  %3 = fovea.argmax %2 : tensor<?x?x50xf32> -> tensor<?x?xi64>
  return %3 : tensor<?x?xi64>
}

// -----

// A gate; its halves in the other order. The slices' sizes are the input's, whatever they were computed from. Then the residual.

// CHECK-LABEL: func.func @gate
// CHECK-SAME: (%[[X:.*]]: tensor<?x?x32xf32>, %[[R:.*]]: tensor<?x?x32xf32>, %[[W:.*]]: tensor<96x32xf16>, %[[V:.*]]: tensor<32x48xf32>)
// CHECK: %[[S:.*]] = fovea.group
// CHECK-NEXT: arith.addf
// CHECK: %[[Y:.*]] = fovea.group(%[[A:.*]] = %[[S]], %[[C:.*]] = %[[W]]) : (tensor<?x?x32xf32>, tensor<96x32xf16>) -> tensor<?x?x48xf32> {
// CHECK: %[[L:.*]] = fovea.linear %[[A]], %[[C]]
// CHECK: %[[N0:.*]] = tensor.dim %[[A]], %{{.*}}
// CHECK: %[[N1:.*]] = tensor.dim %[[A]], %{{.*}}
// CHECK: %[[U:.*]] = tensor.extract_slice %[[L]][0, 0, 0] [%[[N0]], %[[N1]], 48] [1, 1, 1]
// CHECK: %[[G:.*]] = tensor.extract_slice %[[L]][0, 0, 48] [%[[N0]], %[[N1]], 48] [1, 1, 1]
// CHECK: %[[Q:.*]] = fovea.glu silu %[[G]], %[[U]]
// CHECK-NEXT: fovea.yield %[[Q]]
// CHECK: fovea.group(%[[A:.*]] = %[[Y]], %[[C:.*]] = %[[V]], %[[D:.*]] = %[[S]])
// CHECK-NEXT: fovea.linear
// CHECK-NEXT: arith.addf %[[D]]
// CHECK-NOT: fovea.group
func.func @gate(%x: tensor<?x?x32xf32>, %r: tensor<?x?x32xf32>, %w: tensor<96x32xf16>, %v: tensor<32x48xf32>) -> tensor<?x?x32xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = arith.addf %x, %r : tensor<?x?x32xf32>
  %1 = fovea.linear %0, %w : tensor<?x?x32xf32>, tensor<96x32xf16> -> tensor<?x?x96xf32>
  %b = tensor.dim %0, %c0 : tensor<?x?x32xf32>
  %s = tensor.dim %x, %c1 : tensor<?x?x32xf32>
  %u = tensor.extract_slice %1[0, 0, 0] [%b, %s, 48] [1, 1, 1] : tensor<?x?x96xf32> to tensor<?x?x48xf32>
  %g = tensor.extract_slice %1[0, 0, 48] [%b, %s, 48] [1, 1, 1] : tensor<?x?x96xf32> to tensor<?x?x48xf32>
  %2 = fovea.glu silu %g, %u : tensor<?x?x48xf32>
  %3 = fovea.linear %2, %v : tensor<?x?x48xf32>, tensor<32x48xf32> -> tensor<?x?x32xf32>
  %4 = arith.addf %0, %3 : tensor<?x?x32xf32>
  return %4 : tensor<?x?x32xf32>
}

// -----

// Query, key and value, with rotation and caches; one group of positions is computed inside, and stays for the attention. What measures a cache between the parts follows.

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

// -----

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

// -----

// Heads that are no multiple of 16: ranges of columns, and no further. Rotation that is not of halves of the head, or whose frequencies depend on the longest position, stays outside; given positions are an
// operand. A projection of its own needs no range.

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

// -----

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

// -----

// A norm without weight goes into both linears that read it.

// CHECK-LABEL: func.func @prologue
// CHECK-NOT: fovea.group
// CHECK: fovea.group(%[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}}) : (tensor<?x32xf32>, tensor<16x32xf32>) -> tensor<?x16xf32> {
// CHECK-NEXT: %[[N:.*]] = fovea.rms_norm %[[A]] eps(1.000000e-05)
// CHECK-NEXT: %[[L:.*]] = fovea.linear %[[N]], %[[B]]
// CHECK-NEXT: fovea.activation gelu %[[L]]
// CHECK: fovea.group
// CHECK-NEXT: fovea.rms_norm
// CHECK-NEXT: fovea.linear
// CHECK-NEXT: fovea.yield
// CHECK-NOT: fovea.group
func.func @prologue(%x: tensor<?x32xf32>, %w: tensor<16x32xf32>, %u: tensor<24x32xbf16>) -> (tensor<?x16xf32>, tensor<?x24xf32>) {
  %n = fovea.rms_norm %x eps(1.0e-5) : tensor<?x32xf32>
  %0 = fovea.linear %n, %w : tensor<?x32xf32>, tensor<16x32xf32> -> tensor<?x16xf32>
  %1 = fovea.activation gelu %0 : tensor<?x16xf32>
  %2 = fovea.linear %n, %u : tensor<?x32xf32>, tensor<24x32xbf16> -> tensor<?x24xf32>
  return %1, %2 : tensor<?x16xf32>, tensor<?x24xf32>
}

// -----

// Embeddings, learned positions over the batch, their sum and its norm. The positions need no memory.

// CHECK-LABEL: func.func @embeddings
// CHECK-SAME: (%[[I:[^:]*]]: tensor<?x?xi64> {{{.*}}}, %[[J:[^:]*]]: tensor<?x?xi64> {{{.*}}}, %[[T:.*]]: tensor<9x20xf32>, %[[U:.*]]: tensor<2x20xbf16>, %[[P:.*]]: tensor<7x20xf32>, %[[W:.*]]: tensor<20xf32>)
// CHECK-NOT: fovea.group
// CHECK: fovea.group(
// CHECK-DAG: %[[PS:.*]] = fovea.positions from %{{.*}} count
// CHECK-DAG: %[[PL:.*]] = fovea.position_learned %[[PS]]
// CHECK-DAG: %[[PC:.*]] = tensor.collapse_shape %[[PL]]
// CHECK-DAG: %[[PB:.*]] = linalg.broadcast ins(%[[PC]]
// CHECK-DAG: %[[E:.*]] = fovea.embedding %{{.*}} : tensor<?x?xi64>, tensor<9x20xf32>
// CHECK-DAG: %[[F:.*]] = fovea.embedding %{{.*}} : tensor<?x?xi64>, tensor<2x20xbf16>
// CHECK: %[[S:.*]] = arith.addf %[[E]], %[[F]]
// CHECK: %[[R:.*]] = arith.addf %[[S]], %[[PB]]
// CHECK: %[[N:.*]] = fovea.layer_norm %[[R]]
// CHECK: fovea.yield %[[N]]
// CHECK-NOT: fovea.group
func.func @embeddings(%i: tensor<?x?xi64> {fovea.dims = ["b", "s"]}, %j: tensor<?x?xi64> {fovea.dims = ["b", "s"]}, %t: tensor<9x20xf32>, %u: tensor<2x20xbf16>, %p: tensor<7x20xf32>, %w: tensor<20xf32>) -> tensor<?x?x20xf32> attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %i, %c0 : tensor<?x?xi64>
  %s = tensor.dim %i, %c1 : tensor<?x?xi64>
  %0 = fovea.embedding %i, %t : tensor<?x?xi64>, tensor<9x20xf32> -> tensor<?x?x20xf32>
  %1 = fovea.embedding %j, %u : tensor<?x?xi64>, tensor<2x20xbf16> -> tensor<?x?x20xf32>
  %2 = arith.addf %0, %1 : tensor<?x?x20xf32>
  %ps = fovea.positions from %c0 count %s : tensor<1x?xi32>
  %pl = fovea.position_learned %ps, %p : tensor<1x?xi32>, tensor<7x20xf32> -> tensor<1x?x20xf32>
  %pc = tensor.collapse_shape %pl [[0, 1], [2]] : tensor<1x?x20xf32> into tensor<?x20xf32>
  %e = tensor.empty(%b, %s) : tensor<?x?x20xf32>
  %pb = linalg.broadcast ins(%pc : tensor<?x20xf32>) outs(%e : tensor<?x?x20xf32>) dimensions = [0]
  %3 = arith.addf %2, %pb : tensor<?x?x20xf32>
  %4 = fovea.layer_norm %3 weight(%w : tensor<20xf32>) eps(1.0e-12) : tensor<?x?x20xf32>
  return %4 : tensor<?x?x20xf32>
}

// -----

// A sum that is normalised and also used: two results, the norm first. A second norm of the first stays apart.

// CHECK-LABEL: func.func @sum
// CHECK: %[[Y:.*]]:2 = fovea.group({{.*}}) : (tensor<?x20xf32>, tensor<20xf32>) -> (tensor<?x20xf32>, tensor<?x20xf32>) {
// CHECK-NEXT: %[[S:.*]] = arith.addf
// CHECK-NEXT: %[[N:.*]] = fovea.rms_norm %[[S]]
// CHECK-NEXT: fovea.yield %[[N]], %[[S]]
// CHECK: fovea.group(%{{.*}} = %[[Y]]#0
// CHECK-NEXT: fovea.layer_norm
// CHECK: return %[[Y]]#1
func.func @sum(%x: tensor<?x20xf32>, %w: tensor<20xf32>) -> (tensor<?x20xf32>, tensor<?x20xf32>) {
  %0 = arith.addf %x, %x : tensor<?x20xf32>
  %1 = fovea.rms_norm %0 weight(%w : tensor<20xf32>) eps(1.0e-5) : tensor<?x20xf32>
  %2 = fovea.layer_norm %1 weight(%w : tensor<20xf32>) eps(1.0e-5) : tensor<?x20xf32>
  return %0, %2 : tensor<?x20xf32>, tensor<?x20xf32>
}
