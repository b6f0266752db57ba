// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What only looks like attention. Here softmax goes over the *queries*, so they compete for each key (as slots do in Slot Attention,
// Locatello et al. 2020, without its second normalisation):
//
//     P[:,j] = exp(S[:,j]) / sum_i exp(S[i,j])       each *column* sums to one
//     O = P V
//
// A kernel that runs over keys, a row of P at a time, would compute something else. So this stays what it is, three plain computations, and the
// compiler says that it did not fuse it, why, and what would change that:
//
//   $ fovea inspect examples/attention/not-fused.mlir | grep -A1 '^not fused'
//   not fused  examples/attention/not-fused.mlir:...
//   ... the weights are not the softmax of anything over the keys that are summed; to fuse it, normalise over the axis that the product with the values sums
//
// Who wants to hear that at once asks for it:
//
//   $ fovea compile examples/attention/not-fused.mlir --require-fusion -o "${TMPDIR:-/tmp}/not-fused.fovea"
//   # exit code 1
//   fovea: error: examples/attention/not-fused.mlir:...: a softmax is not fused: ...
//
// It runs all the same. Two queries, one key: each key's weights sum to one, so the first query gets what the second does not.
//
//   $ fovea run examples/attention/not-fused.mlir --input 'q=[[1,0], [0,0]]' --input 'k=[[1,0]]' --input 'v=[[1]]'
//   output: [2, 1] f32
//     [[0.7311],
//      [0.2689]]

#query = affine_map<(i, j, d) -> (i, d)>
#key = affine_map<(i, j, d) -> (j, d)>
#pair = affine_map<(i, j, d) -> (i, j)>

func.func @forward(%q: tensor<?x2xf32> {fovea.name = "q", fovea.dims = ["queries"]},
                   %k: tensor<?x2xf32> {fovea.name = "k", fovea.dims = ["keys"]},
                   %v: tensor<?x1xf32> {fovea.name = "v", fovea.dims = ["keys"]})
    -> (tensor<?x1xf32> {fovea.name = "output", fovea.dims = ["queries"]})
    attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %queries = tensor.dim %q, %c0 : tensor<?x2xf32>
  %keys = tensor.dim %k, %c0 : tensor<?x2xf32>

  %matrix = tensor.empty(%queries, %keys) : tensor<?x?xf32>
  %matrix_zero = linalg.fill ins(%zero : f32) outs(%matrix : tensor<?x?xf32>) -> tensor<?x?xf32>
  %scores = linalg.contract indexing_maps = [#query, #key, #pair]
      ins(%q, %k : tensor<?x2xf32>, tensor<?x2xf32>) outs(%matrix_zero : tensor<?x?xf32>) -> tensor<?x?xf32>

  // Over axis 0, the queries. With `dimension(1)` it is attention.
  %p = linalg.softmax dimension(0) ins(%scores : tensor<?x?xf32>) outs(%matrix : tensor<?x?xf32>) -> tensor<?x?xf32>

  %output = tensor.empty(%queries) : tensor<?x1xf32>
  %output_zero = linalg.fill ins(%zero : f32) outs(%output : tensor<?x1xf32>) -> tensor<?x1xf32>
  %o = linalg.matmul ins(%p, %v : tensor<?x?xf32>, tensor<?x1xf32>) outs(%output_zero : tensor<?x1xf32>) -> tensor<?x1xf32>
  return %o : tensor<?x1xf32>
}
