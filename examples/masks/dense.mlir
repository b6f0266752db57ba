// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A dense mask: the caller says for each query and key whether it may be seen. What no formula describes, a graph for example.
//
//     allowed(i, j) = mask[i, j] != 0
//
// The scores that are not allowed are replaced by -1e9, so a word that sees nothing gives the mean of all values
// (masks/fills.mlir); the first row of the mask below is such a row. A dense mask is read, element by element:
// the one mask that costs memory of queries times keys. If a formula describes yours, write the formula.
//
//   $ fovea inspect examples/masks/dense.mlir | grep fused
//   fused ... dense ... x
//   $ fovea compile examples/masks/dense.mlir --emit=graph | grep -o 'fill([a-z]*)'
//   fill(mean)
//   $ fovea run examples/masks/dense.mlir --input 'mask=[[0,0,0], [1,0,0], [0,1,1]]' --input 'q=[[0,0,0,0], [0,0,0,0], [0,0,0,0]]' \
//         --input k=random:3x4 --input 'v=[[1], [2], [6]]'
//   output: [3, 1] f32
//     [[3.0000],
//      [1.0000],
//      [4.0000]]

#query = affine_map<(i, j, d) -> (i, d)>
#key = affine_map<(i, j, d) -> (j, d)>
#pair = affine_map<(i, j, d) -> (i, j)>
#id = affine_map<(i, j) -> (i, j)>

func.func @forward(%q: tensor<?x4xf32> {fovea.name = "q", fovea.dims = ["queries"]},
                   %k: tensor<?x4xf32> {fovea.name = "k", fovea.dims = ["keys"]},
                   %v: tensor<?x1xf32> {fovea.name = "v", fovea.dims = ["keys"]},
                   %mask: tensor<?x?xi64> {fovea.name = "mask", fovea.dims = ["queries", "keys"]})
    -> (tensor<?x1xf32> {fovea.name = "output", fovea.dims = ["queries"]})
    attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %queries = tensor.dim %q, %c0 : tensor<?x4xf32>
  %keys = tensor.dim %k, %c0 : tensor<?x4xf32>

  %matrix = tensor.empty(%queries, %keys) : tensor<?x?xf32>
  %matrix_zero = linalg.fill ins(%zero : f32) outs(%matrix : tensor<?x?xf32>) -> tensor<?x?xf32>
  %products = linalg.contract indexing_maps = [#query, #key, #pair]
      ins(%q, %k : tensor<?x4xf32>, tensor<?x4xf32>) outs(%matrix_zero : tensor<?x?xf32>) -> tensor<?x?xf32>

  // where(mask != 0, x / sqrt(4), -1e9)
  %masked = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%products, %mask : tensor<?x?xf32>, tensor<?x?xi64>) outs(%matrix : tensor<?x?xf32>) {
  ^bb0(%product: f32, %m: i64, %unused: f32):
    %scale = arith.constant 0.5 : f32
    %very_negative = arith.constant -1.0e9 : f32
    %no = arith.constant 0 : i64
    %allowed = arith.cmpi ne, %m, %no : i64
    %x = arith.mulf %product, %scale : f32
    %y = arith.select %allowed, %x, %very_negative : f32
    linalg.yield %y : f32
  } -> tensor<?x?xf32>

  %p = linalg.softmax dimension(1) ins(%masked : tensor<?x?xf32>) outs(%matrix : tensor<?x?xf32>) -> tensor<?x?xf32>
  %output = tensor.empty(%queries) : tensor<?x1xf32>
  %output_zero = linalg.fill ins(%zero : f32) outs(%output : tensor<?x1xf32>) -> tensor<?x1xf32>
  %o = linalg.matmul ins(%p, %v : tensor<?x?xf32>, tensor<?x1xf32>) outs(%output_zero : tensor<?x1xf32>) -> tensor<?x1xf32>
  return %o : tensor<?x1xf32>
}
