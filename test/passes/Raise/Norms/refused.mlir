// RUN: fovea-opt %s --fovea-raise-norms | FileCheck %s

// Not norms: over the first axis; with Bessel's correction; eps beside the root; a scale for each row.

// CHECK-LABEL: func.func @refused
// CHECK-NOT: fovea.{{.*}}_norm
// CHECK: return
#xy = affine_map<(i, j) -> (i, j)>
#x = affine_map<(i, j) -> (i)>
#y = affine_map<(i, j) -> (j)>
func.func @refused(%x: tensor<8x8xf32>, %r: tensor<8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %f = arith.constant dense<0.0> : tensor<8xf32>
  %i = tensor.empty() : tensor<8x8xf32>
  %z = arith.mulf %x, %x : tensor<8x8xf32>
  %columns = linalg.reduce { arith.addf } ins(%z : tensor<8x8xf32>) outs(%f : tensor<8xf32>) dimensions = [0]
  %rows = linalg.reduce { arith.addf } ins(%z : tensor<8x8xf32>) outs(%f : tensor<8xf32>) dimensions = [1]
  %first = linalg.generic {indexing_maps = [#xy, #y, #xy], iterator_types = ["parallel", "parallel"]} ins(%x, %columns : tensor<8x8xf32>, tensor<8xf32>) outs(%i : tensor<8x8xf32>) {
  ^bb0(%a: f32, %u: f32, %out: f32):
    %0 = math.rsqrt %u : f32
    %1 = arith.mulf %a, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<8x8xf32>
  %bessel = linalg.generic {indexing_maps = [#xy, #x, #xy], iterator_types = ["parallel", "parallel"]} ins(%x, %rows : tensor<8x8xf32>, tensor<8xf32>) outs(%i : tensor<8x8xf32>) {
  ^bb0(%a: f32, %u: f32, %out: f32):
    %c = arith.constant 7.0 : f32
    %0 = arith.divf %u, %c : f32
    %1 = math.rsqrt %0 : f32
    %2 = arith.mulf %a, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<8x8xf32>
  %beside = linalg.generic {indexing_maps = [#xy, #x, #xy], iterator_types = ["parallel", "parallel"]} ins(%x, %rows : tensor<8x8xf32>, tensor<8xf32>) outs(%i : tensor<8x8xf32>) {
  ^bb0(%a: f32, %u: f32, %out: f32):
    %c = arith.constant 8.0 : f32
    %eps = arith.constant 1.0e-3 : f32
    %0 = arith.divf %u, %c : f32
    %1 = math.sqrt %0 : f32
    %2 = arith.addf %1, %eps : f32
    %3 = arith.divf %a, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<8x8xf32>
  %scaled = linalg.generic {indexing_maps = [#xy, #x, #x, #xy], iterator_types = ["parallel", "parallel"]} ins(%x, %rows, %r : tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>) outs(%i : tensor<8x8xf32>) {
  ^bb0(%a: f32, %u: f32, %v: f32, %out: f32):
    %0 = arith.mulf %u, %v : f32
    %1 = math.rsqrt %0 : f32
    %2 = arith.mulf %a, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<8x8xf32>
  return %first, %bessel, %beside, %scaled : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}
