// RUN: fovea-opt %s --fovea-form-groups --fovea-fuse-groups --canonicalize --cse | FileCheck %s

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
