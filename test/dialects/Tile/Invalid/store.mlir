// RUN: fovea-opt %s --split-input-file --verify-diagnostics

// What tile.store refuses, by the number of the constraint.

func.func private @store_c1_elements(%v: !tile.view<?x8xf32>, %t: !tile.tile<2x8xf64>, %i: index) {
  // expected-error @below {{expects equal element types, got 'f64' and 'f32'}}
  tile.store %t, %v[%i, %i] : !tile.tile<2x8xf64>, !tile.view<?x8xf32>
  return
}

// -----

func.func private @store_c2_packed(%x: memref<2x3x16xf32>, %t: !tile.tile<2x3xf32>, %i: index) {
  %v = tile.packed %x : memref<2x3x16xf32> -> !tile.view<32x3xf32>
  // expected-error @below {{expects memory that is not a packed weight}}
  tile.store %t, %v[%i, %i] : !tile.tile<2x3xf32>, !tile.view<32x3xf32>
  return
}
