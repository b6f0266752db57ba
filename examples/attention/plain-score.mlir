// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plain score, without and with a scale (Luong et al. 2015, section 3.1, "dot"; Vaswani et al. 2017, eq. 1).
//
//     x[i,j] = q[i] . k[j]                     entry `plain`
//     x[i,j] = q[i] . k[j] / sqrt(D)           entry `scaled`, here D = 4
//     o[i]   = sum_j softmax(x[i,:])[j] v[j]
//
// This is the form that the compiler finds behind all spellings: one op. Tensors are [batch, words, heads, size],
// as projections produce them, so nothing has to be transposed. `scale` is the only difference. Sums of
// D products grow with sqrt(D), and large scores make softmax choose one word alone; dividing undoes that:
//
//   $ fovea run examples/attention/plain-score.mlir --entry plain \
//         --input 'q=[[[[4,4,4,4]]]]' --input 'k=[[[[1,1,1,1]], [[1,1,1,0.5]]]]' --input 'v=[[[[1]], [[0]]]]'
//   output: [1, 1, 1, 1] f32
//     [[[[0.8808]]]]
//   $ fovea run examples/attention/plain-score.mlir --entry scaled \
//         --input 'q=[[[[4,4,4,4]]]]' --input 'k=[[[[1,1,1,1]], [[1,1,1,0.5]]]]' --input 'v=[[[[1]], [[0]]]]'
//   output: [1, 1, 1, 1] f32
//     [[[[0.7311]]]]
//   $ fovea inspect examples/attention/plain-score.mlir | grep fused
//   fused ... x
//   fused ... x

func.func @plain(%q: tensor<?x?x1x4xf32> {fovea.name = "q", fovea.dims = ["batch", "queries"]},
                 %k: tensor<?x?x1x4xf32> {fovea.name = "k", fovea.dims = ["batch", "keys"]},
                 %v: tensor<?x?x1x1xf32> {fovea.name = "v", fovea.dims = ["batch", "keys"]})
    -> (tensor<?x?x1x1xf32> {fovea.name = "output", fovea.dims = ["batch", "queries"]})
    attributes {fovea.entry} {
  %o = fovea.attention %q, %k, %v : tensor<?x?x1x4xf32>, tensor<?x?x1x4xf32>, tensor<?x?x1x1xf32> -> tensor<?x?x1x1xf32>
  return %o : tensor<?x?x1x1xf32>
}

func.func @scaled(%q: tensor<?x?x1x4xf32> {fovea.name = "q", fovea.dims = ["batch", "queries"]},
                  %k: tensor<?x?x1x4xf32> {fovea.name = "k", fovea.dims = ["batch", "keys"]},
                  %v: tensor<?x?x1x1xf32> {fovea.name = "v", fovea.dims = ["batch", "keys"]})
    -> (tensor<?x?x1x1xf32> {fovea.name = "output", fovea.dims = ["batch", "queries"]})
    attributes {fovea.entry} {
  %o = fovea.attention %q, %k, %v scale(0.5) : tensor<?x?x1x4xf32>, tensor<?x?x1x4xf32>, tensor<?x?x1x1xf32> -> tensor<?x?x1x1xf32>
  return %o : tensor<?x?x1x1xf32>
}
