// RUN: fovea-opt %s --fovea-to-kernels | FileCheck %s

// Blocks of columns by chunks of rows; weight and bias are loaded once for all tiles of a chunk. What is elementwise
// behind the product is one map.

// CHECK-LABEL: func.func private @linear_0(
// CHECK-SAME: %[[X:.*]]: memref<?x33xf32>, %[[W:.*]]: memref<49x33xbf16>, %[[B:.*]]: memref<49xf32>, %[[R:.*]]: memref<?x49xf32>, %[[Y:.*]]: memref<?x49xf32>,
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C8:.*]] = arith.constant 8 : index
// CHECK: tile.kernel grid(%[[N:.*]], %[[I:.*]]) = (%[[C2]], %{{.*}}) {
// CHECK-DAG: %[[WT:.*]] = tile.load %{{.*}} : !tile.view<49x33xbf16> -> !tile.tile<32x33xbf16>
// CHECK-DAG: tile.load %{{.*}} : !tile.view<1x49xf32> -> !tile.tile<1x32xf32>
// CHECK-DAG: %[[BT:.*]] = tile.broadcast %{{.*}} : !tile.tile<1x32xf32> -> !tile.tile<8x32xf32>
// CHECK: scf.for %[[ROW:.*]] = %{{.*}} to %{{.*}} step %[[C8]] {
// CHECK-DAG: %[[XT:.*]] = tile.load %{{.*}}[%[[ROW]], %{{.*}}] : !tile.view<?x33xf32> -> !tile.tile<8x33xf32>
// CHECK-DAG: %[[RT:.*]] = tile.load %{{.*}}[%[[ROW]], %{{.*}}] : !tile.view<?x49xf32> -> !tile.tile<8x32xf32>
// CHECK: %[[S:.*]] = tile.dot %[[XT]], %[[WT]] transpose_b block(4, 32) : !tile.tile<8x33xf32>, !tile.tile<32x33xbf16> -> !tile.tile<8x32xf32>
// CHECK: %[[T:.*]] = tile.map({{.*}} = %[[S]], {{.*}} = %[[BT]]
// CHECK: arith.maximumf
// CHECK: arith.addf
// CHECK-NEXT: tile.yield
// CHECK: tile.store %[[T]], %{{.*}}[%[[ROW]], %{{.*}}] : !tile.tile<8x32xf32>, !tile.view<?x49xf32>
// CHECK-NOT: tile.store
func.func @epilogue(%x: tensor<?x33xf32>, %w: tensor<49x33xbf16>, %b: tensor<49xf32>, %r: tensor<?x49xf32>) -> tensor<?x49xf32> attributes {fovea.entry} {
  %0 = fovea.group(%a = %x, %c = %w, %d = %b, %e = %r) schedule(#fovea.contraction<tile = [8, 32], chunk = 16, block = [4, 32]>)
      : (tensor<?x33xf32>, tensor<49x33xbf16>, tensor<49xf32>, tensor<?x49xf32>) -> tensor<?x49xf32> {
    %1 = fovea.linear %a, %c bias(%d : tensor<49xf32>) : tensor<?x33xf32>, tensor<49x33xbf16> -> tensor<?x49xf32>
    %2 = fovea.activation relu %1 : tensor<?x49xf32>
    %3 = arith.addf %e, %2 : tensor<?x49xf32>
    fovea.yield %3 : tensor<?x49xf32>
  }
  return %0 : tensor<?x49xf32>
}
