// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Probabilities of your own: what is below a threshold is nothing, so a long tail of unlikely keys is not mixed in.
//
//     p[i,:] = softmax(q[i] . k[:])
//     w[i,j] = p[i,j] if p[i,j] >= 0.2 else 0
//     o[i]   = sum_j w[i,j] v[j]                  weights need not sum to one
//
// It stands here as an exporter writes it. The compiler drops what stands between softmax and product only if it changes nothing, whatever the
// inputs are: a clamp to [0, 1] would go. A function of the one probability, its place and elements of further tensors stays, as a region of the
// op, and the kernel walks the keys twice: once for the sum, once with finished probabilities.
//
//   $ fovea inspect examples/attention/threshold.mlir | grep -A1 '^fused'
//   fused      examples/attention/threshold.mlir:...
//   ... values are multiplied with select(p < 0.2, 0, p), p the probability
//
// Keys with scores ln 8, ln 1 and ln 1 have probabilities 0.8, 0.1 and 0.1: two of them are nothing.
//
//   $ fovea run examples/attention/threshold.mlir --input 'q=[[1]]' --input 'k=[[2.0794415], [0], [0]]' --input 'v=[[1], [100], [100]]'
//   output: [1, 1] f32
//     [[0.8000]]

#query = affine_map<(i, j, d) -> (i, d)>
#key = affine_map<(i, j, d) -> (j, d)>
#score = affine_map<(i, j, d) -> (i, j)>
#weight = affine_map<(i, d, j) -> (i, j)>
#value = affine_map<(i, d, j) -> (j, d)>
#output = affine_map<(i, d, j) -> (i, d)>
#all = affine_map<(i, j) -> (i, j)>

func.func @forward(%q: tensor<?x1xf32> {fovea.name = "q", fovea.dims = ["queries"]},
                   %k: tensor<?x1xf32> {fovea.name = "k", fovea.dims = ["keys"]},
                   %v: tensor<?x1xf32> {fovea.name = "v", fovea.dims = ["keys"]})
    -> (tensor<?x1xf32> {fovea.name = "output", fovea.dims = ["queries"]}) attributes {fovea.entry} {
  %first = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %queries = tensor.dim %q, %first : tensor<?x1xf32>
  %keys = tensor.dim %k, %first : tensor<?x1xf32>
  %square = tensor.empty(%queries, %keys) : tensor<?x?xf32>
  %begin = linalg.fill ins(%zero : f32) outs(%square : tensor<?x?xf32>) -> tensor<?x?xf32>
  %scores = linalg.contract indexing_maps = [#query, #key, #score]
      ins(%q, %k : tensor<?x1xf32>, tensor<?x1xf32>) outs(%begin : tensor<?x?xf32>) -> tensor<?x?xf32>
  %p = linalg.softmax dimension(1) ins(%scores : tensor<?x?xf32>) outs(%square : tensor<?x?xf32>) -> tensor<?x?xf32>
  %weights = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<?x?xf32>) outs(%square : tensor<?x?xf32>) {
    ^bb0(%one: f32, %old: f32):
      %least = arith.constant 0.2 : f32
      %small = arith.cmpf olt, %one, %least : f32
      %nothing = arith.constant 0.0 : f32
      %w = arith.select %small, %nothing, %one : f32
      linalg.yield %w : f32
  } -> tensor<?x?xf32>
  %empty = tensor.empty(%queries) : tensor<?x1xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x1xf32>) -> tensor<?x1xf32>
  %o = linalg.contract indexing_maps = [#weight, #value, #output]
      ins(%weights, %v : tensor<?x?xf32>, tensor<?x1xf32>) outs(%start : tensor<?x1xf32>) -> tensor<?x1xf32>
  return %o : tensor<?x1xf32>
}
