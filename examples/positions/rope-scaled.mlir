// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rotary positions for texts longer than a model was trained for. All slow the rotation down so that new places turn by angles that were
// seen in training; they differ in which pairs they slow. With f[i] = theta^(-2i/dim), here dim = 4, so f = 1 and 0.01:
//
//     linear    f[i] / factor                                     all alike (Chen et al. 2023)
//     dynamic   a larger theta once the text is longer than the original context
//     yarn      fast pairs stay, slow ones are divided, between them a blend; and cos, sin get a factor (Peng et al. 2023)
//     longrope  f[i] / factors[i], one list for short and one for long texts (Ding et al. 2024)
//     llama3    like yarn with its own blend (Llama 3.1)
//
// Entry `turn` turns (1, 1, 0, 0), whose pairs are (x[0], x[2]) and (x[1], x[3]), by its position. At position 1, `linear` with factor 4 turns
// the first by a quarter radian (0.9689, 0.2474); `llama3` leaves the fast pair at one radian (0.5403, 0.8415) and
// divides the slow one; `yarn` does too, but its cosines and sines are 1.1386 times as large:
//
//   $ fovea run examples/positions/rope-scaled.mlir --entry turn --input 'x=[[[[1,1,0,0]]]]' --input 'positions=[[1]]'
//   linear: [1, 1, 1, 4] f32
//     [[[[0.9689, 1.0000, 0.2474, 0.0025]]]]
//   dynamic: [1, 1, 1, 4] f32
//     [[[[0.5403, 0.9999, 0.8415, 0.0100]]]]
//   yarn: [1, 1, 1, 4] f32
//     [[[[0.6152, 1.1386, 0.9581, 0.0028]]]]
//   longrope: [1, 1, 1, 4] f32
//     [[[[0.6754, 1.2500, 1.0518, 0.0083]]]]
//   llama3: [1, 1, 1, 4] f32
//     [[[[0.5403, 1.0000, 0.8415, 0.0025]]]]
//   $ fovea inspect examples/positions/rope-scaled.mlir | grep fused
//   fused ... x

!x = tensor<?x?x1x4xf32>
!positions = tensor<?x?xi32>
#linear = #fovea.rope_scaling<linear, factor = 4.0 : f64>
#dynamic = #fovea.rope_scaling<dynamic, factor = 4.0 : f64, original = 64>
#yarn = #fovea.rope_scaling<yarn, factor = 4.0 : f64, original = 64, low = 1.0 : f64, high = 8.0 : f64, attentionFactor = 1.1386294361119891 : f64, truncate = true>
#longrope = #fovea.rope_scaling<longrope, original = 64, attentionFactor = 1.25 : f64, shortFactors = [1.0, 1.5], longFactors = [2.0, 8.0]>
#llama3 = #fovea.rope_scaling<llama3, factor = 4.0 : f64, original = 64, low = 1.0 : f64, high = 4.0 : f64>

func.func @forward(%q: !x {fovea.name = "q", fovea.dims = ["batch", "words"]}, %k: !x {fovea.name = "k", fovea.dims = ["batch", "words"]},
                   %v: !x {fovea.name = "v", fovea.dims = ["batch", "words"]}, %positions: !positions {fovea.name = "positions", fovea.dims = ["batch", "words"]})
    -> (!x {fovea.name = "output", fovea.dims = ["batch", "words"]}) attributes {fovea.entry} {
  %rq = fovea.rope half %q at(%positions : !positions) dim(4) theta(10000.0) scaling(#yarn) : !x
  %rk = fovea.rope half %k at(%positions : !positions) dim(4) theta(10000.0) scaling(#yarn) : !x
  %causal = fovea.mask_causal
  %o = fovea.attention %rq, %rk, %v mask(%causal) scale(0.5) : !x, !x, !x -> !x
  return %o : !x
}

func.func @turn(%x: !x {fovea.name = "x", fovea.dims = ["batch", "words"]}, %positions: !positions {fovea.name = "positions", fovea.dims = ["batch", "words"]})
    -> (!x {fovea.name = "linear", fovea.dims = ["batch", "words"]}, !x {fovea.name = "dynamic", fovea.dims = ["batch", "words"]},
        !x {fovea.name = "yarn", fovea.dims = ["batch", "words"]}, !x {fovea.name = "longrope", fovea.dims = ["batch", "words"]},
        !x {fovea.name = "llama3", fovea.dims = ["batch", "words"]}) attributes {fovea.entry} {
  %linear = fovea.rope half %x at(%positions : !positions) dim(4) theta(10000.0) scaling(#linear) : !x
  %dynamic = fovea.rope half %x at(%positions : !positions) dim(4) theta(10000.0) scaling(#dynamic) : !x
  %yarn = fovea.rope half %x at(%positions : !positions) dim(4) theta(10000.0) scaling(#yarn) : !x
  %longrope = fovea.rope half %x at(%positions : !positions) dim(4) theta(10000.0) scaling(#longrope) : !x
  %llama3 = fovea.rope half %x at(%positions : !positions) dim(4) theta(10000.0) scaling(#llama3) : !x
  return %linear, %dynamic, %yarn, %longrope, %llama3 : !x, !x, !x, !x, !x
}
