// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{expects 'fovea.max_positions' to be a positive integer, got 0}}
func.func @max_positions_zero() attributes {fovea.max_positions = 0 : i64} {
  return
}

// -----

// expected-error @below {{expects 'fovea.max_positions' to be a positive integer, got "many"}}
func.func @max_positions_text() attributes {fovea.max_positions = "many"} {
  return
}
