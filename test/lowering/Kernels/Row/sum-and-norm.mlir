// RUN: fovea-opt %s --fovea-to-kernels | FileCheck %s

// Whole rows, four at a time. The sum is computed once: it is a result, and the norm reads it.

// CHECK-LABEL: func.func private @layer_norm_0(
// CHECK: tile.kernel grid(%{{.*}}) = (%{{.*}}) {
// CHECK: %[[S:.*]] = tile.map({{.*}}) : (!tile.tile<4x24xf32>, !tile.tile<4x24xf32>) -> !tile.tile<4x24xf32> {
// CHECK-NEXT: arith.addf
// CHECK: tile.reduce sum %[[S]] axis(1) : !tile.tile<4x24xf32> -> !tile.tile<4x1xf32>
// CHECK: %[[SQUARES:.*]] = tile.map(%{{.*}} = %[[S]],
// CHECK: tile.reduce sum %[[SQUARES]] axis(1)
// CHECK: math.sqrt
// CHECK: %[[Y:.*]] = tile.map(%{{.*}} = %[[S]],
// CHECK: tile.store %[[Y]],
// CHECK: tile.store %[[S]],
func.func @sum_and_norm(%x: tensor<?x?x24xf32>, %u: tensor<?x?x24xf32>, %w: tensor<24xf32>) -> (tensor<?x?x24xf32>, tensor<?x?x24xf32>) attributes {fovea.entry} {
  %0:2 = fovea.group(%a = %x, %b = %u, %c = %w) schedule(#fovea.rows<rows = 4>)
      : (tensor<?x?x24xf32>, tensor<?x?x24xf32>, tensor<24xf32>) -> (tensor<?x?x24xf32>, tensor<?x?x24xf32>) {
    %1 = arith.addf %a, %b : tensor<?x?x24xf32>
    %2 = fovea.layer_norm %1 weight(%c : tensor<24xf32>) eps(1.0e-5) : tensor<?x?x24xf32>
    fovea.yield %2, %1 : tensor<?x?x24xf32>, tensor<?x?x24xf32>
  }
  return %0#0, %0#1 : tensor<?x?x24xf32>, tensor<?x?x24xf32>
}
