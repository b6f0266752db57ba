// RUN: fovea-opt %s --fovea-gather-windows --fovea-raise-linear | FileCheck %s

// A matrix that the caller keeps, as frameworks do that compile graphs without their parameters, is read where it is if it is [outputs, inputs].

!x = tensor<?x64xf32>
!y = tensor<?x48xf32>
!w = tensor<48x64xf32>
!b = tensor<48xf32>

// CHECK-LABEL: @transposed
// CHECK-SAME: %[[X:.*]]: tensor<?x64xf32>, %[[W:.*]]: tensor<48x64xf32>, %[[B:.*]]: tensor<48xf32>)
// CHECK: %[[Y:.*]] = fovea.linear %[[X]], %[[W]] bias(%[[B]] : tensor<48xf32>) : tensor<?x64xf32>, tensor<48x64xf32> -> tensor<?x48xf32>
// CHECK-NEXT: return %[[Y]]
func.func @transposed(%x: !x, %w: !w, %b: !b) -> !y attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %rows = tensor.dim %x, %c0 : !x
  %empty = tensor.empty(%rows) : !y
  %none = linalg.fill ins(%zero : f32) outs(%empty : !y) -> !y
  %other = tensor.empty() : tensor<64x48xf32>
  %turned = linalg.transpose ins(%w : !w) outs(%other : tensor<64x48xf32>) permutation = [1, 0]
  %product = linalg.matmul ins(%x, %turned : !x, tensor<64x48xf32>) outs(%none : !y) -> !y
  %spread = linalg.broadcast ins(%b : !b) outs(%empty : !y) dimensions = [0]
  %y = arith.addf %product, %spread : !y
  return %y : !y
}

// It would have to be turned with each call.
// CHECK-LABEL: @inputs_first
// CHECK-NOT: fovea.linear
// CHECK: linalg.matmul
func.func @inputs_first(%x: !x, %w: tensor<64x48xf32>) -> !y attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %rows = tensor.dim %x, %c0 : !x
  %empty = tensor.empty(%rows) : !y
  %none = linalg.fill ins(%zero : f32) outs(%empty : !y) -> !y
  %y = linalg.matmul ins(%x, %w : !x, tensor<64x48xf32>) outs(%none : !y) -> !y
  return %y : !y
}

// What is computed, is of an open size or of another function is no weight.
// CHECK-LABEL: @computed
// CHECK-NOT: fovea.linear
// CHECK-COUNT-2: linalg.contract
func.func @computed(%x: !x, %w: !w, %open: tensor<?x64xf32>, %o: tensor<?x?xf32>) -> (!y, tensor<?x?xf32>) attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %rows = tensor.dim %x, %c0 : !x
  %empty = tensor.empty(%rows) : !y
  %none = linalg.fill ins(%zero : f32) outs(%empty : !y) -> !y
  %twice = arith.addf %w, %w : !w
  %y = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %twice : !x, !w) outs(%none : !y) -> !y
  %z = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %open : !x, tensor<?x64xf32>) outs(%o : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %y, %z : !y, tensor<?x?xf32>
}
// CHECK-LABEL: @part
// CHECK-NOT: fovea.linear
func.func private @part(%x: !x, %w: !w, %init: !y) -> !y {
  %y = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %w : !x, !w) outs(%init : !y) -> !y
  return %y : !y
}

// A convolution's is [outputs, channels, rows, columns] and a matrix as it lies there; its bias stands among axes of one.
// CHECK-LABEL: @patches
// CHECK-SAME: %[[X:.*]]: tensor<?x3x224x224xf32>, %[[W:.*]]: tensor<32x3x16x16xf32>, %[[B:.*]]: tensor<32xf32>)
// CHECK: %[[M:.*]] = tensor.collapse_shape %[[W]] {{\[\[}}0], [1, 2, 3]] : tensor<32x3x16x16xf32> into tensor<32x768xf32>
// CHECK: fovea.linear %{{.*}}, %[[M]] bias(%[[B]] : tensor<32xf32>) : tensor<?x14x14x768xf32>, tensor<32x768xf32> -> tensor<?x14x14x32xf32>
func.func @patches(%x: tensor<?x3x224x224xf32>, %w: tensor<32x3x16x16xf32>, %b: tensor<32xf32>) -> tensor<?x32x14x14xf32> attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %batch = tensor.dim %x, %c0 : tensor<?x3x224x224xf32>
  %empty = tensor.empty(%batch) : tensor<?x32x14x14xf32>
  %none = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x32x14x14xf32>) -> tensor<?x32x14x14xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(b, f, i, j, c, p, q) -> (b, c, i * 16 + p, j * 16 + q)>,
                                        affine_map<(b, f, i, j, c, p, q) -> (f, c, p, q)>,
                                        affine_map<(b, f, i, j, c, p, q) -> (b, f, i, j)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<?x3x224x224xf32>, tensor<32x3x16x16xf32>) outs(%none : tensor<?x32x14x14xf32>) {
  ^bb0(%l: f32, %r: f32, %s: f32):
    %0 = arith.mulf %l, %r : f32
    %1 = arith.addf %s, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<?x32x14x14xf32>
  %spread = tensor.expand_shape %b [[0, 1, 2, 3]] output_shape [1, 32, 1, 1] : tensor<32xf32> into tensor<1x32x1x1xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(b, f, i, j) -> (b, f, i, j)>, affine_map<(b, f, i, j) -> (0, f, 0, 0)>,
                                        affine_map<(b, f, i, j) -> (b, f, i, j)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%y, %spread : tensor<?x32x14x14xf32>, tensor<1x32x1x1xf32>) outs(%empty : tensor<?x32x14x14xf32>) {
  ^bb0(%l: f32, %r: f32, %out: f32):
    %0 = arith.addf %l, %r : f32
    linalg.yield %0 : f32
  } -> tensor<?x32x14x14xf32>
  return %z : tensor<?x32x14x14xf32>
}
