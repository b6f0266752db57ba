// RUN: fovea-opt %s --fovea-form-groups --fovea-fuse-groups --canonicalize --cse | FileCheck %s

// A norm of length one ends a group of rows like the others.

// CHECK-LABEL: func.func @l2_norm
// CHECK: fovea.group
// CHECK-NEXT: arith.addf
// CHECK-NEXT: fovea.l2_norm
// CHECK-NEXT: fovea.yield
// CHECK-NOT: fovea.group
func.func @l2_norm(%x: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %0 = arith.addf %x, %x : tensor<?x32xf32>
  %1 = fovea.l2_norm %0 eps(1.0e-12) : tensor<?x32xf32>
  return %1 : tensor<?x32xf32>
}
