// RUN: fovea-opt %s --fovea-to-fused --fovea-to-scheduled=target=avx512 --fovea-to-kernels | FileCheck %s

// Products of two tensors that are no weights. Batches and heads are indices of the grid; columns are a view of the other
// operand, as it lies or turned. What a block of rows shares is loaded before its loop.

#a = affine_map<(b, h, i, j, k) -> (b, i, h, k)>
#b = affine_map<(b, h, i, j, k) -> (b, j, h, k)>
#c = affine_map<(b, h, i, j, k) -> (b, h, i, j)>

// Rows that heads lie between, of which none are joined.
// CHECK-LABEL: func.func private @contract_0(
// CHECK-SAME: %[[Q:[^:]*]]: memref<?x?x4x64xf32>, %[[K:[^:]*]]: memref<?x?x4x64xf32>,
// CHECK: fovea.fault
// CHECK: tile.kernel grid(%[[COLUMNS:.*]], %[[B:.*]], %[[H:.*]], %[[ROWS:.*]]) =
// CHECK-DAG: %[[R:.*]] = tile.view %[[Q]] at(%[[B]], %[[H]]) axes(1, 3) : memref<?x?x4x64xf32> -> !tile.view<?x64xf32>
// CHECK-DAG: %[[C:.*]] = tile.view %[[K]] at(%[[B]], %[[H]]) axes(1, 3) : memref<?x?x4x64xf32> -> !tile.view<?x64xf32>
// CHECK-DAG: %[[Y:.*]] = tile.load %[[C]]
// CHECK: scf.for
// CHECK: %[[X:.*]] = tile.load %[[R]]
// CHECK: %[[P:.*]] = tile.dot %[[X]], %[[Y]] transpose_b
// CHECK: tile.store %[[P]]
func.func @scores(%q: tensor<?x?x4x64xf32> {fovea.dims = ["b", "q"]}, %k: tensor<?x?x4x64xf32> {fovea.dims = ["c", "k"]})
    -> (tensor<?x4x?x?xf32> {fovea.dims = ["b", "q", "k"]}) attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %q, %c0 : tensor<?x?x4x64xf32>
  %n = tensor.dim %q, %c1 : tensor<?x?x4x64xf32>
  %o = tensor.dim %k, %c1 : tensor<?x?x4x64xf32>
  %e = tensor.empty(%m, %n, %o) : tensor<?x4x?x?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x4x?x?xf32>) -> tensor<?x4x?x?xf32>
  %s = linalg.contract indexing_maps = [#a, #b, #c] ins(%q, %k : tensor<?x?x4x64xf32>, tensor<?x?x4x64xf32>)
      outs(%z : tensor<?x4x?x?xf32>) -> tensor<?x4x?x?xf32>
  return %s : tensor<?x4x?x?xf32>
}

// One tensor as both operands has its size twice in the result, and both must be its.
// CHECK-LABEL: func.func private @contract_2(
// CHECK-COUNT-2: arith.cmpi ne,
// CHECK: fovea.fault
#i = affine_map<(i, j, k) -> (i, k)>
#j = affine_map<(i, j, k) -> (j, k)>
func.func @gram(%x: tensor<?x64xf32> {fovea.dims = ["n"]}, %y: tensor<?xf32> {fovea.dims = ["m"]})
    -> (tensor<?x?xf32> {fovea.dims = ["n", "m"]}) attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x64xf32>
  %m = tensor.dim %y, %c0 : tensor<?xf32>
  %e = tensor.empty(%n, %m) : tensor<?x?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %s = linalg.contract indexing_maps = [#i, #j, affine_map<(i, j, k) -> (i, j)>]
      ins(%x, %x : tensor<?x64xf32>, tensor<?x64xf32>) outs(%z : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %s : tensor<?x?xf32>
}
