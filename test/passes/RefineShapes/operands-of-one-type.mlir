// RUN: fovea-opt %s -fovea-refine-shapes | FileCheck %s

// All of its types are one type, so the other operand is cast to what the first one is.
// CHECK-LABEL: @same_type
// CHECK-SAME: %[[G:.*]]: tensor<2x?x8xf32>, %[[U:.*]]: tensor<?x5x8xf32>
// CHECK-DAG: %[[G2:.*]] = tensor.cast %[[G]] : tensor<2x?x8xf32> to tensor<2x5x8xf32>
// CHECK-DAG: %[[U2:.*]] = tensor.cast %[[U]] : tensor<?x5x8xf32> to tensor<2x5x8xf32>
// CHECK: fovea.glu silu %[[G2]], %[[U2]] : tensor<2x5x8xf32>
func.func @same_type(%g: tensor<2x?x8xf32>, %u: tensor<?x5x8xf32>) -> tensor<?x?x8xf32> {
  %0 = tensor.cast %g : tensor<2x?x8xf32> to tensor<?x?x8xf32>
  %1 = tensor.cast %u : tensor<?x5x8xf32> to tensor<?x?x8xf32>
  %2 = fovea.glu silu %0, %1 : tensor<?x?x8xf32>
  return %2 : tensor<?x?x8xf32>
}
