// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What comes out for a word that may see nothing? A row of softmax over no key at all is 0 / 0, so programs differ, and a
// compiler that replaces their mask must know which one it replaces. `fill` says it:
//
//     zero  nothing to add up: 0                      how most fused kernels are defined; the default
//     mean  mean of all values                        who *replaces* the scores by a large number: all become equal
//     raw   softmax as if without the mask            who *adds* one: all scores move alike, and softmax does not see it
//                                                     (if it is so large that adding it rounds the scores away: mean)
//     nan   not a number                              who writes minus infinity: exp(-inf - -inf)
//
// Two keys with values 1 and 4, one query of score 0 and log 2 (weights 1/3 and 2/3), and a length of 0, then of 1:
//
//   $ fovea run examples/masks/fills.mlir --input 'q=[[[[1]]], [[[1]]]]' --input 'k=[[[[0]], [[0.6931472]]], [[[0]], [[0.6931472]]]]' \
//         --input 'v=[[[[1]], [[4]]], [[[1]], [[4]]]]' --input 'lengths=[0, 1]'
//   zero: [2, 1, 1, 1] f32
//     [[[[0.0000]]],
//      [[[1.0000]]]]
//   mean: [2, 1, 1, 1] f32
//     [[[[2.5000]]],
//      [[[1.0000]]]]
//   raw: [2, 1, 1, 1] f32
//     [[[[3.0000]]],
//      [[[1.0000]]]]
//   nan: [2, 1, 1, 1] f32
//     [[[[   nan]]],
//      [[[1.0000]]]]
//   $ fovea inspect examples/masks/fills.mlir | grep -c '^fused .* length '
//   4

!q = tensor<?x?x1x1xf32>

func.func @forward(%q: !q {fovea.name = "q", fovea.dims = ["batch", "queries"]},
                   %k: !q {fovea.name = "k", fovea.dims = ["batch", "keys"]},
                   %v: !q {fovea.name = "v", fovea.dims = ["batch", "keys"]},
                   %lengths: tensor<?xi32> {fovea.name = "lengths", fovea.dims = ["batch"]})
    -> (!q {fovea.name = "zero", fovea.dims = ["batch", "queries"]}, !q {fovea.name = "mean", fovea.dims = ["batch", "queries"]},
        !q {fovea.name = "raw", fovea.dims = ["batch", "queries"]}, !q {fovea.name = "nan", fovea.dims = ["batch", "queries"]})
    attributes {fovea.entry} {
  %mask = fovea.mask_length %lengths : tensor<?xi32>
  %zero = fovea.attention %q, %k, %v mask(%mask) fill(zero) : !q, !q, !q -> !q
  %mean = fovea.attention %q, %k, %v mask(%mask) fill(mean) : !q, !q, !q -> !q
  %raw = fovea.attention %q, %k, %v mask(%mask) fill(raw) : !q, !q, !q -> !q
  %nan = fovea.attention %q, %k, %v mask(%mask) fill(nan) : !q, !q, !q -> !q
  return %zero, %mean, %raw, %nan : !q, !q, !q, !q
}
