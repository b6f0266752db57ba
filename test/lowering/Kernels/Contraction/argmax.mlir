// RUN: fovea-opt %s --fovea-to-kernels | FileCheck %s

// Blocks find the greatest of their own columns, of which those past the last are none; the smaller launch behind joins
// what they found, and the work counts as the product's.

// CHECK-LABEL: func.func @argmax(
// CHECK: fovea.launch @linear_0 ins({{.*}}) outs({{.*}}, %[[G:.*]], %[[C:.*]] : {{.*}}) cost
// CHECK: fovea.launch @argmax_0 outs(%{{.*}}, %[[G]], %[[C]] : memref<?xi64>, memref<?x3xf32>, memref<?x3xi32>) cost(%[[NONE:.*]], %[[NONE]])

// CHECK-LABEL: func.func private @linear_0(
// CHECK-DAG: %[[N:.*]] = arith.constant 65 : i32
// CHECK-DAG: %[[NAN:.*]] = arith.constant 0x7FC00000 : f32
// CHECK: tile.kernel grid(%[[BLOCK:.*]], %[[ROW:.*]]) = (%{{.*}}, %{{.*}}) {
// CHECK: %[[S:.*]] = tile.dot
// CHECK: tile.store %[[S]]
// CHECK: %[[I:.*]] = tile.iota axis(1) from %{{.*}} : !tile.tile<1x32xi32>
// CHECK: %[[X:.*]] = tile.map({{.*}} = %[[S]], {{.*}} = %[[I]])
// CHECK: arith.cmpi slt, %{{.*}}, %[[N]]
// CHECK: %[[M:.*]] = tile.reduce maximum %[[X]]
// CHECK: %[[B:.*]] = tile.broadcast %[[M]]
// CHECK: %[[R:.*]] = tile.map({{.*}} = %[[X]], {{.*}} = %[[B]], {{.*}} = %[[I]])
// CHECK: %[[F:.*]] = tile.reduce maximum %[[R]]
// CHECK: %[[V:.*]] = tile.map({{.*}} = %[[M]], {{.*}} = %[[F]])
// CHECK: arith.select %{{.*}}, %[[NAN]]
// CHECK: %[[P:.*]] = tile.map({{.*}} = %[[F]])
// CHECK: tile.store %[[V]], %{{.*}}[%[[ROW]], %[[BLOCK]]] : !tile.tile<1x1xf32>, !tile.view<?x3xf32>
// CHECK: tile.store %[[P]], %{{.*}}[%[[ROW]], %[[BLOCK]]] : !tile.tile<1x1xi32>, !tile.view<?x3xi32>

// CHECK-LABEL: func.func private @argmax_0(
// CHECK-SAME: %[[TOKENS:.*]]: memref<?xi64>, %[[FOUND:.*]]: memref<?x3xf32>, %[[COLUMNS:.*]]: memref<?x3xi32>,
// CHECK: tile.kernel grid(%[[B:.*]]) = (%{{.*}}) {
// CHECK: %[[BEST:.*]]:2 = scf.for
// CHECK: %[[NEXT:.*]] = memref.load %[[FOUND]][%[[B]], %{{.*}}]
// CHECK: arith.cmpf ugt, %[[NEXT]]
// CHECK: arith.cmpf ord
// CHECK: %[[WHERE:.*]] = memref.load %[[COLUMNS]][%[[B]], %[[BEST]]#1]
// CHECK: %[[TOKEN:.*]] = arith.extsi %[[WHERE]] : i32 to i64
// CHECK: memref.store %[[TOKEN]], %[[TOKENS]][%[[B]]]
func.func @argmax(%x: tensor<?x33xf32>, %w: tensor<65x33xf32>) -> (tensor<?x65xf32>, tensor<?xi64>) attributes {fovea.entry} {
  %0:2 = fovea.group(%a = %x, %c = %w) schedule(#fovea.contraction<tile = [1, 32], chunk = 1, block = [1, 32]>)
      : (tensor<?x33xf32>, tensor<65x33xf32>) -> (tensor<?x65xf32>, tensor<?xi64>) {
    %1 = fovea.linear %a, %c : tensor<?x33xf32>, tensor<65x33xf32> -> tensor<?x65xf32>
    %2 = fovea.argmax %1 : tensor<?x65xf32> -> tensor<?xi64>
    fovea.yield %1, %2 : tensor<?x65xf32>, tensor<?xi64>
  }
  return %0#0, %0#1 : tensor<?x65xf32>, tensor<?xi64>
}
