// RUN: fovea-opt %s --fovea-form-groups --fovea-fuse-groups --canonicalize --cse | FileCheck %s
// RUN: fovea-opt %s --fovea-form-groups --fovea-fuse-groups | fovea-opt --verify-roundtrip

// Halves have epilogues too; and a sum with its norm.

// CHECK-LABEL: func.func @halves
// CHECK: fovea.group
// CHECK-NEXT: fovea.linear
// CHECK-NEXT: fovea.activation
// CHECK-NEXT: arith.addf
// CHECK: fovea.group
// CHECK-NEXT: arith.addf
// CHECK-NEXT: fovea.layer_norm
// CHECK-NOT: fovea.group
func.func @halves(%x: tensor<?x32xf16>, %w: tensor<32x32xf16>, %g: tensor<32xf16>) -> (tensor<?x32xf16>, tensor<?x32xf16>) {
  %0 = fovea.linear %x, %w : tensor<?x32xf16>, tensor<32x32xf16> -> tensor<?x32xf16>
  %1 = fovea.activation gelu %0 : tensor<?x32xf16>
  %2 = arith.addf %1, %x : tensor<?x32xf16>
  %3 = arith.addf %x, %x : tensor<?x32xf16>
  %4 = fovea.layer_norm %3 weight(%g : tensor<32xf16>) eps(1.0e-5) : tensor<?x32xf16>
  return %2, %4 : tensor<?x32xf16>, tensor<?x32xf16>
}
