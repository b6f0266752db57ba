// RUN: fovea-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: @upstream_passes_run
// CHECK-NOT: arith.addi
// CHECK: return %arg0
func.func @upstream_passes_run(%arg0: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %sum = arith.addi %arg0, %zero : i32
  return %sum : i32
}
