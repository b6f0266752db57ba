// RUN: fovea-opt %s --fovea-raise-attention --canonicalize --cse | FileCheck %s

// The division by the sum comes behind the product with the values; there is no maximum, and the
// exponent has base two.

// CHECK-LABEL: @late_division_without_maximum
// CHECK:         fovea.attention %{{.*}} scale(0.693147{{[0-9]*}}) : tensor<1x?x1x8xf32>
// CHECK-NOT:     math.exp2
func.func @late_division_without_maximum(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>, %v: tensor<?x6xf32>) -> tensor<?x6xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %q, %c0 : tensor<?x8xf32>
  %m = tensor.dim %k, %c0 : tensor<?x8xf32>
  %es = tensor.empty(%n, %m) : tensor<?x?xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<?x?xf32>) -> tensor<?x?xf32>
  %s = linalg.contract indexing_maps = [affine_map<(i, j, d) -> (i, d)>, affine_map<(i, j, d) -> (j, d)>, affine_map<(i, j, d) -> (i, j)>]
      ins(%q, %k : tensor<?x8xf32>, tensor<?x8xf32>) outs(%zs : tensor<?x?xf32>) -> tensor<?x?xf32>
  %p = math.exp2 %s : tensor<?x?xf32>
  %e1 = tensor.empty(%n) : tensor<?xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.reduce { arith.addf } ins(%p : tensor<?x?xf32>) outs(%z1 : tensor<?xf32>) dimensions = [1]
  %eo = tensor.empty(%n) : tensor<?x6xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<?x6xf32>) -> tensor<?x6xf32>
  %o = linalg.contract indexing_maps = [affine_map<(i, d, j) -> (i, j)>, affine_map<(i, d, j) -> (j, d)>, affine_map<(i, d, j) -> (i, d)>]
      ins(%p, %v : tensor<?x?xf32>, tensor<?x6xf32>) outs(%zo : tensor<?x6xf32>) -> tensor<?x6xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, d) -> (i, d)>, affine_map<(i, d) -> (i)>, affine_map<(i, d) -> (i, d)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%o, %sum : tensor<?x6xf32>, tensor<?xf32>) outs(%eo : tensor<?x6xf32>) {
  ^bb0(%a: f32, %b: f32, %unused: f32):
    %y = arith.divf %a, %b : f32
    linalg.yield %y : f32
  } -> tensor<?x6xf32>
  return %r : tensor<?x6xf32>
}
