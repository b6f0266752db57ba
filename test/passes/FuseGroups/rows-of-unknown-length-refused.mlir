// RUN: fovea-opt %s --fovea-form-groups --canonicalize --cse > %t.formed
// RUN: fovea-opt %s --fovea-form-groups --fovea-fuse-groups --canonicalize --cse > %t.fused
// RUN: diff %t.formed %t.fused
// RUN: fovea-opt %s --fovea-form-groups --fovea-fuse-groups --canonicalize --cse | FileCheck %s

// Rows whose length is not known: no tile holds one, so each op is computed by itself.

// CHECK-LABEL: func.func @rows_of_any_length
// CHECK-COUNT-2: fovea.group
func.func @rows_of_any_length(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = fovea.activation tanh %x : tensor<?x?xf32>
  %1 = fovea.activation silu %0 : tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}
