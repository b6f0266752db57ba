// RUN: fovea-opt --verify-roundtrip %s -o /dev/null

// One text and one head, by the named ops of a first lesson: transpose, matmul, softmax, matmul.

func.func @forward(%q: tensor<?x8xf32> {fovea.name = "q", fovea.dims = ["queries"]},
                   %k: tensor<?x8xf32> {fovea.name = "k", fovea.dims = ["keys"]},
                   %v: tensor<?x6xf32> {fovea.name = "v", fovea.dims = ["keys"]})
    -> (tensor<?x6xf32> {fovea.name = "output", fovea.dims = ["queries"]})
    attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %queries = tensor.dim %q, %c0 : tensor<?x8xf32>
  %keys = tensor.dim %k, %c0 : tensor<?x8xf32>
  %turned_empty = tensor.empty(%keys) : tensor<8x?xf32>
  %turned = linalg.transpose ins(%k : tensor<?x8xf32>) outs(%turned_empty : tensor<8x?xf32>) permutation = [1, 0]
  %scores_empty = tensor.empty(%queries, %keys) : tensor<?x?xf32>
  %scores_zero = linalg.fill ins(%zero : f32) outs(%scores_empty : tensor<?x?xf32>) -> tensor<?x?xf32>
  %scores = linalg.matmul ins(%q, %turned : tensor<?x8xf32>, tensor<8x?xf32>) outs(%scores_zero : tensor<?x?xf32>) -> tensor<?x?xf32>
  %p = linalg.softmax dimension(1) ins(%scores : tensor<?x?xf32>) outs(%scores_empty : tensor<?x?xf32>) -> tensor<?x?xf32>
  %out_empty = tensor.empty(%queries) : tensor<?x6xf32>
  %out_zero = linalg.fill ins(%zero : f32) outs(%out_empty : tensor<?x6xf32>) -> tensor<?x6xf32>
  %out = linalg.matmul ins(%p, %v : tensor<?x?xf32>, tensor<?x6xf32>) outs(%out_zero : tensor<?x6xf32>) -> tensor<?x6xf32>
  return %out : tensor<?x6xf32>
}
