// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rotary positions (Su et al. 2021) in their three layouts: which two elements of a head are a point.
//
//     (x1, x2) -> (x1 cos a - x2 sin a, x2 cos a + x1 sin a),    a = pos * 10000^(-2i/dim)
//
//     half          (x[i], x[i + dim/2])      Llama, Mistral, Qwen
//     interleaved   (x[2i], x[2i + 1])        GPT-J, the paper
//     partial       only the first dim elements turn, the rest stays     GPT-NeoX, Phi
//
// Entry `turn` turns the vector (1, 0, 0, 0) by one word: by one radian, cos 1 = 0.5403 and sin 1 = 0.8415. The sine lands at the
// other element of the pair. In `partial` the pair is (0, 1), as dim is 2.
//
//   $ fovea run examples/positions/rope.mlir --entry turn --input 'x=[[[[1,0,0,0]]]]' --input 'positions=[[1]]'
//   half: [1, 1, 1, 4] f32
//     [[[[0.5403, 0.0000, 0.8415, 0.0000]]]]
//   interleaved: [1, 1, 1, 4] f32
//     [[[[0.5403, 0.8415, 0.0000, 0.0000]]]]
//   partial: [1, 1, 1, 4] f32
//     [[[[0.5403, 0.8415, 0.0000, 0.0000]]]]
//
// Entry `forward` is an attention over turned queries and keys. Scores depend on how far apart words stand, not on where:
// the same text a hundred words later gives the same.
//
//   $ fovea run examples/positions/rope.mlir --input 'q=[[[[1,2,3,4]], [[2,0,1,1]]]]' --input 'k=[[[[1,1,0,1]], [[0,2,2,0]]]]' \
//         --input 'v=[[[[1,0,0,0]], [[0,1,0,0]]]]' --input 'positions=[[0, 1]]'
//   output: [1, 2, 1, 4] f32
//     [[[[0.6639, 0.3361, 0.0000, 0.0000]],
//       [[0.4048, 0.5952, 0.0000, 0.0000]]]]
//   $ fovea run examples/positions/rope.mlir --input 'q=[[[[1,2,3,4]], [[2,0,1,1]]]]' --input 'k=[[[[1,1,0,1]], [[0,2,2,0]]]]' \
//         --input 'v=[[[[1,0,0,0]], [[0,1,0,0]]]]' --input 'positions=[[100, 101]]'
//   output: [1, 2, 1, 4] f32
//     [[[[0.6639, 0.3361, 0.0000, 0.0000]],
//       [[0.4048, 0.5952, 0.0000, 0.0000]]]]
//   $ fovea inspect examples/positions/rope.mlir | grep fused
//   fused ... x

!x = tensor<?x?x1x4xf32>

func.func @forward(%q: !x {fovea.name = "q", fovea.dims = ["batch", "words"]}, %k: !x {fovea.name = "k", fovea.dims = ["batch", "words"]},
                   %v: !x {fovea.name = "v", fovea.dims = ["batch", "words"]}, %positions: tensor<?x?xi32> {fovea.name = "positions", fovea.dims = ["batch", "words"]})
    -> (!x {fovea.name = "output", fovea.dims = ["batch", "words"]}) attributes {fovea.entry} {
  %rq = fovea.rope half %q at(%positions : tensor<?x?xi32>) dim(4) theta(10000.0) : !x
  %rk = fovea.rope half %k at(%positions : tensor<?x?xi32>) dim(4) theta(10000.0) : !x
  %o = fovea.attention %rq, %rk, %v scale(0.5) : !x, !x, !x -> !x
  return %o : !x
}

func.func @turn(%x: !x {fovea.name = "x", fovea.dims = ["batch", "words"]}, %positions: tensor<?x?xi32> {fovea.name = "positions", fovea.dims = ["batch", "words"]})
    -> (!x {fovea.name = "half", fovea.dims = ["batch", "words"]}, !x {fovea.name = "interleaved", fovea.dims = ["batch", "words"]},
        !x {fovea.name = "partial", fovea.dims = ["batch", "words"]}) attributes {fovea.entry} {
  %half = fovea.rope half %x at(%positions : tensor<?x?xi32>) dim(4) theta(10000.0) : !x
  %interleaved = fovea.rope interleaved %x at(%positions : tensor<?x?xi32>) dim(4) theta(10000.0) : !x
  %partial = fovea.rope half %x at(%positions : tensor<?x?xi32>) dim(2) theta(10000.0) : !x
  return %half, %interleaved, %partial : !x, !x, !x
}
