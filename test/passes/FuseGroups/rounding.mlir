// RUN: fovea-opt %s --fovea-form-groups --fovea-fuse-groups | FileCheck %s
//
// What linears multiply in bf16 is rounded by the kernel that computes it.

// A norm without weight, which is not the linear's any more.
// CHECK-LABEL: func.func @norm
// CHECK:         %[[N:.*]] = fovea.group(%[[A:.*]] = %{{.*}}) : (tensor<?x64xf32>) -> tensor<?x64xbf16> {
// CHECK-NEXT:      %[[S:.*]] = fovea.rms_norm %[[A]]
// CHECK-NEXT:      %[[R:.*]] = arith.truncf %[[S]] : tensor<?x64xf32> to tensor<?x64xbf16>
// CHECK-NEXT:      fovea.yield %[[R]]
// CHECK:         fovea.group({{.*}} = %[[N]],
// CHECK-NEXT:      fovea.linear {{.*}} : tensor<?x64xbf16>, tensor<32x64xbf16> -> tensor<?x32xf32>
func.func @norm(%x: tensor<?x64xf32>, %w: tensor<32x64xbf16>) -> tensor<?x32xf32> {
  %n = fovea.rms_norm %x eps(1.0e-5) : tensor<?x64xf32>
  %r = arith.truncf %n : tensor<?x64xf32> to tensor<?x64xbf16>
  %y = fovea.linear %r, %w : tensor<?x64xbf16>, tensor<32x64xbf16> -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}

// A product and its gate.
// CHECK-LABEL: func.func @gate
// CHECK:         fovea.group({{.*}}) : {{.*}} -> tensor<?x32xbf16> {
// CHECK-NEXT:      fovea.linear
// CHECK:           fovea.glu
// CHECK-NEXT:      arith.truncf
// CHECK-NEXT:      fovea.yield
func.func @gate(%x: tensor<?x64xf32>, %w: tensor<64x64xf32>) -> tensor<?x32xbf16> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x64xf32>
  %y = fovea.linear %x, %w : tensor<?x64xf32>, tensor<64x64xf32> -> tensor<?x64xf32>
  %a = tensor.extract_slice %y[0, 0] [%n, 32] [1, 1] : tensor<?x64xf32> to tensor<?x32xf32>
  %b = tensor.extract_slice %y[0, 32] [%n, 32] [1, 1] : tensor<?x64xf32> to tensor<?x32xf32>
  %g = fovea.glu silu %a, %b : tensor<?x32xf32>
  %r = arith.truncf %g : tensor<?x32xf32> to tensor<?x32xbf16>
  return %r : tensor<?x32xbf16>
}

// One of two results: the sum goes on in f32.
// CHECK-LABEL: func.func @sum
// CHECK:         fovea.group({{.*}}) : {{.*}} -> (tensor<?x64xbf16>, tensor<?x64xf32>) {
// CHECK-NEXT:      %[[SUM:.*]] = arith.addf
// CHECK-NEXT:      %[[NORM:.*]] = fovea.layer_norm %[[SUM]]
// CHECK-NEXT:      %[[R:.*]] = arith.truncf %[[NORM]]
// CHECK-NEXT:      fovea.yield %[[R]], %[[SUM]]
func.func @sum(%x: tensor<?x64xf32>) -> (tensor<?x64xbf16>, tensor<?x64xf32>) {
  %s = arith.addf %x, %x : tensor<?x64xf32>
  %n = fovea.layer_norm %s eps(1.0e-5) : tensor<?x64xf32>
  %r = arith.truncf %n : tensor<?x64xf32> to tensor<?x64xbf16>
  return %r, %s : tensor<?x64xbf16>, tensor<?x64xf32>
}

// What something else reads in f32 is stored, too.
// CHECK-LABEL: func.func @two_readers
// CHECK:         %[[Y:.*]]:2 = fovea.group({{.*}}) : {{.*}} -> (tensor<?x64xf32>, tensor<?x64xbf16>) {
// CHECK-NEXT:      %[[N:.*]] = fovea.rms_norm
// CHECK-NEXT:      %[[R:.*]] = arith.truncf %[[N]]
// CHECK-NEXT:      fovea.yield %[[N]], %[[R]]
// CHECK:         return %[[Y]]#1, %[[Y]]#0
func.func @two_readers(%x: tensor<?x64xf32>) -> (tensor<?x64xbf16>, tensor<?x64xf32>) {
  %n = fovea.rms_norm %x eps(1.0e-5) : tensor<?x64xf32>
  %r = arith.truncf %n : tensor<?x64xf32> to tensor<?x64xbf16>
  return %r, %n : tensor<?x64xbf16>, tensor<?x64xf32>
}
