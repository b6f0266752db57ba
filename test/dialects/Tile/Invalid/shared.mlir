// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// What tile.shared refuses, by the number of the constraint.

func.func private @swizzled_place() {
  // expected-error @below {{expects a place that is a multiple of 1024 bytes for '!tile.shared<64x64xbf16, swizzle 128>', got 512}}
  %0 = tile.shared at(512) : !tile.shared<64x64xbf16, swizzle 128>
  return
}

// -----

func.func private @shared_place() {
  // expected-error @below {{expects a place that is a multiple of 16 bytes, got 8}}
  %s = tile.shared at(8) : !tile.shared<4x4xf32>
  return
}

// -----

func.func private @shared_op_c2() {
  // expected-error @below {{expects from 1 to 1024 stages, got 0}}
  %s = tile.shared stages(0) : !tile.shared<4x4xf32>
  return
}

// -----

func.func private @shared_op_c2_kept() {
  // expected-error @below {{expects to keep at least one slot and fewer than all, got 2 of 2}}
  %s = tile.shared stages(2) kept(2) : !tile.shared<4x4xf32>
  return
}

// -----

func.func private @shared_c3() {
  // expected-error @below {{expects a guarded ring to have stages, and none that are kept}}
  %s = tile.shared stages(3) kept(1) guarded : !tile.shared<4x4xf32>
  return
}
