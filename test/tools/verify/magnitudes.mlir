// RUN: not fovea-verify-planted %s --drop=dropped | FileCheck %s
// RUN: fovea verify %s --quiet | FileCheck %s --check-prefix=AGREES

// where(p > 0.9, 0, p): of eight scores about one none gets so much. Code that drops the branch departs where scores are large.

// CHECK-NOT: {{(^forward|7|33|0.001) .*DEPARTS}}
// CHECK: forward batch 2, length 7, scaled by 1000 y {{[0-9.e+]+}} 1.0e-04 DEPARTS
// CHECK: forward batch 2, length 7, one in 50 scaled by 1000 y {{[0-9.e+]+}} 1.0e-04 DEPARTS
// CHECK: 2 of 11 outputs depart
// CHECK: the first op of 'forward' that departs is linalg.generic

// Both sides were seen, by these alone.
// AGREES-NOT: never reached
// AGREES: 11 outputs agree

#id = affine_map<(n, c) -> (n, c)>
func.func @forward(%x: tensor<?x8xf32> {fovea.name = "x", fovea.dims = ["rows"]}) -> (tensor<?x8xf32> {fovea.name = "y", fovea.dims = ["rows"]}) attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %half = arith.constant 0.5 : f32
  %limit = arith.constant 0.9 : f32
  %zero = arith.constant 0.0 : f32
  %rows = tensor.dim %x, %c0 : tensor<?x8xf32>
  %e = tensor.empty(%rows) : tensor<?x8xf32>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) {
  ^bb0(%a: f32, %unused: f32):
    %b = arith.mulf %a, %half : f32
    linalg.yield %b : f32
  } -> tensor<?x8xf32>
  %p = linalg.softmax dimension(1) ins(%s : tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) {
  ^bb0(%a: f32, %unused: f32):
    %c = arith.cmpf ogt, %a, %limit : f32
    %d = arith.select %c, %zero, %a : f32 loc("dropped")
    linalg.yield %d : f32
  } -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}
