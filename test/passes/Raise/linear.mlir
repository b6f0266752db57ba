// RUN: fovea-opt %s --fovea-raise-linear --split-input-file | FileCheck %s

// ONNX: the weight as [K, N], the bias by an elementwise sum.

// CHECK: fovea.weight @[[$T:.*]] : tensor<3x2xf32> = #fovea.transpose<#fovea.stored<"f", "w", tensor<2x3xf32>>>
// CHECK-LABEL: func.func @matmul
// CHECK-SAME: (%[[X:.*]]: tensor<?x?x2xf32>)
// CHECK-DAG: %[[W:.*]] = fovea.weight_ref @[[$T]] : tensor<3x2xf32>
// CHECK-DAG: %[[B:.*]] = fovea.weight_ref @b
// CHECK: %[[Y:.*]] = fovea.linear %[[X]], %[[W]] bias(%[[B]] : tensor<3xf32>) : tensor<?x?x2xf32>, tensor<3x2xf32> -> tensor<?x?x3xf32>
// CHECK-NEXT: return %[[Y]]
fovea.weight @w : tensor<2x3xf32> = #fovea.stored<"f", "w", tensor<2x3xf32>>
fovea.weight @b : tensor<3xf32> = #fovea.stored<"f", "b", tensor<3xf32>>
func.func @matmul(%x: tensor<?x?x2xf32>) -> tensor<?x?x3xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x?x2xf32>
  %s = tensor.dim %x, %c1 : tensor<?x?x2xf32>
  %w = fovea.weight_ref @w : tensor<2x3xf32>
  %init = tensor.empty(%n, %s) : tensor<?x?x3xf32>
  %0 = linalg.fill ins(%zero : f32) outs(%init : tensor<?x?x3xf32>) -> tensor<?x?x3xf32>
  %1 = linalg.contract indexing_maps = [affine_map<(b, s, n, k) -> (b, s, k)>, affine_map<(b, s, n, k) -> (k, n)>, affine_map<(b, s, n, k) -> (b, s, n)>]
       ins(%x, %w : tensor<?x?x2xf32>, tensor<2x3xf32>) outs(%0 : tensor<?x?x3xf32>) -> tensor<?x?x3xf32>
  %b = fovea.weight_ref @b : tensor<3xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(b, s, n) -> (n)>, affine_map<(b, s, n) -> (b, s, n)>, affine_map<(b, s, n) -> (b, s, n)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%b, %1 : tensor<3xf32>, tensor<?x?x3xf32>) outs(%init : tensor<?x?x3xf32>) {
  ^bb0(%p: f32, %q: f32, %out: f32):
    %3 = arith.addf %p, %q : f32
    linalg.yield %3 : f32
  } -> tensor<?x?x3xf32>
  return %2 : tensor<?x?x3xf32>
}

// -----

// Gemm of collapsed rows, its weight transposed in the graph from [N, K], and the weight as the first operand.

// CHECK-LABEL: func.func @gemm
// CHECK-SAME: (%[[X:.*]]: tensor<?x?x2xf32>)
// CHECK-DAG: %[[W:.*]] = fovea.weight_ref @w : tensor<3x2xf32>
// CHECK-DAG: %[[B:.*]] = fovea.weight_ref @b
// CHECK: %[[Y:.*]] = fovea.linear %[[X]], %[[W]] bias(%[[B]] : tensor<3xf32>) : tensor<?x?x2xf32>, tensor<3x2xf32> -> tensor<?x?x3xf32>
// CHECK-NEXT: return %[[Y]]
fovea.weight @w : tensor<3x2xf32> = #fovea.stored<"f", "w", tensor<3x2xf32>>
fovea.weight @b : tensor<3xf32> = #fovea.stored<"f", "b", tensor<3xf32>>
func.func @gemm(%x: tensor<?x?x2xf32>) -> tensor<?x?x3xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x?x2xf32>
  %s = tensor.dim %x, %c1 : tensor<?x?x2xf32>
  %rows = arith.muli %n, %s : index
  %w = fovea.weight_ref @w : tensor<3x2xf32>
  %e = tensor.empty() : tensor<2x3xf32>
  %t = linalg.transpose ins(%w : tensor<3x2xf32>) outs(%e : tensor<2x3xf32>) permutation = [1, 0]
  %f = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x?x2xf32> into tensor<?x2xf32>
  %init = tensor.empty(%rows) : tensor<?x3xf32>
  %0 = linalg.fill ins(%zero : f32) outs(%init : tensor<?x3xf32>) -> tensor<?x3xf32>
  %1 = linalg.contract indexing_maps = [affine_map<(r, n, k) -> (k, n)>, affine_map<(r, n, k) -> (r, k)>, affine_map<(r, n, k) -> (r, n)>]
       ins(%t, %f : tensor<2x3xf32>, tensor<?x2xf32>) outs(%0 : tensor<?x3xf32>) -> tensor<?x3xf32>
  %b = fovea.weight_ref @b : tensor<3xf32>
  %bb = linalg.broadcast ins(%b : tensor<3xf32>) outs(%init : tensor<?x3xf32>) dimensions = [0]
  %2 = arith.addf %1, %bb : tensor<?x3xf32>
  %3 = tensor.expand_shape %2 [[0, 1], [2]] output_shape [%n, %s, 3] : tensor<?x3xf32> into tensor<?x?x3xf32>
  return %3 : tensor<?x?x3xf32>
}

// -----

// An einsum from [.., M] to heads [.., H, D], with the heads in front, and one back. The weights are [H, M, D] and [H, D, M].

// CHECK-DAG: fovea.weight @[[$Q:.*]] : tensor<6x5xf32> = #fovea.reshape<#fovea.permute<#fovea.stored<"f", "q", tensor<2x5x3xf32>>, [0, 2, 1]>, [6, 5]>
// CHECK-DAG: fovea.weight @[[$BQ:.*]] : tensor<6xf32> = #fovea.reshape<#fovea.stored<"f", "bq", tensor<2x3xf32>>, [6]>
// CHECK-DAG: fovea.weight @[[$O:.*]] : tensor<5x6xf32> = #fovea.transpose<#fovea.reshape<#fovea.stored<"f", "o", tensor<2x3x5xf32>>, [6, 5]>>
// CHECK-LABEL: func.func @einsum
// CHECK-SAME: (%[[X:.*]]: tensor<1x4x5xf32>, %[[A:.*]]: tensor<1x4x2x3xf32>)
// CHECK-DAG: %[[WQ:.*]] = fovea.weight_ref @[[$Q]]
// CHECK-DAG: %[[WB:.*]] = fovea.weight_ref @[[$BQ]]
// CHECK: %[[L:.*]] = fovea.linear %[[X]], %[[WQ]] bias(%[[WB]] : tensor<6xf32>)
// CHECK: %[[E:.*]] = tensor.expand_shape %[[L]] {{\[\[}}0], [1], [2, 3]]
// CHECK: %[[T:.*]] = linalg.transpose ins(%[[E]] : tensor<1x4x2x3xf32>) {{.*}} permutation = [0, 2, 1, 3]
// CHECK-DAG: %[[C:.*]] = tensor.collapse_shape %[[A]] {{\[\[}}0], [1], [2, 3]]
// CHECK-DAG: %[[WO:.*]] = fovea.weight_ref @[[$O]]
// CHECK: %[[Y:.*]] = fovea.linear %[[C]], %[[WO]]
// CHECK: return %[[T]], %[[Y]]
fovea.weight @q : tensor<2x5x3xf32> = #fovea.stored<"f", "q", tensor<2x5x3xf32>>
fovea.weight @bq : tensor<2x3xf32> = #fovea.stored<"f", "bq", tensor<2x3xf32>>
fovea.weight @o : tensor<2x3x5xf32> = #fovea.stored<"f", "o", tensor<2x3x5xf32>>
func.func @einsum(%x: tensor<1x4x5xf32>, %a: tensor<1x4x2x3xf32>) -> (tensor<1x2x4x3xf32>, tensor<1x4x5xf32>) {
  %zero = arith.constant 0.0 : f32
  %wq = fovea.weight_ref @q : tensor<2x5x3xf32>
  %wb = fovea.weight_ref @bq : tensor<2x3xf32>
  %wo = fovea.weight_ref @o : tensor<2x3x5xf32>
  %i0 = tensor.empty() : tensor<1x2x4x3xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%i0 : tensor<1x2x4x3xf32>) -> tensor<1x2x4x3xf32>
  %0 = linalg.contract indexing_maps = [affine_map<(b, s, h, d, m) -> (b, s, m)>, affine_map<(b, s, h, d, m) -> (h, m, d)>, affine_map<(b, s, h, d, m) -> (b, h, s, d)>]
       ins(%x, %wq : tensor<1x4x5xf32>, tensor<2x5x3xf32>) outs(%f0 : tensor<1x2x4x3xf32>) -> tensor<1x2x4x3xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(b, h, s, d) -> (b, h, s, d)>, affine_map<(b, h, s, d) -> (h, d)>, affine_map<(b, h, s, d) -> (b, h, s, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%0, %wb : tensor<1x2x4x3xf32>, tensor<2x3xf32>) outs(%i0 : tensor<1x2x4x3xf32>) {
  ^bb0(%p: f32, %r: f32, %out: f32):
    %3 = arith.addf %p, %r : f32
    linalg.yield %3 : f32
  } -> tensor<1x2x4x3xf32>
  %i1 = tensor.empty() : tensor<1x4x5xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%i1 : tensor<1x4x5xf32>) -> tensor<1x4x5xf32>
  %2 = linalg.contract indexing_maps = [affine_map<(b, s, m, h, d) -> (b, s, h, d)>, affine_map<(b, s, m, h, d) -> (h, d, m)>, affine_map<(b, s, m, h, d) -> (b, s, m)>]
       ins(%a, %wo : tensor<1x4x2x3xf32>, tensor<2x3x5xf32>) outs(%f1 : tensor<1x4x5xf32>) -> tensor<1x4x5xf32>
  return %1, %2 : tensor<1x2x4x3xf32>, tensor<1x4x5xf32>
}

// -----

// A slice of stacked projections and a narrow weight that the graph widens, in a function that is called for two layers.

// CHECK-DAG: fovea.weight @[[$W0:.*]] : tensor<3x2xf16> = #fovea.slice<#fovea.stored<"f", "w0", tensor<6x2xf16>>, 0 from 3 count 3>
// CHECK-DAG: fovea.weight @[[$W1:.*]] : tensor<3x2xf16> = #fovea.slice<#fovea.stored<"f", "w1", tensor<6x2xf16>>, 0 from 3 count 3>
// CHECK-LABEL: func.func private @layer
// CHECK-SAME: (%[[X:.*]]: tensor<?x2xf32>, %{{.*}}: tensor<6x2xf16>, %[[W:.*]]: tensor<3x2xf16>)
// CHECK: fovea.linear %[[X]], %[[W]] : tensor<?x2xf32>, tensor<3x2xf16> -> tensor<?x3xf32>
// CHECK-LABEL: func.func @two_layers
// CHECK: %[[R0:.*]] = fovea.weight_ref @[[$W0]]
// CHECK-NEXT: call @layer(%{{.*}}, %{{.*}}, %[[R0]])
// CHECK: %[[R1:.*]] = fovea.weight_ref @[[$W1]]
// CHECK-NEXT: call @layer(%{{.*}}, %{{.*}}, %[[R1]])
fovea.weight @w0 : tensor<6x2xf16> = #fovea.stored<"f", "w0", tensor<6x2xf16>>
fovea.weight @w1 : tensor<6x2xf16> = #fovea.stored<"f", "w1", tensor<6x2xf16>>
func.func private @layer(%x: tensor<?x2xf32>, %w: tensor<6x2xf16>) -> tensor<?x3xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x2xf32>
  %s = tensor.extract_slice %w[3, 0] [3, 2] [1, 1] : tensor<6x2xf16> to tensor<3x2xf16>
  %f = arith.extf %s : tensor<3x2xf16> to tensor<3x2xf32>
  %init = tensor.empty(%n) : tensor<?x3xf32>
  %0 = linalg.fill ins(%zero : f32) outs(%init : tensor<?x3xf32>) -> tensor<?x3xf32>
  %1 = linalg.contract indexing_maps = [affine_map<(b, n, k) -> (b, k)>, affine_map<(b, n, k) -> (n, k)>, affine_map<(b, n, k) -> (b, n)>]
       ins(%x, %f : tensor<?x2xf32>, tensor<3x2xf32>) outs(%0 : tensor<?x3xf32>) -> tensor<?x3xf32>
  return %1 : tensor<?x3xf32>
}
func.func @two_layers(%x: tensor<?x2xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>) {
  %w0 = fovea.weight_ref @w0 : tensor<6x2xf16>
  %w1 = fovea.weight_ref @w1 : tensor<6x2xf16>
  %0 = call @layer(%x, %w0) : (tensor<?x2xf32>, tensor<6x2xf16>) -> tensor<?x3xf32>
  %1 = call @layer(%x, %w1) : (tensor<?x2xf32>, tensor<6x2xf16>) -> tensor<?x3xf32>
  return %0, %1 : tensor<?x3xf32>, tensor<?x3xf32>
}

// -----

// The sum starts from a tensor.

// CHECK-LABEL: func.func @start
// CHECK-SAME: (%[[X:.*]]: tensor<4x2xf32>, %[[R:.*]]: tensor<4x3xf32>)
// CHECK: %[[L:.*]] = fovea.linear %[[X]]
// CHECK: %[[Y:.*]] = arith.addf %[[R]], %[[L]]
// CHECK: return %[[Y]]
fovea.weight @w : tensor<2x3xf32> = #fovea.stored<"f", "w", tensor<2x3xf32>>
func.func @start(%x: tensor<4x2xf32>, %r: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %w = fovea.weight_ref @w : tensor<2x3xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x2xf32>, tensor<2x3xf32>) outs(%r : tensor<4x3xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// -----

// What another op reads too has no bias; one that is as long as another axis is none.

// CHECK-LABEL: func.func @no_bias
// CHECK: fovea.linear %{{[^ ]*}}, %{{[^ ]*}} : tensor<3x2xf32>
// CHECK: linalg.generic
// CHECK: fovea.linear %{{[^ ]*}}, %{{[^ ]*}} : tensor<3x2xf32>
// CHECK: linalg.generic
fovea.weight @w : tensor<2x3xf32> = #fovea.stored<"f", "w", tensor<2x3xf32>>
fovea.weight @b : tensor<3xf32> = #fovea.stored<"f", "b", tensor<3xf32>>
#all = affine_map<(i, j) -> (i, j)>
func.func @no_bias(%x: tensor<3x2xf32>) -> (tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>) {
  %zero = arith.constant 0.0 : f32
  %w = fovea.weight_ref @w : tensor<2x3xf32>
  %b = fovea.weight_ref @b : tensor<3xf32>
  %e = tensor.empty() : tensor<3x3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x3xf32>) -> tensor<3x3xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<3x2xf32>, tensor<2x3xf32>) outs(%f : tensor<3x3xf32>) -> tensor<3x3xf32>
  %1 = linalg.generic {indexing_maps = [#all, affine_map<(i, j) -> (j)>, #all], iterator_types = ["parallel", "parallel"]}
      ins(%0, %b : tensor<3x3xf32>, tensor<3xf32>) outs(%e : tensor<3x3xf32>) {
  ^bb0(%p: f32, %q: f32, %out: f32):
    %4 = arith.addf %p, %q : f32
    linalg.yield %4 : f32
  } -> tensor<3x3xf32>
  %2 = linalg.matmul ins(%x, %w : tensor<3x2xf32>, tensor<2x3xf32>) outs(%f : tensor<3x3xf32>) -> tensor<3x3xf32>
  %3 = linalg.generic {indexing_maps = [#all, affine_map<(i, j) -> (i)>, #all], iterator_types = ["parallel", "parallel"]}
      ins(%2, %b : tensor<3x3xf32>, tensor<3xf32>) outs(%e : tensor<3x3xf32>) {
  ^bb0(%p: f32, %q: f32, %out: f32):
    %4 = arith.addf %p, %q : f32
    linalg.yield %4 : f32
  } -> tensor<3x3xf32>
  return %0, %1, %3 : tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>
}

// -----

// No linear: two computed operands; a weight for each batch; a weight whose extra axis is summed alone; integers.

// CHECK-LABEL: func.func @refused
// CHECK-NOT: fovea.linear
// CHECK: return
fovea.weight @w : tensor<2x3xf32> = #fovea.stored<"f", "w", tensor<2x3xf32>>
fovea.weight @w3 : tensor<4x2x3xf32> = #fovea.stored<"f", "w3", tensor<4x2x3xf32>>
fovea.weight @wi : tensor<2x3xi32> = #fovea.stored<"f", "wi", tensor<2x3xi32>>
func.func @refused(%x: tensor<4x2xf32>, %y: tensor<2x3xf32>, %xb: tensor<4x5x2xf32>, %xi: tensor<4x2xi32>, %f: tensor<4x3xf32>, %fb: tensor<4x5x3xf32>, %fi: tensor<4x3xi32>)
    -> (tensor<4x3xf32>, tensor<4x5x3xf32>, tensor<4x3xf32>, tensor<4x3xi32>) {
  %w = fovea.weight_ref @w : tensor<2x3xf32>
  %w3 = fovea.weight_ref @w3 : tensor<4x2x3xf32>
  %wi = fovea.weight_ref @wi : tensor<2x3xi32>
  %0 = linalg.matmul ins(%x, %y : tensor<4x2xf32>, tensor<2x3xf32>) outs(%f : tensor<4x3xf32>) -> tensor<4x3xf32>
  %1 = linalg.batch_matmul ins(%xb, %w3 : tensor<4x5x2xf32>, tensor<4x2x3xf32>) outs(%fb : tensor<4x5x3xf32>) -> tensor<4x5x3xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(m, n, k, j) -> (m, k)>, affine_map<(m, n, k, j) -> (j, k, n)>, affine_map<(m, n, k, j) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w3 : tensor<4x2xf32>, tensor<4x2x3xf32>) outs(%f : tensor<4x3xf32>) {
  ^bb0(%p: f32, %q: f32, %out: f32):
    %4 = arith.mulf %p, %q : f32
    %5 = arith.addf %out, %4 : f32
    linalg.yield %5 : f32
  } -> tensor<4x3xf32>
  %3 = linalg.matmul ins(%xi, %wi : tensor<4x2xi32>, tensor<2x3xi32>) outs(%fi : tensor<4x3xi32>) -> tensor<4x3xi32>
  return %0, %1, %2, %3 : tensor<4x3xf32>, tensor<4x5x3xf32>, tensor<4x3xf32>, tensor<4x3xi32>
}

// -----

// Halves as exporters write them: the sum in f32, rounded, and a bias behind it. One linear rounds once.

// CHECK-LABEL: func.func @halves
// CHECK-SAME: (%[[X:.*]]: tensor<?x2xf16>)
// CHECK-DAG: %[[W:.*]] = fovea.weight_ref @{{.*}} : tensor<3x2xf16>
// CHECK-DAG: %[[B:.*]] = fovea.weight_ref @b
// CHECK: %[[Y:.*]] = fovea.linear %[[X]], %[[W]] bias(%[[B]] : tensor<3xf16>) : tensor<?x2xf16>, tensor<3x2xf16> -> tensor<?x3xf16>
// CHECK-NEXT: return %[[Y]]
fovea.weight @w : tensor<2x3xf16> = #fovea.stored<"f", "w", tensor<2x3xf16>>
fovea.weight @b : tensor<3xf16> = #fovea.stored<"f", "b", tensor<3xf16>>
func.func @halves(%x: tensor<?x2xf16>) -> tensor<?x3xf16> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x2xf16>
  %w = fovea.weight_ref @w : tensor<2x3xf16>
  %b = fovea.weight_ref @b : tensor<3xf16>
  %init = tensor.empty(%n) : tensor<?x3xf32>
  %0 = linalg.fill ins(%zero : f32) outs(%init : tensor<?x3xf32>) -> tensor<?x3xf32>
  %1 = linalg.matmul ins(%x, %w : tensor<?x2xf16>, tensor<2x3xf16>) outs(%0 : tensor<?x3xf32>) -> tensor<?x3xf32>
  %2 = arith.truncf %1 : tensor<?x3xf32> to tensor<?x3xf16>
  %empty = tensor.empty(%n) : tensor<?x3xf16>
  %3 = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%2, %b : tensor<?x3xf16>, tensor<3xf16>) outs(%empty : tensor<?x3xf16>) {
  ^bb0(%p: f16, %q: f16, %out: f16):
    %4 = arith.addf %p, %q : f16
    linalg.yield %4 : f16
  } -> tensor<?x3xf16>
  return %3 : tensor<?x3xf16>
}

// -----

// Not: a sum that is read besides, or that begins with something, is not only rounded.

// CHECK-LABEL: func.func @wide_sums
// CHECK-COUNT-2: linalg.matmul
// CHECK-NOT: fovea.linear
fovea.weight @w : tensor<2x3xf16> = #fovea.stored<"f", "w", tensor<2x3xf16>>
func.func @wide_sums(%x: tensor<4x2xf16>, %s: tensor<4x3xf32>) -> (tensor<4x3xf16>, tensor<4x3xf32>, tensor<4x3xf16>) {
  %zero = arith.constant 0.0 : f32
  %w = fovea.weight_ref @w : tensor<2x3xf16>
  %init = tensor.empty() : tensor<4x3xf32>
  %0 = linalg.fill ins(%zero : f32) outs(%init : tensor<4x3xf32>) -> tensor<4x3xf32>
  %1 = linalg.matmul ins(%x, %w : tensor<4x2xf16>, tensor<2x3xf16>) outs(%0 : tensor<4x3xf32>) -> tensor<4x3xf32>
  %2 = arith.truncf %1 : tensor<4x3xf32> to tensor<4x3xf16>
  %3 = linalg.matmul ins(%x, %w : tensor<4x2xf16>, tensor<2x3xf16>) outs(%s : tensor<4x3xf32>) -> tensor<4x3xf32>
  %4 = arith.truncf %3 : tensor<4x3xf32> to tensor<4x3xf16>
  return %2, %1, %4 : tensor<4x3xf16>, tensor<4x3xf32>, tensor<4x3xf16>
}
