// RUN: fovea-opt %s --fovea-to-kernels | FileCheck %s

// A range of columns is no long row: batches are an axis of the grid, as its rows do not join.

// CHECK-LABEL: func.func private @activation_0(
// CHECK: tile.kernel grid(%[[B:.*]], %{{.*}}) = (%{{.*}}, %{{.*}}) {
// CHECK: tile.view %{{.*}} at(%[[B]]) axes(1, 2) : memref<?x?x8xf32, strided<[?, 24, 1], offset: 8>> -> !tile.view<?x8xf32>
// CHECK: tile.store {{.*}} : !tile.tile<32x8xf32>, !tile.view<?x8xf32>
func.func @slice(%x: tensor<?x?x24xf32>) -> tensor<?x?x8xf32> attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?x24xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?x24xf32>
  %s = tensor.extract_slice %x[0, 0, 8] [%m, %n, 8] [1, 1, 1] : tensor<?x?x24xf32> to tensor<?x?x8xf32>
  %0 = fovea.group(%a = %s) schedule(#fovea.elements<count = 256>) : (tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
    %1 = fovea.activation relu %a : tensor<?x?x8xf32>
    fovea.yield %1 : tensor<?x?x8xf32>
  }
  return %0 : tensor<?x?x8xf32>
}
