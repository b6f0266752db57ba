// RUN: fovea-interpret %s --verify-diagnostics

func.func @loop_stands_still() -> index {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  // expected-error @below {{expects a positive step, got 0}}
  %a = scf.for %i = %zero to %one step %zero iter_args(%s = %zero) -> index {
    scf.yield %s : index
  }
  return %a : index
}
