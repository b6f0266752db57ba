// RUN: fovea-opt %s --fovea-to-fused --fovea-to-scheduled=target=avx512 --fovea-to-kernels | FileCheck %s

// A sum of any length goes on from one part to the next. Rows of all batches are joined, which share the columns.

// CHECK-LABEL: func.func private @contract_1(
// CHECK-SAME: %[[X:[^:]*]]: memref<?x?x?xf32>, %[[W:[^:]*]]: memref<?x48xf32>,
// CHECK: %[[ROWS:.*]] = memref.collapse_shape %[[X]] {{\[\[}}0, 1], [2]]
// CHECK: tile.kernel grid(%{{.*}}) =
// CHECK-DAG: %[[R:.*]] = tile.view %[[ROWS]] axes(0, 1)
// CHECK-DAG: %[[C:.*]] = tile.view %[[W]] axes(1, 0) : memref<?x48xf32> -> !tile.view<48x?xf32>
// CHECK: scf.for
// CHECK: %[[NONE:.*]] = tile.splat
// CHECK: %[[SUM:.*]] = scf.for %[[AT:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[ACC:.*]] = %[[NONE]])
// CHECK-DAG: %[[A:.*]] = tile.load %[[R]][%{{.*}}, %[[AT]]]
// CHECK-DAG: %[[B:.*]] = tile.load %[[C]][%{{.*}}, %[[AT]]]
// CHECK: %[[NEXT:.*]] = tile.dot %[[A]], %[[B]] transpose_b into %[[ACC]]
// CHECK: scf.yield %[[NEXT]]
// CHECK: tile.store %[[SUM]]
func.func @run(%x: tensor<?x?x?xf32> {fovea.dims = ["b", "s", "k"]}, %w: tensor<?x48xf32> {fovea.dims = ["k"]})
    -> (tensor<?x?x48xf32> {fovea.dims = ["b", "s"]}) attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?x48xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?x48xf32>) -> tensor<?x?x48xf32>
  %s = linalg.contract indexing_maps = [affine_map<(b, i, j, k) -> (b, i, k)>, affine_map<(b, i, j, k) -> (k, j)>,
                                        affine_map<(b, i, j, k) -> (b, i, j)>]
      ins(%x, %w : tensor<?x?x?xf32>, tensor<?x48xf32>) outs(%z : tensor<?x?x48xf32>) -> tensor<?x?x48xf32>
  return %s : tensor<?x?x48xf32>
}
