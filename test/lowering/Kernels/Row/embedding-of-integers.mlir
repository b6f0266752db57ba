// RUN: fovea-opt %s --fovea-to-kernels | FileCheck %s

// Rows of integers are gathered as such, with the scale that the row's number finds; a number outside is a fault, and reads
// the first.

// CHECK-LABEL: func.func private @embedding_0(
// CHECK: fovea.fault
// CHECK-DAG: %[[ROWS:.*]] = tile.gather {{.*}} -> !tile.tile<4x32xi8>
// CHECK-DAG: %[[SCALES:.*]] = tile.map(%[[ID:.*]] = %{{.*}}) : (!tile.tile<4x1xi64>) -> !tile.tile<4x1xf32>
// CHECK: arith.cmpi ult
// CHECK: arith.select
// CHECK: memref.load %{{.*}} : memref<9xf32>
// CHECK: %[[ALL:.*]] = tile.broadcast %[[SCALES]]
// CHECK: tile.map(%[[Q:.*]] = %[[ROWS]], %[[S:.*]] = %[[ALL]])
// CHECK: %[[F:.*]] = arith.sitofp %[[Q]] : i8 to f32
// CHECK: arith.mulf %[[F]], %[[S]]
func.func @rows(%ids: tensor<?xi64>, %t: tensor<9x32xi8>, %s: tensor<9xf32>) -> tensor<?x32xf32> attributes {fovea.entry} {
  %0 = fovea.group(%a = %ids, %b = %t, %c = %s) schedule(#fovea.rows<rows = 4>)
      : (tensor<?xi64>, tensor<9x32xi8>, tensor<9xf32>) -> tensor<?x32xf32> {
    %1 = fovea.embedding %a, %b scales(%c : tensor<9xf32>) : tensor<?xi64>, tensor<9x32xi8> -> tensor<?x32xf32>
    fovea.yield %1 : tensor<?x32xf32>
  }
  return %0 : tensor<?x32xf32>
}
