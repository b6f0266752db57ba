// RUN: fovea-opt %s --fovea-to-fused --fovea-to-scheduled=target=avx512 --fovea-to-kernels | FileCheck %s

// A sum over all j <= i for each i is one loop that carries what it has: eight rows at a time, or vectors along the last
// axis. What compares other places stays a loop over all of them for each.

#all = affine_map<(a, i, j) -> (a, i)>

// CHECK-LABEL: func.func private @generic_0(
// CHECK: scf.for %{{.*}} iter_args(
// CHECK-COUNT-8: arith.addf
// CHECK-NOT: arith.addf
// CHECK: return
func.func @rows(%x: tensor<?x?xf32> {fovea.dims = ["m", "n"]}) -> (tensor<?x?xf32> {fovea.dims = ["m", "n"]})
    attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, i, j) -> (a, j)>, #all],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x : tensor<?x?xf32>) outs(%z : tensor<?x?xf32>) {
  ^bb0(%t: f32, %s: f32):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %k = arith.cmpi sle, %j, %i : index
    %u = arith.select %k, %t, %zero : f32
    %v = arith.addf %s, %u : f32
    linalg.yield %v : f32
  } -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// CHECK-LABEL: func.func private @generic_1(
// CHECK: scf.for
// CHECK: scf.for
func.func @every_other(%x: tensor<?x?xf32> {fovea.dims = ["m", "n"]}) -> (tensor<?x?xf32> {fovea.dims = ["m", "n"]})
    attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(a, i, j) -> (a, j)>, #all],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x : tensor<?x?xf32>) outs(%z : tensor<?x?xf32>) {
  ^bb0(%t: f32, %s: f32):
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %twice = arith.muli %j, %c2 : index
    %k = arith.cmpi sle, %twice, %i : index
    %u = arith.select %k, %t, %zero : f32
    %v = arith.addf %s, %u : f32
    linalg.yield %v : f32
  } -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
