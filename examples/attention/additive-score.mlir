// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The additive score (Bahdanau et al. 2015, appendix A.1.2): a small network looks at query and key together.
//
//     x[i,j] = sum_d w[d] tanh(q[i,d] + k[j,d])
//     o[i]   = sum_j softmax(x[i,:])[j] v[j]
//
// In the paper q = W s and k = U h are projections of the decoder's and the encoder's states. Written plainly, as
// below, tanh is taken of a tensor [queries, keys, size]; as one attention that tensor is never made.
//
//   $ fovea inspect examples/attention/additive-score.mlir | grep fused
//   fused ... w * tanh(q + k)
//   $ fovea compile examples/attention/additive-score.mlir --emit=graph | grep -o 'additive([^)]*)'
//   additive(%w : tensor<8xf32>)
//   $ fovea run examples/attention/additive-score.mlir --input q=random:2x8 --input k=random:3x8 --input v=random:3x4 --input w=random:8
//   output: [2, 4] f32
//   ...

#query = affine_map<(i, j, d) -> (i, d)>
#key = affine_map<(i, j, d) -> (j, d)>
#size = affine_map<(i, j, d) -> (d)>
#pair = affine_map<(i, j, d) -> (i, j)>

func.func @forward(%q: tensor<?x8xf32> {fovea.name = "q", fovea.dims = ["queries"]},
                   %k: tensor<?x8xf32> {fovea.name = "k", fovea.dims = ["keys"]},
                   %v: tensor<?x4xf32> {fovea.name = "v", fovea.dims = ["keys"]},
                   %w: tensor<8xf32> {fovea.name = "w"})
    -> (tensor<?x4xf32> {fovea.name = "output", fovea.dims = ["queries"]})
    attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %queries = tensor.dim %q, %c0 : tensor<?x8xf32>
  %keys = tensor.dim %k, %c0 : tensor<?x8xf32>

  // sum_d w[d] tanh(q[i,d] + k[j,d])
  %matrix = tensor.empty(%queries, %keys) : tensor<?x?xf32>
  %matrix_zero = linalg.fill ins(%zero : f32) outs(%matrix : tensor<?x?xf32>) -> tensor<?x?xf32>
  %scores = linalg.generic {indexing_maps = [#query, #key, #size, #pair], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%q, %k, %w : tensor<?x8xf32>, tensor<?x8xf32>, tensor<8xf32>) outs(%matrix_zero : tensor<?x?xf32>) {
  ^bb0(%qd: f32, %kd: f32, %wd: f32, %sum: f32):
    %both = arith.addf %qd, %kd : f32
    %t = math.tanh %both : f32
    %weighted = arith.mulf %wd, %t : f32
    %more = arith.addf %sum, %weighted : f32
    linalg.yield %more : f32
  } -> tensor<?x?xf32>

  %p = linalg.softmax dimension(1) ins(%scores : tensor<?x?xf32>) outs(%matrix : tensor<?x?xf32>) -> tensor<?x?xf32>

  %output = tensor.empty(%queries) : tensor<?x4xf32>
  %output_zero = linalg.fill ins(%zero : f32) outs(%output : tensor<?x4xf32>) -> tensor<?x4xf32>
  %o = linalg.matmul ins(%p, %v : tensor<?x?xf32>, tensor<?x4xf32>) outs(%output_zero : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %o : tensor<?x4xf32>
}
