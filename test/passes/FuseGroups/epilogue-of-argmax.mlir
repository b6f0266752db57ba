// RUN: fovea-opt %s --fovea-form-groups --fovea-fuse-groups --canonicalize --cse | FileCheck %s
// RUN: fovea-opt %s --fovea-form-groups --fovea-fuse-groups | fovea-opt --verify-roundtrip

// The place of the greatest logit, beside the logits if others read them.

// CHECK-LABEL: func.func @argmax
// CHECK: %[[Y:.*]]:2 = fovea.group({{.*}}) : (tensor<?x32xf32>, tensor<50x32xbf16>) -> (tensor<?x50xf32>, tensor<?xi64>) {
// CHECK-NEXT: %[[L:.*]] = fovea.linear
// CHECK-NEXT: %[[T:.*]] = fovea.argmax %[[L]]
// CHECK-NEXT: fovea.yield %[[L]], %[[T]]
// CHECK-NOT: fovea.group
// CHECK: return %[[Y]]#0, %[[Y]]#1
func.func @argmax(%x: tensor<?x32xf32>, %w: tensor<50x32xbf16>) -> (tensor<?x50xf32>, tensor<?xi64>) {
  %0 = fovea.linear %x, %w : tensor<?x32xf32>, tensor<50x32xbf16> -> tensor<?x50xf32>
  %1 = fovea.argmax %0 : tensor<?x50xf32> -> tensor<?xi64>
  return %0, %1 : tensor<?x50xf32>, tensor<?xi64>
}

// CHECK-LABEL: func.func @argmax_alone
// CHECK: %[[Y:.*]] = fovea.group({{.*}}) -> tensor<?x?xi64> {
// CHECK-NEXT: %[[N:.*]] = fovea.rms_norm
// CHECK-NEXT: %[[L:.*]] = fovea.linear %[[N]]
// CHECK-NEXT: %[[E:.*]] = fovea.activation tanh %[[L]]
// CHECK-NEXT: %[[T:.*]] = fovea.argmax %[[E]]
// CHECK-NEXT: fovea.yield %[[T]]
// CHECK-NOT: fovea.group
// CHECK: return %[[Y]]
func.func @argmax_alone(%x: tensor<?x?x32xf32>, %w: tensor<50x32xf32>) -> tensor<?x?xi64> {
  %0 = fovea.rms_norm %x eps(1.0e-5) : tensor<?x?x32xf32>
  %1 = fovea.linear %0, %w : tensor<?x?x32xf32>, tensor<50x32xf32> -> tensor<?x?x50xf32>
  %2 = fovea.activation tanh %1 : tensor<?x?x50xf32>
  %3 = fovea.argmax %2 : tensor<?x?x50xf32> -> tensor<?x?xi64>
  return %3 : tensor<?x?xi64>
}
