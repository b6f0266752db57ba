// RUN: fovea-opt %s --fovea-decompose --canonicalize | FileCheck %s

// Softmax along columns: the greatest of each, powers in f32, their sum, quotients.
// CHECK-LABEL: func.func @along_columns(
// CHECK: linalg.generic {{.*}} iterator_types = ["reduction", "parallel"]
// CHECK: arith.maximumf
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]
// CHECK: math.exp
// CHECK: linalg.generic {{.*}} iterator_types = ["reduction", "parallel"]
// CHECK: arith.addf
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]
// CHECK: arith.divf {{.*}} : f32
// CHECK: arith.truncf {{.*}} : f32 to bf16
func.func @along_columns(%x: tensor<?x4xbf16>) -> tensor<?x4xbf16> {
  %y = linalg.softmax dimension(0) ins(%x : tensor<?x4xbf16>) outs(%x : tensor<?x4xbf16>) -> tensor<?x4xbf16>
  return %y : tensor<?x4xbf16>
}

// A row whose size is open is reduced as well.
// CHECK-LABEL: func.func @open(
// CHECK-COUNT-4: linalg.generic
// CHECK-NOT: linalg.softmax
func.func @open(%x: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %y = linalg.softmax dimension(1) ins(%x : tensor<2x?xf32>) outs(%x : tensor<2x?xf32>) -> tensor<2x?xf32>
  return %y : tensor<2x?xf32>
}
