// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// What tile.stage and tile.async_wait refuse, by the number of the constraint.

func.func private @slot_c1(%i: index) {
  %s = tile.shared : !tile.shared<4x4xf32>
  // expected-error @below {{expects a slot of a tile.shared with stages}}
  %t = tile.stage %s[%i] : !tile.shared<4x4xf32>
  return
}

// -----

func.func private @slot_c2() {
  %c2 = arith.constant 2 : index
  %s = tile.shared stages(2) : !tile.shared<4x4xf32>
  // expected-error @below {{expects a slot below 2, got 2}}
  %t = tile.stage %s[%c2] : !tile.shared<4x4xf32>
  return
}

// -----

func.func private @wait_c1() {
  // expected-error @below {{expects a number of groups, got -1}}
  tile.async_wait pending(-1)
  return
}

// -----

func.func private @slot_of_guarded(%i: index) {
  %s = tile.shared stages(3) guarded : !tile.shared<4x4xf32>
  // expected-error @below {{expects a slot of a tile.shared with stages that is not guarded}}
  %t = tile.stage %s[%i] : !tile.shared<4x4xf32>
  return
}
