// RUN: fovea-opt %s --fovea-decompose | FileCheck %s

// Scales are no rows: of a linear and of a table.

// CHECK-LABEL: func.func @linear
// CHECK: fovea.linear %{{.*}}, %{{.*}} scales(%{{.*}} : tensor<5xf32>) : tensor<1x8xf32>, tensor<5x8xi8> -> tensor<1x5xf32>
func.func @linear(%x: tensor<8xf32>, %w: tensor<5x8xi8>, %s: tensor<5xf32>) -> tensor<5xf32> {
  %y = fovea.linear %x, %w scales(%s : tensor<5xf32>) : tensor<8xf32>, tensor<5x8xi8> -> tensor<5xf32>
  return %y : tensor<5xf32>
}

// CHECK-LABEL: func.func @embedding
// CHECK: fovea.embedding %{{.*}}, %{{.*}} scales(%{{.*}} : tensor<7xf32>) : tensor<1xi64>, tensor<7x4xi8> -> tensor<1x4xf32>
func.func @embedding(%i: tensor<i64>, %t: tensor<7x4xi8>, %s: tensor<7xf32>) -> tensor<4xf32> {
  %y = fovea.embedding %i, %t scales(%s : tensor<7xf32>) : tensor<i64>, tensor<7x4xi8> -> tensor<4xf32>
  return %y : tensor<4xf32>
}
