// RUN: fovea-opt %s --fovea-to-fused --canonicalize --cse | FileCheck %s

// A product of two tensors that are no weights takes up what is elementwise behind it: maps of linalg with numbers of
// their own and vectors over the columns, and fovea ops. Nothing of its size goes through memory.

#a = affine_map<(b, i, j, k) -> (b, i, k)>
#b = affine_map<(b, i, j, k) -> (b, k, j)>
#c = affine_map<(b, i, j, k) -> (b, i, j)>
#all = affine_map<(b, i, j) -> (b, i, j)>
#last = affine_map<(b, i, j) -> (j)>

// CHECK-LABEL: func.func @scaled_scores
// CHECK-COUNT-1: fovea.group
// CHECK: linalg.contract
// CHECK: linalg.generic
// CHECK: fovea.activation sigmoid
// CHECK-NOT: fovea.group
func.func @scaled_scores(%q: tensor<?x?x64xf32>, %k: tensor<?x64x?xf32>) -> tensor<?x?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.125 : f32
  %m = tensor.dim %q, %c0 : tensor<?x?x64xf32>
  %n = tensor.dim %q, %c1 : tensor<?x?x64xf32>
  %o = tensor.dim %k, %c2 : tensor<?x64x?xf32>
  %e = tensor.empty(%m, %n, %o) : tensor<?x?x?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %s = linalg.contract indexing_maps = [#a, #b, #c] ins(%q, %k : tensor<?x?x64xf32>, tensor<?x64x?xf32>)
      outs(%z : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %t = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s : tensor<?x?x?xf32>) outs(%e : tensor<?x?x?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %x = arith.mulf %in, %scale : f32
    linalg.yield %x : f32
  } -> tensor<?x?x?xf32>
  %y = fovea.activation sigmoid %t : tensor<?x?x?xf32>
  return %y : tensor<?x?x?xf32>
}

// CHECK-LABEL: func.func @bias
// CHECK-COUNT-1: fovea.group
// CHECK-NOT: fovea.group
func.func @bias(%x: tensor<2x40x64xf32>, %w: tensor<64x48xf32>, %v: tensor<48xf32>) -> tensor<2x40x48xf32> {
  %z = arith.constant dense<0.0> : tensor<2x40x48xf32>
  %e = tensor.empty() : tensor<2x40x48xf32>
  %s = linalg.contract indexing_maps = [#a, affine_map<(b, i, j, k) -> (k, j)>, #c]
      ins(%x, %w : tensor<2x40x64xf32>, tensor<64x48xf32>) outs(%z : tensor<2x40x48xf32>) -> tensor<2x40x48xf32>
  %y = linalg.generic {indexing_maps = [#all, #last, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %v : tensor<2x40x48xf32>, tensor<48xf32>) outs(%e : tensor<2x40x48xf32>) {
  ^bb0(%in: f32, %b: f32, %out: f32):
    %0 = arith.addf %in, %b : f32
    linalg.yield %0 : f32
  } -> tensor<2x40x48xf32>
  return %y : tensor<2x40x48xf32>
}

// What the product may be loops for stays apart: a sum of two axes, one that begins with numbers, a row alone.

// CHECK-LABEL: func.func @two_sums
// CHECK-COUNT-2: fovea.group(
func.func @two_sums(%x: tensor<8x4x5xf32>, %w: tensor<6x4x5xf32>) -> tensor<8x6xf32> {
  %z = arith.constant dense<0.0> : tensor<8x6xf32>
  %s = linalg.contract indexing_maps = [affine_map<(i, j, k, l) -> (i, k, l)>, affine_map<(i, j, k, l) -> (j, k, l)>,
                                        affine_map<(i, j, k, l) -> (i, j)>]
      ins(%x, %w : tensor<8x4x5xf32>, tensor<6x4x5xf32>) outs(%z : tensor<8x6xf32>) -> tensor<8x6xf32>
  %y = fovea.activation relu %s : tensor<8x6xf32>
  return %y : tensor<8x6xf32>
}

// CHECK-LABEL: func.func @sum_that_goes_on
// CHECK-COUNT-2: fovea.group(
func.func @sum_that_goes_on(%x: tensor<8x4xf32>, %w: tensor<6x4xf32>, %z: tensor<8x6xf32>) -> tensor<8x6xf32> {
  %s = linalg.contract indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>,
                                        affine_map<(i, j, k) -> (i, j)>]
      ins(%x, %w : tensor<8x4xf32>, tensor<6x4xf32>) outs(%z : tensor<8x6xf32>) -> tensor<8x6xf32>
  %y = fovea.activation relu %s : tensor<8x6xf32>
  return %y : tensor<8x6xf32>
}
