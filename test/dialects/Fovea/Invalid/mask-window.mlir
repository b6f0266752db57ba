// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// What fovea.mask_window refuses, by the number of the constraint.

func.func @mask_window_c1() {
  // expected-error @below {{expects a bound on the left, on the right, or both}}
  %m = fovea.mask_window
  return
}

// -----

func.func @mask_window_c2() {
  // expected-error @below {{expects -left <= right, got left -3 and right 2}}
  %m = fovea.mask_window left(-3) right(2)
  return
}

// -----

func.func @mask_window_c3_right() {
  // expected-error @below {{expects bounds between -4294967296 and 4294967296, got 4294967297}}
  %m = fovea.mask_window left(0) right(4294967297)
  return
}

// -----

// Its negation would not be a number of 64 bits.
func.func @mask_window_c3_least() {
  // expected-error @below {{expects bounds between -4294967296 and 4294967296, got -9223372036854775808}}
  %m = fovea.mask_window left(-9223372036854775808)
  return
}
