// RUN: fovea-opt %s --fovea-form-groups --fovea-fuse-groups --canonicalize --cse | FileCheck %s

// A map with a vector over the columns joins a norm, whose rows have columns; without one tensors are flattened, and a
// vector would be of no use to them.

#all = affine_map<(i, j) -> (i, j)>
#last = affine_map<(i, j) -> (j)>

// CHECK-LABEL: func.func @norm
// CHECK-COUNT-1: fovea.group(
// CHECK: linalg.generic
// CHECK: fovea.l2_norm
// CHECK-NOT: fovea.group(
func.func @norm(%x: tensor<?x8xf32>, %v: tensor<8xf32>, %e: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = linalg.generic {indexing_maps = [#all, #last, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %v : tensor<?x8xf32>, tensor<8xf32>) outs(%x : tensor<?x8xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %1 = arith.addf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<?x8xf32>
  %2 = fovea.l2_norm %0 eps(1.0e-6) : tensor<?x8xf32>
  return %2 : tensor<?x8xf32>
}

// CHECK-LABEL: func.func @elements
// CHECK-COUNT-2: fovea.group(
func.func @elements(%x: tensor<?x8xf32>, %v: tensor<8xf32>, %e: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = linalg.generic {indexing_maps = [#all, #last, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %v : tensor<?x8xf32>, tensor<8xf32>) outs(%x : tensor<?x8xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %1 = arith.addf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<?x8xf32>
  %2 = fovea.activation silu %0 : tensor<?x8xf32>
  return %2 : tensor<?x8xf32>
}
