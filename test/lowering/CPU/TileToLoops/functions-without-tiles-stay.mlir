// RUN: fovea-opt %s --pass-pipeline='builtin.module(func.func(fovea-tile-to-loops))' | FileCheck %s

// Functions without tiles stay as they are, whatever else they are made of.
// CHECK-LABEL: func.func @other
// CHECK: cf.br
func.func @other() {
  cf.br ^bb1
^bb1:
  return
}
