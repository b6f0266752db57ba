// RUN: fovea-opt %s --fovea-raise-attention --canonicalize --cse | FileCheck %s

// A router: its logits come from no product of queries and keys.

// CHECK-LABEL: @mixture_of_values
// CHECK-NOT:     fovea.attention
// CHECK:         linalg.softmax dimension(1)
func.func @mixture_of_values(%logits: tensor<?x?xf32>, %v: tensor<?x6xf32>) -> tensor<?x6xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %logits, %c0 : tensor<?x?xf32>
  %m = tensor.dim %logits, %c1 : tensor<?x?xf32>
  %es = tensor.empty(%n, %m) : tensor<?x?xf32>
  %p = linalg.softmax dimension(1) ins(%logits : tensor<?x?xf32>) outs(%es : tensor<?x?xf32>) -> tensor<?x?xf32>
  %eo = tensor.empty(%n) : tensor<?x6xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<?x6xf32>) -> tensor<?x6xf32>
  %o = linalg.contract indexing_maps = [affine_map<(i, d, j) -> (i, j)>, affine_map<(i, d, j) -> (j, d)>, affine_map<(i, d, j) -> (i, d)>]
      ins(%p, %v : tensor<?x?xf32>, tensor<?x6xf32>) outs(%zo : tensor<?x6xf32>) -> tensor<?x6xf32>
  return %o : tensor<?x6xf32>
}
