// RUN: fovea-opt %s --fovea-fuse-maps --canonicalize | FileCheck %s

#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i, 0)>

// CHECK-LABEL: func.func @chain
// CHECK-COUNT-1: linalg.generic
// CHECK: math.exp
// CHECK-NEXT: arith.mulf
// CHECK-NOT: linalg.generic
func.func @chain(%x: tensor<?x64xf32>, %e: tensor<?x64xf32>, %s: tensor<?x1xf32>) -> tensor<?x64xf32> {
  %0 = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x64xf32>) outs(%e : tensor<?x64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %1 = math.exp %in : f32
    linalg.yield %1 : f32
  } -> tensor<?x64xf32>
  %2 = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%0, %s : tensor<?x64xf32>, tensor<?x1xf32>) outs(%e : tensor<?x64xf32>) {
  ^bb0(%in: f32, %f: f32, %out: f32):
    %3 = arith.mulf %in, %f : f32
    linalg.yield %3 : f32
  } -> tensor<?x64xf32>
  return %2 : tensor<?x64xf32>
}

// Each row's number is read 64 times: its exponential would be computed as often.

// CHECK-LABEL: func.func @read_again
// CHECK-COUNT-2: linalg.generic
func.func @read_again(%x: tensor<?x64xf32>, %e: tensor<?x64xf32>, %s: tensor<?x1xf32>, %t: tensor<?x1xf32>)
    -> tensor<?x64xf32> {
  %0 = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%s : tensor<?x1xf32>) outs(%t : tensor<?x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %1 = math.exp %in : f32
    linalg.yield %1 : f32
  } -> tensor<?x1xf32>
  %2 = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %0 : tensor<?x64xf32>, tensor<?x1xf32>) outs(%e : tensor<?x64xf32>) {
  ^bb0(%in: f32, %f: f32, %out: f32):
    %3 = arith.mulf %in, %f : f32
    linalg.yield %3 : f32
  } -> tensor<?x64xf32>
  return %2 : tensor<?x64xf32>
}
