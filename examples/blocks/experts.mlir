// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A mixture of experts (Shazeer et al. 2017; Mixtral, GPT-OSS): there are four feed-forwards, and a router sends each word to
// the two whose scores are greatest. So a model has many weights, of which a word meets few.
//
//     s = Wrouter x                     scores, [words, 4]
//     e1, e2 = the places of the two greatest in s, p = softmax(s_e1, s_e2)
//     y = x + sum_i p_i Wdown[e_i] relu(Wup[e_i] x)           x, y: [words, 8], inside 16
//
// Words are sorted by expert, so that each expert multiplies its own together: rows 16 e to 16 e + 15 of one weight are the
// matrix of expert e, and `offsets` says where its words begin. Both products are kernels like any other (one for few words, one for more):
//
//   $ fovea inspect examples/blocks/experts.mlir | grep -o 'linear_.: linear .* experts.*relu'
//   linear_1: linear [64, 8] f32 of 4 experts + activation relu
//   linear_2: linear [64, 8] f32 of 4 experts + activation relu
//   $ fovea run examples/blocks/experts.mlir --input x=random:1x3x8
//   y: [1, 3, 8] f32
//   ...
//
// Another router is another few lines: scores squashed before (`fovea.activation sigmoid`), more experts for a word, weights
// that do not sum to one.

!x = tensor<?x?x8xf32>
!scores = tensor<?x?x4xf32>
!best = tensor<?x?x2xf32>
!numbers = tensor<?x?x2xi64>
!offsets = tensor<5xi64>
!pairs = tensor<?x?x2x8xf32>
!wide = tensor<?x?x2x16xf32>
!router = tensor<4x8xf32>
!up = tensor<64x8xf32>
!down = tensor<32x16xf32>

fovea.weight @router : !router = #fovea.stored<"weights.safetensors", "experts.router", !router>
fovea.weight @up : !up = #fovea.stored<"weights.safetensors", "experts.up", !up>
fovea.weight @down : !down = #fovea.stored<"weights.safetensors", "experts.down", !down>

func.func @forward(%x: !x {fovea.name = "x", fovea.dims = ["batch", "words"]})
    -> (!x {fovea.name = "y", fovea.dims = ["batch", "words"]}) attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = tensor.dim %x, %c0 : !x
  %words = tensor.dim %x, %c1 : !x
  %wr = fovea.weight_ref @router : !router
  %wu = fovea.weight_ref @up : !up
  %wd = fovea.weight_ref @down : !down

  // Which two, and how much of each.
  %s = fovea.linear %x, %wr : !x, !router -> !scores
  %values, %experts = fovea.top_k %s : !scores -> !best, !numbers
  %none = tensor.empty(%batch, %words) : !best
  %p = linalg.softmax dimension(2) ins(%values : !best) outs(%none : !best) -> !best

  // The words of expert 0, of 1, ...: a word stands there twice.
  %tokens, %places, %offsets = fovea.dispatch %experts : !numbers -> !offsets
  %sorted = fovea.gather_rows %x rows(%tokens) : !x, !numbers -> !pairs
  %up = fovea.linear %sorted, %wu experts(%offsets : !offsets) : !pairs, !up -> !wide
  %inner = fovea.activation relu %up : !wide
  %each = fovea.linear %inner, %wd experts(%offsets : !offsets) : !wide, !down -> !pairs

  // Back to the words.
  %sum = fovea.combine %each rows(%places) weights(%p) : !pairs, !numbers, !best -> !x
  %y = arith.addf %x, %sum : !x
  return %y : !x
}
