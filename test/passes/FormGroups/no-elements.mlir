// RUN: fovea-opt %s --fovea-form-groups --canonicalize | FileCheck %s

// What has no elements is memory like any other to a kernel that is not built of elements.

// CHECK-LABEL: @reads_nothing
// CHECK: %[[E:.*]] = tensor.empty() : tensor<4x0xf32>
// CHECK: fovea.group(%[[X:.*]] = %{{.*}}, %[[W:.*]] = %[[E]])
// CHECK-NEXT: fovea.linear %[[X]], %[[W]]
func.func @reads_nothing(%x: tensor<?x0xf32>) -> tensor<?x4xf32> {
  %w = tensor.empty() : tensor<4x0xf32>
  %y = fovea.linear %x, %w : tensor<?x0xf32>, tensor<4x0xf32> -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}
