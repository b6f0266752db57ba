// RUN: fovea verify %s --length=1 | FileCheck %s
// CHECK: 5 outputs agree

// Takes one element, though its type says any number (tables.test).
#id = affine_map<(n) -> (n)>
func.func @forward(%x: tensor<?xf32> {fovea.name = "x", fovea.dims = ["length"]}) -> (tensor<?xf32> {fovea.name = "y", fovea.dims = ["length"]}) attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %c = arith.constant dense<2.0> : tensor<1xf32>
  %length = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%length) : tensor<?xf32>
  %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%x, %c : tensor<?xf32>, tensor<1xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %unused: f32):
    %d = arith.addf %a, %b : f32
    linalg.yield %d : f32
  } -> tensor<?xf32>
  return %y : tensor<?xf32>
}
