// RUN: fovea-opt %s --fovea-form-groups --fovea-fuse-groups --canonicalize --cse | FileCheck %s

// Rows whose length is not known: no tile holds one, but what is elementwise needs none.

// CHECK-LABEL: func.func @elementwise
// CHECK-COUNT-1: fovea.group
// CHECK: fovea.activation tanh
// CHECK-NEXT: fovea.activation silu
// CHECK-NOT: fovea.group
func.func @elementwise(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = fovea.activation tanh %x : tensor<?x?xf32>
  %1 = fovea.activation silu %0 : tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}
