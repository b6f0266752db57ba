// RUN: fovea-opt %s --fovea-form-groups --fovea-fuse-groups --canonicalize --cse | FileCheck %s
// RUN: fovea-opt %s --fovea-form-groups --fovea-fuse-groups | fovea-opt --verify-roundtrip

// A sum that is normalised and also used: two results, the norm first. A second norm of the first stays apart.

// CHECK-LABEL: func.func @sum
// CHECK: %[[Y:.*]]:2 = fovea.group({{.*}}) : (tensor<?x20xf32>, tensor<20xf32>) -> (tensor<?x20xf32>, tensor<?x20xf32>) {
// CHECK-NEXT: %[[S:.*]] = arith.addf
// CHECK-NEXT: %[[N:.*]] = fovea.rms_norm %[[S]]
// CHECK-NEXT: fovea.yield %[[N]], %[[S]]
// CHECK: fovea.group(%{{.*}} = %[[Y]]#0
// CHECK-NEXT: fovea.layer_norm
// CHECK: return %[[Y]]#1
func.func @sum(%x: tensor<?x20xf32>, %w: tensor<20xf32>) -> (tensor<?x20xf32>, tensor<?x20xf32>) {
  %0 = arith.addf %x, %x : tensor<?x20xf32>
  %1 = fovea.rms_norm %0 weight(%w : tensor<20xf32>) eps(1.0e-5) : tensor<?x20xf32>
  %2 = fovea.layer_norm %1 weight(%w : tensor<20xf32>) eps(1.0e-5) : tensor<?x20xf32>
  return %0, %2 : tensor<?x20xf32>, tensor<?x20xf32>
}
