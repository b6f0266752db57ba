// RUN: fovea-opt %s --fovea-raise-views | FileCheck %s

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
