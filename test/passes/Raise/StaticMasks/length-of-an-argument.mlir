// RUN: cat %S/Inputs/attend.mlir %s | fovea-opt --inline --fovea-raise-attention --canonicalize --cse | FileCheck %s

// The caller's length beside places that are a table.
// CHECK-LABEL: @length_of_an_argument(
// CHECK:         %[[M:.*]] = fovea.mask_length
// CHECK:         fovea.attention {{.*}} mask(%[[M]])
func.func @length_of_an_argument(%x: tensor<2x8x4xf32>, %n: tensor<i64>) -> tensor<2x8x4xf32> {
  %places = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7]> : tensor<8xi64>
  %e = tensor.empty() : tensor<8x8xi1>
  %t = linalg.generic {indexing_maps=[affine_map<(i,j) -> (j)>,affine_map<(i,j) -> ()>,affine_map<(i,j) -> (i,j)>], iterator_types=["parallel","parallel"]} ins(%places,%n : tensor<8xi64>,tensor<i64>) outs(%e : tensor<8x8xi1>) {
  ^bb0(%j: i64, %l: i64, %o: i1):
    %r = arith.cmpi slt, %j, %l : i64
    linalg.yield %r : i1
  } -> tensor<8x8xi1>
  %y = func.call @attend(%x, %t) : (tensor<2x8x4xf32>, tensor<8x8xi1>) -> tensor<2x8x4xf32>
  return %y : tensor<2x8x4xf32>
}
