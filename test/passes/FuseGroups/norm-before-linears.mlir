// RUN: fovea-opt %s --fovea-form-groups --fovea-fuse-groups --canonicalize --cse | FileCheck %s
// RUN: fovea-opt %s --fovea-form-groups --fovea-fuse-groups | fovea-opt --verify-roundtrip

// A norm without weight goes into both linears that read it.

// CHECK-LABEL: func.func @prologue
// CHECK-NOT: fovea.group
// CHECK: fovea.group(%[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}}) : (tensor<?x32xf32>, tensor<16x32xf32>) -> tensor<?x16xf32> {
// CHECK-NEXT: %[[N:.*]] = fovea.rms_norm %[[A]] eps(1.000000e-05)
// CHECK-NEXT: %[[L:.*]] = fovea.linear %[[N]], %[[B]]
// CHECK-NEXT: fovea.activation gelu %[[L]]
// CHECK: fovea.group
// CHECK-NEXT: fovea.rms_norm
// CHECK-NEXT: fovea.linear
// CHECK-NEXT: fovea.yield
// CHECK-NOT: fovea.group
func.func @prologue(%x: tensor<?x32xf32>, %w: tensor<16x32xf32>, %u: tensor<24x32xbf16>) -> (tensor<?x16xf32>, tensor<?x24xf32>) {
  %n = fovea.rms_norm %x eps(1.0e-5) : tensor<?x32xf32>
  %0 = fovea.linear %n, %w : tensor<?x32xf32>, tensor<16x32xf32> -> tensor<?x16xf32>
  %1 = fovea.activation gelu %0 : tensor<?x16xf32>
  %2 = fovea.linear %n, %u : tensor<?x32xf32>, tensor<24x32xbf16> -> tensor<?x24xf32>
  return %1, %2 : tensor<?x16xf32>, tensor<?x24xf32>
}
