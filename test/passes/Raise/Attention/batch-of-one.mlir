// RUN: fovea-opt %s --fovea-raise-attention --fovea-raise-views | FileCheck %s

// A batch whose size is fixed at one is a batch still, and four heads beside it are heads: the transposes that the source writes around the attention meet its own.

!x = tensor<1x9x4x16xf32>
!t = tensor<1x4x9x16xf32>
!s = tensor<1x4x9x9xf32>

// CHECK-LABEL: @batch_of_one
// CHECK-SAME: %[[Q:.*]]: tensor<1x9x4x16xf32>, %[[K:.*]]: tensor<1x9x4x16xf32>, %[[V:.*]]: tensor<1x9x4x16xf32>)
// CHECK-NOT: linalg.transpose
// CHECK: %[[A:.*]] = fovea.attention %[[Q]], %[[K]], %[[V]] scale(2.500000e-01) : tensor<1x9x4x16xf32>, tensor<1x9x4x16xf32>, tensor<1x9x4x16xf32> -> tensor<1x9x4x16xf32>
// CHECK-NOT: linalg.transpose
// CHECK: return %[[A]]
func.func @batch_of_one(%q: !x, %k: !x, %v: !x) -> !x {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant dense<0.25> : !s
  %e = tensor.empty() : !t
  %qt = linalg.transpose ins(%q : !x) outs(%e : !t) permutation = [0, 2, 1, 3]
  %kt = linalg.transpose ins(%k : !x) outs(%e : !t) permutation = [0, 2, 1, 3]
  %vt = linalg.transpose ins(%v : !x) outs(%e : !t) permutation = [0, 2, 1, 3]
  %es = tensor.empty() : !s
  %none = linalg.fill ins(%zero : f32) outs(%es : !s) -> !s
  %product = linalg.contract indexing_maps = [affine_map<(b, h, q, k, d) -> (b, h, q, d)>, affine_map<(b, h, q, k, d) -> (b, h, k, d)>,
                                              affine_map<(b, h, q, k, d) -> (b, h, q, k)>]
      ins(%qt, %kt : !t, !t) outs(%none : !s) -> !s
  %scores = arith.mulf %product, %scale : !s
  %p = linalg.softmax dimension(3) ins(%scores : !s) outs(%es : !s) -> !s
  %nothing = linalg.fill ins(%zero : f32) outs(%e : !t) -> !t
  %y = linalg.contract indexing_maps = [affine_map<(b, h, q, d, k) -> (b, h, q, k)>, affine_map<(b, h, q, d, k) -> (b, h, k, d)>,
                                        affine_map<(b, h, q, d, k) -> (b, h, q, d)>]
      ins(%p, %vt : !s, !t) outs(%nothing : !t) -> !t
  %er = tensor.empty() : !x
  %r = linalg.transpose ins(%y : !t) outs(%er : !x) permutation = [0, 2, 1, 3]
  return %r : !x
}

// Heads alone, in front of an axis of one, are a batch.
// CHECK-LABEL: @one_head
// CHECK: fovea.attention {{.*}} : tensor<4x9x1x16xf32>, tensor<4x9x1x16xf32>, tensor<4x9x1x16xf32> -> tensor<4x9x1x16xf32>
func.func @one_head(%q: tensor<4x1x9x16xf32>, %k: tensor<4x1x9x16xf32>, %v: tensor<4x1x9x16xf32>) -> tensor<4x1x9x16xf32> {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant dense<0.25> : tensor<4x1x9x9xf32>
  %es = tensor.empty() : tensor<4x1x9x9xf32>
  %none = linalg.fill ins(%zero : f32) outs(%es : tensor<4x1x9x9xf32>) -> tensor<4x1x9x9xf32>
  %product = linalg.contract indexing_maps = [affine_map<(b, h, q, k, d) -> (b, h, q, d)>, affine_map<(b, h, q, k, d) -> (b, h, k, d)>,
                                              affine_map<(b, h, q, k, d) -> (b, h, q, k)>]
      ins(%q, %k : tensor<4x1x9x16xf32>, tensor<4x1x9x16xf32>) outs(%none : tensor<4x1x9x9xf32>) -> tensor<4x1x9x9xf32>
  %scores = arith.mulf %product, %scale : tensor<4x1x9x9xf32>
  %p = linalg.softmax dimension(3) ins(%scores : tensor<4x1x9x9xf32>) outs(%es : tensor<4x1x9x9xf32>) -> tensor<4x1x9x9xf32>
  %e = tensor.empty() : tensor<4x1x9x16xf32>
  %nothing = linalg.fill ins(%zero : f32) outs(%e : tensor<4x1x9x16xf32>) -> tensor<4x1x9x16xf32>
  %y = linalg.contract indexing_maps = [affine_map<(b, h, q, d, k) -> (b, h, q, k)>, affine_map<(b, h, q, d, k) -> (b, h, k, d)>,
                                        affine_map<(b, h, q, d, k) -> (b, h, q, d)>]
      ins(%p, %v : tensor<4x1x9x9xf32>, tensor<4x1x9x16xf32>) outs(%nothing : tensor<4x1x9x16xf32>) -> tensor<4x1x9x16xf32>
  return %y : tensor<4x1x9x16xf32>
}
