// RUN: fovea-opt %s --fovea-form-groups --fovea-fuse-groups --canonicalize --cse | FileCheck %s
// RUN: fovea-opt %s --fovea-form-groups --fovea-fuse-groups | fovea-opt --verify-roundtrip

// Epilogues: an activation; a chain, in which the residual is the first operand. A narrow weight and a bias.

// CHECK-LABEL: func.func @epilogue
// CHECK-SAME: (%[[X:.*]]: tensor<?x?x32xf32>, %[[W:.*]]: tensor<64x32xf32>, %[[V:.*]]: tensor<32x64xbf16>, %[[B:.*]]: tensor<32xf32>)
// CHECK: %[[H:.*]] = fovea.group(%[[A:.*]] = %[[X]], %[[C:.*]] = %[[W]]) : (tensor<?x?x32xf32>, tensor<64x32xf32>) -> tensor<?x?x64xf32> {
// CHECK-NEXT: %[[L:.*]] = fovea.linear %[[A]], %[[C]]
// CHECK-NEXT: %[[G:.*]] = fovea.activation gelu %[[L]]
// CHECK-NEXT: fovea.yield %[[G]]
// CHECK: %[[Y:.*]] = fovea.group(%[[A:.*]] = %[[H]], %[[C:.*]] = %[[V]], %[[D:.*]] = %[[B]], %[[R:.*]] = %[[X]])
// CHECK-NEXT: %[[L:.*]] = fovea.linear %[[A]], %[[C]] bias(%[[D]]
// CHECK-NEXT: %[[G:.*]] = fovea.activation silu %[[L]]
// CHECK-NEXT: %[[M:.*]] = arith.mulf %[[G]], %[[R]]
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[R]], %[[M]]
// CHECK-NEXT: fovea.yield %[[S]]
// CHECK: return %[[Y]]
func.func @epilogue(%x: tensor<?x?x32xf32>, %w: tensor<64x32xf32>, %v: tensor<32x64xbf16>, %b: tensor<32xf32>) -> tensor<?x?x32xf32> {
  %0 = fovea.linear %x, %w : tensor<?x?x32xf32>, tensor<64x32xf32> -> tensor<?x?x64xf32>
  %1 = fovea.activation gelu %0 : tensor<?x?x64xf32>
  %2 = fovea.linear %1, %v bias(%b : tensor<32xf32>) : tensor<?x?x64xf32>, tensor<32x64xbf16> -> tensor<?x?x32xf32>
  %3 = fovea.activation silu %2 : tensor<?x?x32xf32>
  %4 = arith.mulf %3, %x : tensor<?x?x32xf32>
  %5 = arith.addf %x, %4 : tensor<?x?x32xf32>
  return %5 : tensor<?x?x32xf32>
}
