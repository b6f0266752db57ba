// RUN: fovea-opt %s --fovea-schedule --split-input-file -verify-diagnostics

func.func @empty() {
  // expected-error @below {{expects an op that computes its first result}}
  fovea.group() : () -> () {
  }
  return
}
