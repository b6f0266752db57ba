// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sinks: a learned score for each head that takes part in the softmax and says nothing, so a head may look at
// nothing (Xiao et al. 2024; gpt-oss). With sink 0 it is the "off by one" softmax, exp(x) / (1 + sum exp(x)).
//
//     p[i,j] = exp(x[i,j]) / (exp(sink[h]) + sum_k exp(x[i,k]))
//     o[i]   = sum_j p[i,j] v[j]                                   the weights of a row sum to less than one
//
// Two heads, one word to see whose value is 1, and score 0. A sink of 0 leaves 1 / (1 + 1), a very low one leaves all.
//
//   $ fovea run examples/attention/sinks.mlir --input 'q=[[[[0,0], [0,0]]]]' --input 'k=[[[[1,1], [1,1]]]]' \
//         --input 'v=[[[[1], [1]]]]' --input 'sinks=[0, -20]'
//   output: [1, 1, 2, 1] f32
//     [[[[0.5000],
//        [1.0000]]]]
//   $ fovea inspect examples/attention/sinks.mlir | grep fused
//   fused ... x

func.func @forward(%q: tensor<?x?x2x2xf32> {fovea.name = "q", fovea.dims = ["batch", "queries"]},
                   %k: tensor<?x?x2x2xf32> {fovea.name = "k", fovea.dims = ["batch", "keys"]},
                   %v: tensor<?x?x2x1xf32> {fovea.name = "v", fovea.dims = ["batch", "keys"]},
                   %sinks: tensor<2xf32> {fovea.name = "sinks"})
    -> (tensor<?x?x2x1xf32> {fovea.name = "output", fovea.dims = ["batch", "queries"]})
    attributes {fovea.entry} {
  %o = fovea.attention %q, %k, %v sinks(%sinks : tensor<2xf32>) scale(0.70710678118654752)
      : tensor<?x?x2x2xf32>, tensor<?x?x2x2xf32>, tensor<?x?x2x1xf32> -> tensor<?x?x2x1xf32>
  return %o : tensor<?x?x2x1xf32>
}
