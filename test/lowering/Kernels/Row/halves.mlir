// RUN: fovea-opt %s --fovea-to-kernels | FileCheck %s

// Of halves the sum is rounded, and widened for the norm's own sums.

// CHECK-LABEL: func.func private @layer_norm_0(
// CHECK: %[[S:.*]] = tile.map({{.*}}) : (!tile.tile<4x24xbf16>, !tile.tile<4x24xbf16>) -> !tile.tile<4x24xbf16> {
// CHECK: arith.truncf
// CHECK: %[[X:.*]] = tile.cast %[[S]] : !tile.tile<4x24xbf16> -> !tile.tile<4x24xf32>
// CHECK: tile.reduce sum %[[X]] axis(1)
// CHECK: %[[Y:.*]] = tile.map(%{{.*}} = %[[X]], {{.*}} -> !tile.tile<4x24xbf16> {
// CHECK: tile.store %[[Y]],
// CHECK: tile.store %[[S]],
func.func @halves(%x: tensor<?x?x24xbf16>, %u: tensor<?x?x24xbf16>, %w: tensor<24xbf16>) -> (tensor<?x?x24xbf16>, tensor<?x?x24xbf16>) attributes {fovea.entry} {
  %0:2 = fovea.group(%a = %x, %b = %u, %c = %w) schedule(#fovea.rows<rows = 4>)
      : (tensor<?x?x24xbf16>, tensor<?x?x24xbf16>, tensor<24xbf16>) -> (tensor<?x?x24xbf16>, tensor<?x?x24xbf16>) {
    %1 = arith.addf %a, %b : tensor<?x?x24xbf16>
    %2 = fovea.layer_norm %1 weight(%c : tensor<24xbf16>) eps(1.0e-5) : tensor<?x?x24xbf16>
    fovea.yield %2, %1 : tensor<?x?x24xbf16>, tensor<?x?x24xbf16>
  }
  return %0#0, %0#1 : tensor<?x?x24xbf16>, tensor<?x?x24xbf16>
}
