// RUN: fovea-opt --fovea-fold-empty-tensors %s | FileCheck %s

// A softmax of rows without columns: the open size beside the zero is the operand's.

// CHECK-LABEL: @softmax
// CHECK-NOT: linalg.softmax
// CHECK: %[[N:.*]] = tensor.dim %arg0
// CHECK: %[[E:.*]] = tensor.empty(%[[N]]) : tensor<?x0xf32>
// CHECK: return %[[E]]
func.func @softmax(%x: tensor<?x0xf32>) -> tensor<?x0xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x0xf32>
  %e = tensor.empty(%n) : tensor<?x0xf32>
  %y = linalg.softmax dimension(1) ins(%x : tensor<?x0xf32>) outs(%e : tensor<?x0xf32>) -> tensor<?x0xf32>
  return %y : tensor<?x0xf32>
}
