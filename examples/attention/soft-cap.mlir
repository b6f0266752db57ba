// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A soft cap: scores bend towards +-c instead of growing without bound (Gemma 2, section 2).
//
//     x[i,j] = q[i] . k[j] / sqrt(D)          here D = 4
//     y[i,j] = c tanh(x[i,j] / c)             here c = 30
//     o[i]   = sum_j softmax(y[i,:])[j] v[j]
//
// Whatever is done to a score before softmax is a region of the op: scalar code that gets the score x, the numbers of
// batch row, head, query and key, and elements of further operands. Change it as you like; the kernel has your code in it.
//
//   $ fovea inspect examples/attention/soft-cap.mlir | grep fused
//   fused ... tanh(x / 30) * 30
//   $ fovea run examples/attention/soft-cap.mlir --input q=random:1x3x2x4 --input k=random:1x5x2x4 --input v=random:1x5x2x4
//   output: [1, 3, 2, 4] f32
//   ...
//
// That what runs is what the formula says can be tried on any of these files: `fovea verify` makes up inputs and compares with an interpreter
// of the ops in f64, which shares no code with the compiler.
//
//   $ fovea verify examples/attention/soft-cap.mlir 2>/dev/null
//   entry ... error ... bound
//   forward  batch 1, length 1 ...
//   ...
//   11 outputs agree

func.func @forward(%q: tensor<?x?x2x4xf32> {fovea.name = "q", fovea.dims = ["batch", "queries"]},
                   %k: tensor<?x?x2x4xf32> {fovea.name = "k", fovea.dims = ["batch", "keys"]},
                   %v: tensor<?x?x2x4xf32> {fovea.name = "v", fovea.dims = ["batch", "keys"]})
    -> (tensor<?x?x2x4xf32> {fovea.name = "output", fovea.dims = ["batch", "queries"]})
    attributes {fovea.entry} {
  %o = fovea.attention %q, %k, %v scale(0.5) score() {
    ^bb0(%x: f32, %b: index, %h: index, %i: i32, %j: i32):
      %c = arith.constant 30.0 : f32
      %part = arith.divf %x, %c : f32
      %bent = math.tanh %part : f32
      %y = arith.mulf %c, %bent : f32
      fovea.yield %y : f32
  } : tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32> -> tensor<?x?x2x4xf32>
  return %o : tensor<?x?x2x4xf32>
}
