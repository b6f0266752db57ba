// RUN: cat %S/Inputs/attend.mlir %s | fovea-opt --inline --fovea-raise-attention --canonicalize --cse | FileCheck %s

// Places as floats, from another number on.
// CHECK-LABEL: @places_as_floats(
// CHECK:         %[[M:.*]] = fovea.mask_causal
// CHECK:         fovea.attention {{.*}} mask(%[[M]])
func.func @places_as_floats(%x: tensor<2x8x4xf32>) -> tensor<2x8x4xf32> {
  %rows = arith.constant dense<[[3.0],[4.0],[5.0],[6.0],[7.0],[8.0],[9.0],[10.0]]> : tensor<8x1xf32>
  %columns = arith.constant dense<[3.0,4.0,5.0,6.0,7.0,8.0,9.0,10.0]> : tensor<8xf32>
  %e = tensor.empty() : tensor<8x8xi1>
  %t = linalg.generic {indexing_maps=[affine_map<(i,j) -> (i,0)>,affine_map<(i,j) -> (j)>,affine_map<(i,j) -> (i,j)>], iterator_types=["parallel","parallel"]} ins(%rows,%columns : tensor<8x1xf32>,tensor<8xf32>) outs(%e : tensor<8x8xi1>) {
  ^bb0(%i: f32, %j: f32, %o: i1):
    %r = arith.cmpf ole, %j, %i : f32
    linalg.yield %r : i1
  } -> tensor<8x8xi1>
  %y = func.call @attend(%x, %t) : (tensor<2x8x4xf32>, tensor<8x8xi1>) -> tensor<2x8x4xf32>
  return %y : tensor<2x8x4xf32>
}
