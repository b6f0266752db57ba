// RUN: fovea-opt %s --fovea-to-graph | FileCheck %s --check-prefix=GRAPH
// RUN: fovea-opt %s --fovea-to-graph | fovea-opt --fovea-to-fused | FileCheck %s --check-prefix=FUSED
// RUN: fovea-opt %s --fovea-to-graph --fovea-to-fused | fovea-opt --fovea-to-scheduled --verify-roundtrip

// A function and a linear that nobody needs do not keep weights from being merged, and their weights go with them.
// Masks end beside their attention although CSE would join them.

// GRAPH-NOT: @unused
// GRAPH: fovea.weight @"q+k+v"
// GRAPH-NOT: fovea.weight
// FUSED-COUNT-1: fovea.weight
// FUSED-NOT: fovea.weight @
fovea.weight @q : tensor<8x8xf32> = #fovea.stored<"f", "q", tensor<8x8xf32>>
fovea.weight @k : tensor<8x8xf32> = #fovea.stored<"f", "k", tensor<8x8xf32>>
fovea.weight @v : tensor<8x8xf32> = #fovea.stored<"f", "v", tensor<8x8xf32>>
fovea.weight @unused : tensor<8xf32> = #fovea.stored<"f", "unused", tensor<8xf32>>

func.func private @unused_function(%x: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
  %k = fovea.weight_ref @k : tensor<8x8xf32>
  %0 = fovea.linear %x, %k : tensor<?x?x8xf32>, tensor<8x8xf32> -> tensor<?x?x8xf32>
  return %0 : tensor<?x?x8xf32>
}

// GRAPH-LABEL: func.func private @layer
// GRAPH-NOT: fovea.dropout
// GRAPH: %[[Y:.*]] = fovea.linear
// GRAPH-NOT: fovea.linear
// GRAPH: tensor.extract_slice %[[Y]]
// GRAPH: %[[M:.*]] = fovea.mask_causal
// GRAPH-NEXT: fovea.attention {{.*}} mask(%[[M]])
// GRAPH: %[[N:.*]] = fovea.mask_causal
// GRAPH-NEXT: fovea.attention {{.*}} mask(%[[N]])
// FUSED-LABEL: func.func private @layer
// FUSED: fovea.group
// FUSED: fovea.linear
// FUSED: tensor.extract_slice
// FUSED: tensor.expand_shape
// FUSED: fovea.group
// FUSED: fovea.mask_causal
// FUSED: fovea.attention
// FUSED: fovea.group
// FUSED: fovea.mask_causal
// FUSED: fovea.attention
func.func private @layer(%x: tensor<?x?x8xf32>, %m: !fovea.mask, %wq: tensor<8x8xf32>, %wk: tensor<8x8xf32>, %wv: tensor<8x8xf32>) -> tensor<?x?x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %x, %c0 : tensor<?x?x8xf32>
  %s = tensor.dim %x, %c1 : tensor<?x?x8xf32>
  %0 = fovea.linear %x, %wq : tensor<?x?x8xf32>, tensor<8x8xf32> -> tensor<?x?x8xf32>
  %1 = fovea.linear %x, %wk : tensor<?x?x8xf32>, tensor<8x8xf32> -> tensor<?x?x8xf32>
  %2 = fovea.linear %x, %wv : tensor<?x?x8xf32>, tensor<8x8xf32> -> tensor<?x?x8xf32>
  %dead = fovea.linear %0, %wk : tensor<?x?x8xf32>, tensor<8x8xf32> -> tensor<?x?x8xf32>
  %q = tensor.expand_shape %0 [[0], [1], [2, 3]] output_shape [%b, %s, 2, 4] : tensor<?x?x8xf32> into tensor<?x?x2x4xf32>
  %k = tensor.expand_shape %1 [[0], [1], [2, 3]] output_shape [%b, %s, 2, 4] : tensor<?x?x8xf32> into tensor<?x?x2x4xf32>
  %v = tensor.expand_shape %2 [[0], [1], [2, 3]] output_shape [%b, %s, 2, 4] : tensor<?x?x8xf32> into tensor<?x?x2x4xf32>
  %o = fovea.attention %q, %k, %v mask(%m) : tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32> -> tensor<?x?x2x4xf32>
  %p = fovea.attention %o, %k, %v mask(%m) : tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32> -> tensor<?x?x2x4xf32>
  %d = fovea.dropout %p rate(0.1) : tensor<?x?x2x4xf32>
  %y = tensor.collapse_shape %d [[0], [1], [2, 3]] : tensor<?x?x2x4xf32> into tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// GRAPH-LABEL: func.func @forward
// GRAPH: call @layer(%{{[^,]*}}, %{{[^,]*}}) : (tensor<?x?x8xf32>, tensor<24x8xf32>)
func.func @forward(%x: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> attributes {fovea.entry} {
  %q = fovea.weight_ref @q : tensor<8x8xf32>
  %k = fovea.weight_ref @k : tensor<8x8xf32>
  %v = fovea.weight_ref @v : tensor<8x8xf32>
  %m = fovea.mask_causal
  %y = call @layer(%x, %m, %q, %k, %v) : (tensor<?x?x8xf32>, !fovea.mask, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}
