// RUN: fovea-opt %s --fovea-form-groups --fovea-fuse-groups --canonicalize --cse --split-input-file | FileCheck %s

// Every elementwise op on tensors of the result's type is an epilogue: of upstream, or by TileableOpInterface.

// CHECK-LABEL: func.func @any_elementwise_op
// CHECK: fovea.group
// CHECK-NEXT: fovea.linear
// CHECK-NEXT: arith.subf
// CHECK-NEXT: math.tanh
// CHECK-NEXT: arith.minimumf
// CHECK-NEXT: fovea.glu
// CHECK-NEXT: fovea.yield
// CHECK-NOT: fovea.group
func.func @any_elementwise_op(%x: tensor<?x32xf32>, %w: tensor<32x32xf32>) -> tensor<?x32xf32> {
  %0 = fovea.linear %x, %w : tensor<?x32xf32>, tensor<32x32xf32> -> tensor<?x32xf32>
  %1 = arith.subf %0, %x : tensor<?x32xf32>
  %2 = math.tanh %1 : tensor<?x32xf32>
  %3 = arith.minimumf %2, %x : tensor<?x32xf32>
  %4 = fovea.glu silu %3, %x : tensor<?x32xf32>
  return %4 : tensor<?x32xf32>
}

// -----

// Not what has operands of another type: a kernel's tiles are all of floats of one type.

// CHECK-LABEL: func.func @other_types
// CHECK: fovea.linear
// CHECK-NEXT: fovea.yield
// CHECK: arith.select
func.func @other_types(%x: tensor<?x32xf32>, %c: tensor<?x32xi1>, %w: tensor<32x32xf32>) -> tensor<?x32xf32> {
  %0 = fovea.linear %x, %w : tensor<?x32xf32>, tensor<32x32xf32> -> tensor<?x32xf32>
  %1 = arith.select %c, %0, %x : tensor<?x32xi1>, tensor<?x32xf32>
  return %1 : tensor<?x32xf32>
}

// -----

// Nor one whose operands may differ in size, which is a fault of the call.

// CHECK-LABEL: func.func @other_sizes
// CHECK: fovea.linear
// CHECK-NEXT: fovea.yield
// CHECK: arith.divf
func.func @other_sizes(%x: tensor<?x32xf32>, %z: tensor<?x32xf32>, %w: tensor<32x32xf32>) -> tensor<?x32xf32> {
  %0 = fovea.linear %x, %w : tensor<?x32xf32>, tensor<32x32xf32> -> tensor<?x32xf32>
  %1 = arith.divf %0, %z : tensor<?x32xf32>
  return %1 : tensor<?x32xf32>
}

// -----

// A norm of length one ends a group of rows like the others.

// CHECK-LABEL: func.func @l2_norm
// CHECK: fovea.group
// CHECK-NEXT: arith.addf
// CHECK-NEXT: fovea.l2_norm
// CHECK-NEXT: fovea.yield
// CHECK-NOT: fovea.group
func.func @l2_norm(%x: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %0 = arith.addf %x, %x : tensor<?x32xf32>
  %1 = fovea.l2_norm %0 eps(1.0e-12) : tensor<?x32xf32>
  return %1 : tensor<?x32xf32>
}
