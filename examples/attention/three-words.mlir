// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scaled dot-product attention by hand (Vaswani et al. 2017, eq. 1), three words long.
//
//     S = Q K^T / sqrt(4)           score:   how well what word i asks for fits what word j offers
//     P = softmax(S) over each row  weight:  exp(S[i,j]) / sum_k exp(S[i,k]), each row sums to one
//     O = P V                       output:  each word gets the mean of what all say, by these weights
//
//     word     asks for q      offers k        says v
//     cats     2 0 2 0         1 0 1 0         1 0
//     drink    0 2 0 2         0 1 1 0         0 1
//     milk     2 2 0 0         0 0 1 1         1 1
//
// The first row by hand: q . k is 4, 2 and 2, so the scores are 2, 1 and 1; exp gives 7.389, 2.718 and
// 2.718, in all 12.826; divided by that, 0.5761, 0.2119 and 0.2119. "cats" says (1, 0), "milk" says (1, 1),
// so the first number of its output is 0.5761 + 0.2119 = 0.7881.
//
//   $ fovea run examples/attention/three-words.mlir --input 'q=[[2,0,2,0], [0,2,0,2], [2,2,0,0]]' \
//         --input 'k=[[1,0,1,0], [0,1,1,0], [0,0,1,1]]' --input 'v=[[1,0], [0,1], [1,1]]'
//   scores: [3, 3] f32
//     [[2.0000, 1.0000, 1.0000],
//      [0.0000, 1.0000, 1.0000],
//      [1.0000, 1.0000, 0.0000]]
//   weights: [3, 3] f32
//     [[0.5761, 0.2119, 0.2119],
//      [0.1554, 0.4223, 0.4223],
//      [0.4223, 0.4223, 0.1554]]
//   output: [3, 2] f32
//     [[0.7881, 0.4239],
//      [0.5777, 0.8446],
//      [0.5777, 0.5777]]
//
// Below, each line of the formula is an ordinary tensor computation; softmax is even taken apart. The
// compiler finds that together they are one attention, and says so:
//
//   $ fovea inspect examples/attention/three-words.mlir | grep fused
//   fused ... x
//   $ fovea compile examples/attention/three-words.mlir --emit=graph | grep -o 'fovea.attention .* scale([^)]*)'
//   fovea.attention ... scale(5.000000e-01)

#rows = affine_map<(i, j) -> (i)>
#id = affine_map<(i, j) -> (i, j)>
#query = affine_map<(i, j, d) -> (i, d)>
#key = affine_map<(i, j, d) -> (j, d)>
#pair = affine_map<(i, j, d) -> (i, j)>

func.func @forward(%q: tensor<3x4xf32> {fovea.name = "q"}, %k: tensor<3x4xf32> {fovea.name = "k"}, %v: tensor<3x2xf32> {fovea.name = "v"})
    -> (tensor<3x3xf32> {fovea.name = "scores"}, tensor<3x3xf32> {fovea.name = "weights"}, tensor<3x2xf32> {fovea.name = "output"})
    attributes {fovea.entry} {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32 // -infinity

  // Q K^T
  %matrix = tensor.empty() : tensor<3x3xf32>
  %matrix_zero = linalg.fill ins(%zero : f32) outs(%matrix : tensor<3x3xf32>) -> tensor<3x3xf32>
  %products = linalg.contract indexing_maps = [#query, #key, #pair]
      ins(%q, %k : tensor<3x4xf32>, tensor<3x4xf32>) outs(%matrix_zero : tensor<3x3xf32>) -> tensor<3x3xf32>

  // / sqrt(4)
  %root = arith.constant dense<2.0> : tensor<3x3xf32>
  %scores = arith.divf %products, %root : tensor<3x3xf32>

  // softmax, with the greatest score of each row taken off first, so that exp stays in range
  %row = tensor.empty() : tensor<3xf32>
  %row_lowest = linalg.fill ins(%lowest : f32) outs(%row : tensor<3xf32>) -> tensor<3xf32>
  %row_zero = linalg.fill ins(%zero : f32) outs(%row : tensor<3xf32>) -> tensor<3xf32>
  %greatest = linalg.reduce {arith.maximumf} ins(%scores : tensor<3x3xf32>) outs(%row_lowest : tensor<3xf32>) dimensions = [1]
  %exponentials = linalg.generic {indexing_maps = [#id, #rows, #id], iterator_types = ["parallel", "parallel"]}
      ins(%scores, %greatest : tensor<3x3xf32>, tensor<3xf32>) outs(%matrix : tensor<3x3xf32>) {
  ^bb0(%s: f32, %m: f32, %unused: f32):
    %difference = arith.subf %s, %m : f32
    %e = math.exp %difference : f32
    linalg.yield %e : f32
  } -> tensor<3x3xf32>
  %sum = linalg.reduce {arith.addf} ins(%exponentials : tensor<3x3xf32>) outs(%row_zero : tensor<3xf32>) dimensions = [1]
  %weights = linalg.generic {indexing_maps = [#id, #rows, #id], iterator_types = ["parallel", "parallel"]}
      ins(%exponentials, %sum : tensor<3x3xf32>, tensor<3xf32>) outs(%matrix : tensor<3x3xf32>) {
  ^bb0(%e: f32, %all: f32, %unused: f32):
    %p = arith.divf %e, %all : f32
    linalg.yield %p : f32
  } -> tensor<3x3xf32>

  // P V
  %output = tensor.empty() : tensor<3x2xf32>
  %output_zero = linalg.fill ins(%zero : f32) outs(%output : tensor<3x2xf32>) -> tensor<3x2xf32>
  %o = linalg.matmul ins(%weights, %v : tensor<3x3xf32>, tensor<3x2xf32>) outs(%output_zero : tensor<3x2xf32>) -> tensor<3x2xf32>
  return %scores, %weights, %o : tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x2xf32>
}
