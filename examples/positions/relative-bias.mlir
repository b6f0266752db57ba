// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Relative biases in buckets (T5, Raffel et al. 2020, section 2.1): each head learns a number for each distance; far distances share
// one, in buckets that grow like a logarithm.
//
//     x[h,i,j] = q[i] . k[j] + table[bucket(j - i), h]        T5 does not scale
//
// The table has 8 rows: rows 0 to 3 for words before, 4 to 7 for words behind; of each four, two for the distances 0 and 1 and two for
// all farther ones. Entry `forward` has zero queries below, so biases alone decide; head 0 likes only what is just behind (row 5), head 1
// likes nothing:
//
//   $ fovea run examples/positions/relative-bias.mlir --input 'q=[[[[0],[0]], [[0],[0]], [[0],[0]]]]' --input 'k=[[[[0],[0]], [[0],[0]], [[0],[0]]]]' \
//         --input 'v=[[[[1],[1]], [[2],[2]], [[6],[6]]]]' --input 'table=[[0,0], [0,0], [0,0], [0,0], [0,0], [50,0], [0,0], [0,0]]'
//   output: [1, 3, 2, 1] f32
//     [[[[2.0000],
//        [3.0000]],
//       [[6.0000],
//        [3.0000]],
//       [[3.0000],
//        [3.0000]]]]
//   $ fovea inspect examples/positions/relative-bias.mlir | grep fused
//   fused ... x + relative_bias(table, h, q, k)

!x = tensor<?x?x2x1xf32>

func.func @forward(%q: !x {fovea.name = "q", fovea.dims = ["batch", "queries"]}, %k: !x {fovea.name = "k", fovea.dims = ["batch", "keys"]},
                   %v: !x {fovea.name = "v", fovea.dims = ["batch", "keys"]}, %table: tensor<8x2xf32> {fovea.name = "table"})
    -> (!x {fovea.name = "output", fovea.dims = ["batch", "queries"]}) attributes {fovea.entry} {
  // The table is handed over whole: which row of it is read depends on the two positions.
  %o = fovea.attention %q, %k, %v score(%table : tensor<8x2xf32> by (b, h, i, j) -> ()) {
    ^bb0(%x: f32, %rows: tensor<8x2xf32>, %b: index, %h: index, %i: i32, %j: i32):
      %bias = fovea.relative_bias %rows[%h] at(%i, %j) {bidirectional, buckets = 8, max_distance = 16} : tensor<8x2xf32> -> f32
      %y = arith.addf %x, %bias : f32
      fovea.yield %y : f32
  } : !x, !x, !x -> !x
  return %o : !x
}
