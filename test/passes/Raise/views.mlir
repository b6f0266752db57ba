// RUN: fovea-opt %s --fovea-raise-views --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @permutation
// CHECK-NOT: linalg.generic
// CHECK: linalg.transpose ins(%arg0 : tensor<?x?x8xf32>) outs(%{{.*}} : tensor<?x?x8xf32>) permutation = [1, 0, 2]
func.func @permutation(%x: tensor<?x?x8xf32>, %init: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(s, b, d) -> (b, s, d)>, affine_map<(s, b, d) -> (s, b, d)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<?x?x8xf32>) outs(%init : tensor<?x?x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<?x?x8xf32>
  return %0 : tensor<?x?x8xf32>
}

// -----

// The axis that is read at 0 goes, the two that are left change places, a new one comes between.

// CHECK-LABEL: func.func @broadcast
// CHECK-SAME: (%[[X:.*]]: tensor<3x1x?xf32>, %[[INIT:.*]]: tensor<?x5x3xf32>)
// CHECK: %[[C:.*]] = tensor.collapse_shape %[[X]] {{\[\[}}0], [1, 2]] : tensor<3x1x?xf32> into tensor<3x?xf32>
// CHECK: %[[T:.*]] = linalg.transpose ins(%[[C]] : tensor<3x?xf32>) outs(%{{.*}} : tensor<?x3xf32>) permutation = [1, 0]
// CHECK: linalg.broadcast ins(%[[T]] : tensor<?x3xf32>) outs(%[[INIT]] : tensor<?x5x3xf32>) dimensions = [1]
func.func @broadcast(%x: tensor<3x1x?xf32>, %init: tensor<?x5x3xf32>) -> tensor<?x5x3xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (k, 0, i)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<3x1x?xf32>) outs(%init : tensor<?x5x3xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<?x5x3xf32>
  return %0 : tensor<?x5x3xf32>
}

// -----

// CHECK-LABEL: func.func @one_op
// CHECK-SAME: (%[[X:.*]]: tensor<?x4xf32>, %[[Y:.*]]: tensor<?x4xf32>, %{{.*}})
// CHECK: arith.subf %[[Y]], %[[X]] : tensor<?x4xf32>
func.func @one_op(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>, %init: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<?x4xf32>, tensor<?x4xf32>) outs(%init : tensor<?x4xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %1 = arith.subf %b, %a : f32
    linalg.yield %1 : f32
  } -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

// CHECK-LABEL: func.func @identities
// CHECK-SAME: (%[[X:.*]]: tensor<?x4xf32>)
// CHECK-NEXT: return %[[X]]
func.func @identities(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %0 = tensor.extract_slice %x[0, 0] [%n, 4] [1, 1] : tensor<?x4xf32> to tensor<?x4xf32>
  %1 = tensor.concat dim(0) %0 : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return %1 : tensor<?x4xf32>
}

// -----

// Not an identity: the size may be less than the source's; the body reads the old result; the reading is no permutation.

// CHECK-LABEL: func.func @stays
// CHECK: tensor.extract_slice
// CHECK: linalg.generic
// CHECK: linalg.generic
func.func @stays(%x: tensor<?x?xf32>, %n: index) -> (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?xf32>) {
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c1 : tensor<?x?xf32>
  %0 = tensor.extract_slice %x[0, 0] [%n, %m] [1, 1] : tensor<?x?xf32> to tensor<?x?xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%0 : tensor<?x?xf32>) outs(%x : tensor<?x?xf32>) {
  ^bb0(%a: f32, %out: f32):
    %4 = arith.addf %a, %out : f32
    linalg.yield %4 : f32
  } -> tensor<?x?xf32>
  %2 = tensor.empty(%n) : tensor<?xf32>
  %3 = linalg.generic {indexing_maps = [affine_map<(i) -> (i, i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<?x?xf32>) outs(%2 : tensor<?xf32>) {
  ^bb0(%a: f32, %out: f32):
    linalg.yield %a : f32
  } -> tensor<?xf32>
  return %0, %1, %3 : tensor<?x?xf32>, tensor<?x?xf32>, tensor<?xf32>
}

// -----

// Transposes go into a contraction's maps, and meet behind elementwise ops.

// CHECK-DAG: #[[$A:.*]] = affine_map<(d0, d1, d2) -> (d2, d0)>
// CHECK-DAG: #[[$B:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[$C:.*]] = affine_map<(d0, d1, d2) -> (d1, d0)>
// CHECK-LABEL: func.func @transposes
// CHECK-NOT: linalg.transpose
// CHECK: linalg.contract indexing_maps = [#[[$A]], #[[$B]], #[[$C]]]
// CHECK: %[[E:.*]] = math.exp %arg2
// CHECK: %[[S:.*]] = arith.addf %[[E]], %arg2
// CHECK: return %{{.*}}, %[[S]]
func.func @transposes(%x: tensor<2x4xf32>, %y: tensor<2x3xf32>, %z: tensor<?x5xf32>) -> (tensor<3x4xf32>, tensor<?x5xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %i0 = tensor.empty() : tensor<4x2xf32>
  %t0 = linalg.transpose ins(%x : tensor<2x4xf32>) outs(%i0 : tensor<4x2xf32>) permutation = [1, 0]
  %i1 = tensor.empty() : tensor<4x3xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%i1 : tensor<4x3xf32>) -> tensor<4x3xf32>
  %0 = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
       ins(%t0, %y : tensor<4x2xf32>, tensor<2x3xf32>) outs(%f1 : tensor<4x3xf32>) -> tensor<4x3xf32>
  %i2 = tensor.empty() : tensor<3x4xf32>
  %1 = linalg.transpose ins(%0 : tensor<4x3xf32>) outs(%i2 : tensor<3x4xf32>) permutation = [1, 0]
  %n = tensor.dim %z, %c0 : tensor<?x5xf32>
  %i3 = tensor.empty(%n) : tensor<5x?xf32>
  %2 = linalg.transpose ins(%z : tensor<?x5xf32>) outs(%i3 : tensor<5x?xf32>) permutation = [1, 0]
  %3 = math.exp %2 : tensor<5x?xf32>
  %4 = arith.addf %3, %2 : tensor<5x?xf32>
  %i4 = tensor.empty(%n) : tensor<?x5xf32>
  %5 = linalg.transpose ins(%4 : tensor<5x?xf32>) outs(%i4 : tensor<?x5xf32>) permutation = [1, 0]
  return %1, %5 : tensor<3x4xf32>, tensor<?x5xf32>
}

// -----

// Rows are collapsed, computed on, and expanded again, some with their heads.

// CHECK-LABEL: func.func @reshapes
// CHECK-SAME: (%[[X:.*]]: tensor<?x?x6xf32>)
// CHECK-NOT: collapse_shape
// CHECK: %[[Y:.*]] = math.tanh %[[X]] : tensor<?x?x6xf32>
// CHECK: %[[E:.*]] = tensor.expand_shape %[[Y]] {{\[\[}}0], [1], [2, 3]]
// CHECK: return %[[Y]], %[[E]]
func.func @reshapes(%x: tensor<?x?x6xf32>) -> (tensor<?x?x6xf32>, tensor<?x?x2x3xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x?x6xf32>
  %s = tensor.dim %x, %c1 : tensor<?x?x6xf32>
  %0 = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x?x6xf32> into tensor<?x6xf32>
  %1 = math.tanh %0 : tensor<?x6xf32>
  %2 = tensor.expand_shape %1 [[0, 1], [2]] output_shape [%n, %s, 6] : tensor<?x6xf32> into tensor<?x?x6xf32>
  %3 = tensor.expand_shape %1 [[0, 1], [2, 3]] output_shape [%n, %s, 2, 3] : tensor<?x6xf32> into tensor<?x?x2x3xf32>
  return %2, %3 : tensor<?x?x6xf32>, tensor<?x?x2x3xf32>
}

// -----

// Other rows than were collapsed: nothing to meet.

// CHECK-LABEL: func.func @other_rows
// CHECK: tensor.collapse_shape
// CHECK: tensor.expand_shape
func.func @other_rows(%x: tensor<?x?x6xf32>) -> tensor<?x?x6xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x?x6xf32>
  %s = tensor.dim %x, %c1 : tensor<?x?x6xf32>
  %0 = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x?x6xf32> into tensor<?x6xf32>
  %1 = tensor.expand_shape %0 [[0, 1], [2]] output_shape [%s, %n, 6] : tensor<?x6xf32> into tensor<?x?x6xf32>
  return %1 : tensor<?x?x6xf32>
}

// -----

// Heads in groups that move together are heads.

// CHECK-LABEL: func.func @groups_move
// CHECK-NOT: tensor.expand_shape
// CHECK: linalg.transpose ins(%arg0 : tensor<5x6x7xf32>) outs(%{{.*}} : tensor<7x5x6xf32>) permutation = [2, 0, 1]
func.func @groups_move(%x: tensor<5x6x7xf32>) -> tensor<7x5x6xf32> {
  %0 = tensor.expand_shape %x [[0], [1, 2], [3]] output_shape [5, 2, 3, 7] : tensor<5x6x7xf32> into tensor<5x2x3x7xf32>
  %e = tensor.empty() : tensor<7x5x2x3xf32>
  %1 = linalg.transpose ins(%0 : tensor<5x2x3x7xf32>) outs(%e : tensor<7x5x2x3xf32>) permutation = [3, 0, 1, 2]
  %2 = tensor.collapse_shape %1 [[0], [1], [2, 3]] : tensor<7x5x2x3xf32> into tensor<7x5x6xf32>
  return %2 : tensor<7x5x6xf32>
}

// -----

// The groups change places: no transpose of heads.

// CHECK-LABEL: func.func @groups_change
// CHECK: tensor.expand_shape
// CHECK: linalg.transpose
// CHECK: tensor.collapse_shape
func.func @groups_change(%x: tensor<5x6xf32>) -> tensor<5x6xf32> {
  %0 = tensor.expand_shape %x [[0], [1, 2]] output_shape [5, 2, 3] : tensor<5x6xf32> into tensor<5x2x3xf32>
  %e = tensor.empty() : tensor<5x3x2xf32>
  %1 = linalg.transpose ins(%0 : tensor<5x2x3xf32>) outs(%e : tensor<5x3x2xf32>) permutation = [0, 2, 1]
  %2 = tensor.collapse_shape %1 [[0], [1, 2]] : tensor<5x3x2xf32> into tensor<5x6xf32>
  return %2 : tensor<5x6xf32>
}
