// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A decoding step with a cache. To write word n one needs the keys and values of all words before, which have not changed: they
// are kept, and a step computes one query, one key and one value.
//
//     K = [K; k],  V = [V; v]                                 the cache grows at its end
//     o = softmax(q K^T / sqrt(D)) V                          one row; D = 4
//
// A cache is a value of its own: `cache_append` gives the longer one, in memory it grows in place. An attention over a cache sees
// what it holds. Entry `decode` has the caches in its arguments; the runtime keeps them from call to call. Its first call finds them empty,
// so the word sees itself alone:
//
//   $ fovea run examples/blocks/cache.mlir --entry decode --input q=random:1x1x1x4 --input k=random:1x1x1x4 --input 'v=[[[[1,2,3,4]]]]'
//   output: [1, 1, 1, 4] f32
//     [[[[1.0000, 2.0000, 3.0000, 4.0000]]]]
//
// Several words at once are how a prompt is read, entry `prefill`. There a word must not see those behind it: the mask compares positions, which
// go on where the cache ends. Three words read at once, and two read before a third is decoded, give the same for the third:
//
//   $ fovea run examples/blocks/cache.mlir --entry prefill \
//         --input 'q=[[[[1,0,0,0]], [[0,2,0,0]], [[2,2,0,0]]]]' --input 'k=[[[[1,1,0,0]], [[0,1,0,0]], [[1,0,0,0]]]]' --input 'v=[[[[1,0,0,0]], [[0,1,0,0]], [[0,0,1,0]]]]'
//   output: [1, 3, 1, 4] f32
//     [[[[1.0000, 0.0000, 0.0000, 0.0000]],
//       [[0.5000, 0.5000, 0.0000, 0.0000]],
//       [[0.5761, 0.2119, 0.2119, 0.0000]]]]
//   $ fovea run examples/blocks/cache.mlir --entry prefill --entry decode \
//         --input 'q=[[[[1,0,0,0]], [[0,2,0,0]]]]' --input 'k=[[[[1,1,0,0]], [[0,1,0,0]]]]' --input 'v=[[[[1,0,0,0]], [[0,1,0,0]]]]' \
//         --input 'q=[[[[2,2,0,0]]]]' --input 'k=[[[[1,0,0,0]]]]' --input 'v=[[[[0,0,1,0]]]]'
//   output: [1, 1, 1, 4] f32
//     [[[[0.5761, 0.2119, 0.2119, 0.0000]]]]
//   $ fovea inspect examples/blocks/cache.mlir | grep fused
//   fused ... causal ... x
//   fused ... x

!x = tensor<?x?x1x4xf32>
!one = tensor<?x1x1x4xf32>
!keys = !fovea.cache<key, 1x4xf32>
!values = !fovea.cache<value, 1x4xf32>

func.func @prefill(%q: !x {fovea.name = "q", fovea.dims = ["batch", "words"]}, %k: !x {fovea.name = "k", fovea.dims = ["batch", "words"]},
                   %v: !x {fovea.name = "v", fovea.dims = ["batch", "words"]}, %keys: !keys {fovea.name = "keys"}, %values: !values {fovea.name = "values"})
    -> (!x {fovea.name = "output", fovea.dims = ["batch", "words"]}, !keys {fovea.name = "keys"}, !values {fovea.name = "values"})
    attributes {fovea.entry, fovea.max_positions = 64 : i64} {
  %c1 = arith.constant 1 : index
  %words = tensor.dim %q, %c1 : !x
  %past = fovea.cache_length %keys : !keys
  %positions = fovea.positions from %past count %words : tensor<1x?xi32>
  %more_keys = fovea.cache_append %keys, %k : !keys, !x
  %more_values = fovea.cache_append %values, %v : !values, !x
  %causal = fovea.mask_causal
  %o = fovea.attention %q, %more_keys, %more_values q_pos(%positions : tensor<1x?xi32>) mask(%causal) scale(0.5) : !x, !keys, !values -> !x
  return %o, %more_keys, %more_values : !x, !keys, !values
}

func.func @decode(%q: !one {fovea.name = "q", fovea.dims = ["batch"]}, %k: !one {fovea.name = "k", fovea.dims = ["batch"]},
                  %v: !one {fovea.name = "v", fovea.dims = ["batch"]}, %keys: !keys {fovea.name = "keys"}, %values: !values {fovea.name = "values"})
    -> (!one {fovea.name = "output", fovea.dims = ["batch"]}, !keys {fovea.name = "keys"}, !values {fovea.name = "values"})
    attributes {fovea.entry, fovea.max_positions = 64 : i64} {
  %more_keys = fovea.cache_append %keys, %k : !keys, !one
  %more_values = fovea.cache_append %values, %v : !values, !one
  %o = fovea.attention %q, %more_keys, %more_values scale(0.5) : !one, !keys, !values -> !one
  return %o, %more_keys, %more_values : !one, !keys, !values
}
