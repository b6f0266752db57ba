// RUN: fovea-opt %s --fovea-form-groups --fovea-fuse-groups --canonicalize --cse | FileCheck %s

// What has operands of another type is no epilogue: a kernel's tiles are all of floats of one type.

// CHECK-LABEL: func.func @other_types
// CHECK: fovea.linear
// CHECK-NEXT: fovea.yield
// CHECK: arith.select
func.func @other_types(%x: tensor<?x32xf32>, %c: tensor<?x32xi1>, %w: tensor<32x32xf32>) -> tensor<?x32xf32> {
  %0 = fovea.linear %x, %w : tensor<?x32xf32>, tensor<32x32xf32> -> tensor<?x32xf32>
  %1 = arith.select %c, %0, %x : tensor<?x32xi1>, tensor<?x32xf32>
  return %1 : tensor<?x32xf32>
}
