// RUN: fovea-opt %s --fovea-raise-norms | FileCheck %s

// A layer norm as PyTorch's old exporter writes it: differences, their squares by a power, a root.

// CHECK-LABEL: func.func @layer_norm
// CHECK-SAME: (%[[X:.*]]: tensor<?x?x8xf32>)
// CHECK-DAG: %[[W:.*]] = fovea.weight_ref @w
// CHECK-DAG: %[[B:.*]] = fovea.weight_ref @b
// CHECK: %[[Y:.*]] = fovea.layer_norm %[[X]] weight(%[[W]] : tensor<8xf32>) bias(%[[B]] : tensor<8xf32>) eps({{9.99.*E-13|1.0+E-12}})
// CHECK-NEXT: return %[[Y]]
#xyz = affine_map<(i, j, k) -> (i, j, k)>
#xy0 = affine_map<(i, j, k) -> (i, j, 0)>
#xy = affine_map<(i, j, k) -> (i, j)>
#z = affine_map<(i, j, k) -> (k)>
fovea.weight @w : tensor<8xf32> = #fovea.stored<"f", "w", tensor<8xf32>>
fovea.weight @b : tensor<8xf32> = #fovea.stored<"f", "b", tensor<8xf32>>
func.func @layer_norm(%x: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %w = fovea.weight_ref @w : tensor<8xf32>
  %b = fovea.weight_ref @b : tensor<8xf32>
  %m = tensor.dim %x, %c0 : tensor<?x?x8xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?x8xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %full = tensor.empty(%m, %n) : tensor<?x?x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %s = linalg.reduce { arith.addf } ins(%x : tensor<?x?x8xf32>) outs(%f : tensor<?x?xf32>) dimensions = [2]
  %s1 = tensor.expand_shape %s [[0], [1, 2]] output_shape [%m, %n, 1] : tensor<?x?xf32> into tensor<?x?x1xf32>
  %e1 = tensor.empty(%m, %n) : tensor<?x?x1xf32>
  %mean = linalg.generic {indexing_maps = [#xyz, #xyz], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s1 : tensor<?x?x1xf32>) outs(%e1 : tensor<?x?x1xf32>) {
  ^bb0(%a: f32, %out: f32):
    %c = arith.constant 8.0 : f32
    %0 = arith.divf %a, %c : f32
    linalg.yield %0 : f32
  } -> tensor<?x?x1xf32>
  %d = linalg.generic {indexing_maps = [#xyz, #xy0, #xyz], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %mean : tensor<?x?x8xf32>, tensor<?x?x1xf32>) outs(%full : tensor<?x?x8xf32>) {
  ^bb0(%a: f32, %c: f32, %out: f32):
    %0 = arith.subf %a, %c : f32
    linalg.yield %0 : f32
  } -> tensor<?x?x8xf32>
  %v = linalg.generic {indexing_maps = [#xyz, #xy], iterator_types = ["parallel", "parallel", "reduction"]} ins(%d : tensor<?x?x8xf32>) outs(%f : tensor<?x?xf32>) {
  ^bb0(%a: f32, %out: f32):
    %two = arith.constant 2.0 : f32
    %0 = math.powf %a, %two : f32
    %1 = arith.addf %out, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<?x?xf32>
  %y = linalg.generic {indexing_maps = [#xyz, #xy, #z, #z, #xyz], iterator_types = ["parallel", "parallel", "parallel"]} ins(%d, %v, %w, %b : tensor<?x?x8xf32>, tensor<?x?xf32>, tensor<8xf32>, tensor<8xf32>) outs(%full : tensor<?x?x8xf32>) {
  ^bb0(%a: f32, %u: f32, %p: f32, %q: f32, %out: f32):
    %c = arith.constant 8.0 : f32
    %eps = arith.constant 1.0e-12 : f32
    %0 = arith.divf %u, %c : f32
    %1 = arith.addf %0, %eps : f32
    %2 = math.sqrt %1 : f32
    %3 = arith.divf %a, %2 : f32
    %4 = arith.mulf %p, %3 : f32
    %5 = arith.addf %4, %q : f32
    linalg.yield %5 : f32
  } -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}
