// RUN: fovea-opt %s --fovea-form-groups --fovea-fuse-groups --resolve-ranked-shaped-type-result-dims --canonicalize --cse | FileCheck %s

// The sizes of what a fused group gives are sizes of its operands, so that the memory for it can be planned.

// CHECK-LABEL: func.func @sizes
// CHECK-SAME: (%[[X:[^:]*]]: tensor<?x?x32xf32> {{{.*}}}, %[[I:[^:]*]]: tensor<?x?xi64>
// CHECK-DAG: %[[B:.*]] = tensor.dim %[[X]], %c0
// CHECK-DAG: %[[S:.*]] = tensor.dim %[[X]], %c1
// CHECK-DAG: %[[T:.*]] = tensor.dim %[[I]], %c1
// CHECK: return {{.*}}, %[[B]], %[[S]], %[[B]], %[[S]], %[[T]] :
func.func @sizes(%x: tensor<?x?x32xf32> {fovea.dims = ["b", "s"]}, %i: tensor<?x?xi64> {fovea.dims = ["b", "t"]}, %kc: !fovea.cache<key, 1x32xf32>, %w: tensor<64x32xf32>, %v: tensor<32x32xf32>, %t: tensor<9x20xf32>, %p: tensor<9x20xf32>)
    -> (tensor<?x?x1x32xf32>, !fovea.cache<key, 1x32xf32>, tensor<?x?x16xf32>, tensor<?x?x20xf32>, index, index, index, index, index) attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %x, %c0 : tensor<?x?x32xf32>
  %s = tensor.dim %x, %c1 : tensor<?x?x32xf32>
  %0 = fovea.linear %x, %w : tensor<?x?x32xf32>, tensor<64x32xf32> -> tensor<?x?x64xf32>
  %q = tensor.extract_slice %0[0, 0, 0] [%b, %s, 32] [1, 1, 1] : tensor<?x?x64xf32> to tensor<?x?x32xf32>
  %k = tensor.extract_slice %0[0, 0, 32] [%b, %s, 32] [1, 1, 1] : tensor<?x?x64xf32> to tensor<?x?x32xf32>
  %qe = tensor.expand_shape %q [[0], [1], [2, 3]] output_shape [%b, %s, 1, 32] : tensor<?x?x32xf32> into tensor<?x?x1x32xf32>
  %ke = tensor.expand_shape %k [[0], [1], [2, 3]] output_shape [%b, %s, 1, 32] : tensor<?x?x32xf32> into tensor<?x?x1x32xf32>
  %ka = fovea.cache_append %kc, %ke : !fovea.cache<key, 1x32xf32>, tensor<?x?x1x32xf32>
  %1 = fovea.linear %x, %v : tensor<?x?x32xf32>, tensor<32x32xf32> -> tensor<?x?x32xf32>
  %g = tensor.extract_slice %1[0, 0, 0] [%b, %s, 16] [1, 1, 1] : tensor<?x?x32xf32> to tensor<?x?x16xf32>
  %u = tensor.extract_slice %1[0, 0, 16] [%b, %s, 16] [1, 1, 1] : tensor<?x?x32xf32> to tensor<?x?x16xf32>
  %2 = fovea.glu silu %g, %u : tensor<?x?x16xf32>
  %tb = tensor.dim %i, %c0 : tensor<?x?xi64>
  %ts = tensor.dim %i, %c1 : tensor<?x?xi64>
  %3 = fovea.embedding %i, %t : tensor<?x?xi64>, tensor<9x20xf32> -> tensor<?x?x20xf32>
  %ps = fovea.positions from %c0 count %ts : tensor<1x?xi32>
  %pl = fovea.position_learned %ps, %p : tensor<1x?xi32>, tensor<9x20xf32> -> tensor<1x?x20xf32>
  %pc = tensor.collapse_shape %pl [[0, 1], [2]] : tensor<1x?x20xf32> into tensor<?x20xf32>
  %e = tensor.empty(%tb, %ts) : tensor<?x?x20xf32>
  %pb = linalg.broadcast ins(%pc : tensor<?x20xf32>) outs(%e : tensor<?x?x20xf32>) dimensions = [0]
  %4 = arith.addf %3, %pb : tensor<?x?x20xf32>
  %d0 = tensor.dim %qe, %c0 : tensor<?x?x1x32xf32>
  %d1 = tensor.dim %qe, %c1 : tensor<?x?x1x32xf32>
  %d2 = tensor.dim %2, %c0 : tensor<?x?x16xf32>
  %d3 = tensor.dim %2, %c1 : tensor<?x?x16xf32>
  %d4 = tensor.dim %4, %c1 : tensor<?x?x20xf32>
  return %qe, %ka, %2, %4, %d0, %d1, %d2, %d3, %d4 : tensor<?x?x1x32xf32>, !fovea.cache<key, 1x32xf32>, tensor<?x?x16xf32>, tensor<?x?x20xf32>, index, index, index, index, index
}
