// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Nothing is computed of tensors without elements.
// RUN: fovea-opt --fovea-fold-empty-tensors --split-input-file %s | FileCheck %s

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

// -----

// A product over nothing is what it began with.
// CHECK-LABEL: @product
// CHECK: %[[Z:.*]] = arith.constant dense<0.000000e+00> : tensor<2x3xf32>
// CHECK: return %[[Z]]
func.func @product(%a: tensor<2x0xf32>, %b: tensor<0x3xf32>) -> tensor<2x3xf32> {
  %z = arith.constant dense<0.0> : tensor<2x3xf32>
  %y = linalg.matmul ins(%a, %b : tensor<2x0xf32>, tensor<0x3xf32>) outs(%z : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: @insertion
// CHECK: return %arg1
func.func @insertion(%x: tensor<2x0xf32>, %into: tensor<2x5xf32>) -> tensor<2x5xf32> {
  %y = tensor.insert_slice %x into %into[0, 3] [2, 0] [1, 1] : tensor<2x0xf32> into tensor<2x5xf32>
  return %y : tensor<2x5xf32>
}

// -----

// Attention over no keys has results: zeros, which its kernel gives.
// CHECK-LABEL: @attention
// CHECK: fovea.attention
func.func @attention(%q: tensor<1x3x2x8xf32>, %k: tensor<1x0x2x8xf32>) -> tensor<1x3x2x8xf32> {
  %y = fovea.attention %q, %k, %k : tensor<1x3x2x8xf32>, tensor<1x0x2x8xf32>, tensor<1x0x2x8xf32> -> tensor<1x3x2x8xf32>
  return %y : tensor<1x3x2x8xf32>
}

// -----

// Of no queries there is nothing to compute.
// CHECK-LABEL: @no_queries
// CHECK-NOT: fovea.attention
// CHECK: tensor.empty() : tensor<1x0x2x8xf32>
func.func @no_queries(%q: tensor<1x0x2x8xf32>, %k: tensor<1x7x2x8xf32>) -> tensor<1x0x2x8xf32> {
  %y = fovea.attention %q, %k, %k : tensor<1x0x2x8xf32>, tensor<1x7x2x8xf32>, tensor<1x7x2x8xf32> -> tensor<1x0x2x8xf32>
  return %y : tensor<1x0x2x8xf32>
}

// -----

// A call may do anything.
// CHECK-LABEL: func.func @calls
// CHECK: call @other
func.func private @other(%x: tensor<0xf32>) -> tensor<0xf32>
func.func @calls(%x: tensor<0xf32>) -> tensor<0xf32> {
  %y = call @other(%x) : (tensor<0xf32>) -> tensor<0xf32>
  return %y : tensor<0xf32>
}
