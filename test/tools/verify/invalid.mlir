// RUN: not fovea-verify-planted %s 2>&1 | FileCheck %s

// CHECK: expects at least one function with 'fovea.entry', got none
func.func @not_an_entry() {
  return
}
