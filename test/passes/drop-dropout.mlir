// RUN: fovea-opt %s --fovea-drop-dropout | FileCheck %s

// CHECK-LABEL: @chain
// CHECK-SAME: (%[[X:.*]]: tensor<?x?x8xf32>)
// CHECK-NOT: fovea.dropout
// CHECK: fovea.activation gelu %[[X]]
func.func @chain(%x: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
  %0 = fovea.dropout %x rate(0.1) : tensor<?x?x8xf32>
  %1 = fovea.dropout %0 rate(0.0) : tensor<?x?x8xf32>
  %2 = fovea.activation gelu %1 : tensor<?x?x8xf32>
  return %2 : tensor<?x?x8xf32>
}
