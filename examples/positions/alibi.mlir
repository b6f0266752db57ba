// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention with linear biases (Press et al. 2022): nothing is added to words; each score loses with the distance, in each head at
// its own rate. Works for texts longer than those trained on.
//
//     slope[h] = 2^(-8 (h+1) / heads)                        here two heads: 1/16 and 1/256
//     x[h,i,j] = q[i] . k[j] / sqrt(D)  +  slope[h] * (j - i)    for j <= i; here D = 4
//
// Spelled in plain code below. The bias becomes part of the kernel's score; neither it nor the mask is ever a matrix.
//
//   $ fovea inspect examples/positions/alibi.mlir | grep fused
//   fused ... causal ... (x * 0.5) + (slopes[h] * (k - q))
//   $ fovea run examples/positions/alibi.mlir --input q=random:1x2x4x4 --input k=random:1x2x4x4 --input v=random:1x2x4x4
//   output: [1, 2, 4, 4] f32
//   ...
//
// Entry `slopes` shows what the op for the slopes gives, also for numbers of heads that are no power of two:
//
//   $ fovea run examples/positions/alibi.mlir --entry slopes
//   two: [2] f32
//     [0.0625, 0.0039]
//   three: [3] f32
//     [0.0625, 0.0039, 0.2500]

#query = affine_map<(b, h, i, j, d) -> (b, h, i, d)>
#key = affine_map<(b, h, i, j, d) -> (b, h, j, d)>
#pair = affine_map<(b, h, i, j, d) -> (b, h, i, j)>
#id = affine_map<(b, h, i, j) -> (b, h, i, j)>
#head = affine_map<(b, h, i, j) -> (h)>
!x = tensor<?x2x?x4xf32>
!scores = tensor<?x2x?x?xf32>

func.func @forward(%q: !x {fovea.name = "q", fovea.dims = ["batch", "words"]}, %k: !x {fovea.name = "k", fovea.dims = ["batch", "words"]},
                   %v: !x {fovea.name = "v", fovea.dims = ["batch", "words"]})
    -> (!x {fovea.name = "output", fovea.dims = ["batch", "words"]}) attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %batch = tensor.dim %q, %c0 : !x
  %words = tensor.dim %q, %c2 : !x

  %matrix = tensor.empty(%batch, %words, %words) : !scores
  %matrix_zero = linalg.fill ins(%zero : f32) outs(%matrix : !scores) -> !scores
  %products = linalg.contract indexing_maps = [#query, #key, #pair] ins(%q, %k : !x, !x) outs(%matrix_zero : !scores) -> !scores

  %slopes = arith.constant dense<[0.0625, 0.00390625]> : tensor<2xf32>
  %scores = linalg.generic {indexing_maps = [#id, #head, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%products, %slopes : !scores, tensor<2xf32>) outs(%matrix : !scores) {
  ^bb0(%product: f32, %slope: f32, %unused: f32):
    %scale = arith.constant 0.5 : f32
    %never = arith.constant 0xFF800000 : f32 // -infinity
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %difference = arith.subi %j, %i : index
    %integer = arith.index_cast %difference : index to i32
    %distance = arith.sitofp %integer : i32 to f32
    %x = arith.mulf %product, %scale : f32
    %bias = arith.mulf %slope, %distance : f32
    %y = arith.addf %x, %bias : f32
    %allowed = arith.cmpi sle, %j, %i : index
    %masked = arith.select %allowed, %y, %never : f32
    linalg.yield %masked : f32
  } -> !scores

  %p = linalg.softmax dimension(3) ins(%scores : !scores) outs(%matrix : !scores) -> !scores
  %output = tensor.empty(%batch, %words) : !x
  %output_zero = linalg.fill ins(%zero : f32) outs(%output : !x) -> !x
  %o = linalg.contract indexing_maps = [#pair, #key, #query] ins(%p, %v : !scores, !x) outs(%output_zero : !x) -> !x
  return %o : !x
}

func.func @slopes() -> (tensor<2xf32> {fovea.name = "two"}, tensor<3xf32> {fovea.name = "three"}) attributes {fovea.entry} {
  %two = fovea.alibi_slopes : tensor<2xf32>
  %three = fovea.alibi_slopes : tensor<3xf32>
  return %two, %three : tensor<2xf32>, tensor<3xf32>
}
