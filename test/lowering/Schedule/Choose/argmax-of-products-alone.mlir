// RUN: fovea-opt %s --fovea-schedule=target=avx2 | FileCheck %s

// A place of the greatest is found in the tiles of a product, and nowhere else: not of a matrix in memory, not beside
// heads that are rotated, not twice.

// CHECK-LABEL: @argmax
// CHECK: fovea.group({{.*}}) schedule(#fovea.contraction<
// CHECK: fovea.group({{.*}}) schedule(#fovea.loops<parallel = 2>)
// CHECK-NEXT: fovea.argmax
// CHECK: fovea.group({{.*}}) schedule(#fovea.loops<
// CHECK: fovea.rope
// CHECK: fovea.group({{.*}}) schedule(#fovea.loops<
// CHECK-NOT: schedule
func.func @argmax(%x: tensor<?x3x4xf32>, %w: tensor<16x4xf32>, %p: tensor<1x3xi32>) -> (tensor<?x3xi64>, tensor<?x3xi64>, tensor<?x3xi64>, tensor<?x3xi64>) {
  %0:2 = fovea.group(%a = %x, %b = %w) : (tensor<?x3x4xf32>, tensor<16x4xf32>) -> (tensor<?x3x16xf32>, tensor<?x3xi64>) {
    %1 = fovea.linear %a, %b : tensor<?x3x4xf32>, tensor<16x4xf32> -> tensor<?x3x16xf32>
    %2 = fovea.argmax %1 : tensor<?x3x16xf32> -> tensor<?x3xi64>
    fovea.yield %1, %2 : tensor<?x3x16xf32>, tensor<?x3xi64>
  }
  %3 = fovea.group(%a = %0#0) : (tensor<?x3x16xf32>) -> tensor<?x3xi64> {
    %4 = fovea.argmax %a : tensor<?x3x16xf32> -> tensor<?x3xi64>
    fovea.yield %4 : tensor<?x3xi64>
  }
  %5:2 = fovea.group(%a = %x, %b = %w, %c = %p) : (tensor<?x3x4xf32>, tensor<16x4xf32>, tensor<1x3xi32>) -> (tensor<?x3xi64>, tensor<?x3x1x16xf32>) {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %a, %c0 : tensor<?x3x4xf32>
    %6 = fovea.linear %a, %b : tensor<?x3x4xf32>, tensor<16x4xf32> -> tensor<?x3x16xf32>
    %7 = tensor.expand_shape %6 [[0], [1], [2, 3]] output_shape [%n, 3, 1, 16] : tensor<?x3x16xf32> into tensor<?x3x1x16xf32>
    %8 = fovea.rope half %7 at(%c : tensor<1x3xi32>) dim(16) theta(10000.0) : tensor<?x3x1x16xf32>
    %9 = fovea.argmax %6 : tensor<?x3x16xf32> -> tensor<?x3xi64>
    fovea.yield %9, %8 : tensor<?x3xi64>, tensor<?x3x1x16xf32>
  }
  %10:2 = fovea.group(%a = %x, %b = %w) : (tensor<?x3x4xf32>, tensor<16x4xf32>) -> (tensor<?x3xi64>, tensor<?x3xi64>) {
    %11 = fovea.linear %a, %b : tensor<?x3x4xf32>, tensor<16x4xf32> -> tensor<?x3x16xf32>
    %12 = fovea.activation relu %11 : tensor<?x3x16xf32>
    %13 = fovea.argmax %11 : tensor<?x3x16xf32> -> tensor<?x3xi64>
    %14 = fovea.argmax %12 : tensor<?x3x16xf32> -> tensor<?x3xi64>
    fovea.yield %13, %14 : tensor<?x3xi64>, tensor<?x3xi64>
  }
  return %0#1, %3, %5#0, %10#0 : tensor<?x3xi64>, tensor<?x3xi64>, tensor<?x3xi64>, tensor<?x3xi64>
}
