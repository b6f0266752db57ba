// RUN: fovea-opt %s --fovea-form-groups --fovea-fuse-groups --canonicalize --cse | FileCheck %s

// An op whose operands may differ in size, which is a fault of the call, is no epilogue.

// CHECK-LABEL: func.func @other_sizes
// CHECK: fovea.linear
// CHECK-NEXT: fovea.yield
// CHECK: arith.divf
func.func @other_sizes(%x: tensor<?x32xf32>, %z: tensor<?x32xf32>, %w: tensor<32x32xf32>) -> tensor<?x32xf32> {
  %0 = fovea.linear %x, %w : tensor<?x32xf32>, tensor<32x32xf32> -> tensor<?x32xf32>
  %1 = arith.divf %0, %z : tensor<?x32xf32>
  return %1 : tensor<?x32xf32>
}
