// RUN: fovea-opt %s --split-input-file --verify-diagnostics

// What tile.view refuses, by the number of the constraint.

func.func private @view_c1_three_axes(%x: memref<2x3x4xf32>) {
  // expected-error @below {{expects one or two axes, got 3}}
  %v = tile.view %x axes(0, 1, 2) : memref<2x3x4xf32> -> !tile.view<2x4xf32>
  return
}

// -----

func.func private @view_c1_axis_beyond(%x: memref<2x3xf32>) {
  // expected-error @below {{expects axes of a buffer of rank 2, got 2}}
  %v = tile.view %x axes(0, 2) : memref<2x3xf32> -> !tile.view<2x3xf32>
  return
}

// -----

func.func private @view_c1_axis_twice(%x: memref<2x3xf32>) {
  // expected-error @below {{expects two different axes, got 1 twice}}
  %v = tile.view %x axes(1, 1) : memref<2x3xf32> -> !tile.view<3x3xf32>
  return
}

// -----

func.func private @view_c1_index_missing(%x: memref<2x3x4xf32>) {
  // expected-error @below {{expects an index for each axis that is not a view's, 1, got 0}}
  %v = tile.view %x axes(1, 2) : memref<2x3x4xf32> -> !tile.view<3x4xf32>
  return
}

// -----

func.func private @view_c2_sizes_exchanged(%x: memref<2x3xf32>) {
  // expected-error @below {{expects a view of type '!tile.view<3x2xf32>', got '!tile.view<2x3xf32>'}}
  %v = tile.view %x axes(1, 0) : memref<2x3xf32> -> !tile.view<2x3xf32>
  return
}

// -----

func.func private @view_c2_static_rows_with_length(%x: memref<2x3xf32>, %n: index) {
  // expected-error @below {{expects a view of type '!tile.view<?x3xf32>', got '!tile.view<2x3xf32>'}}
  %v = tile.view %x axes(0, 1) length(%n) : memref<2x3xf32> -> !tile.view<2x3xf32>
  return
}

// -----

func.func private @view_c3_length_of_one_axis(%x: memref<3xf32>, %n: index) {
  // expected-error @below {{expects two axes with a length, got one}}
  %v = tile.view %x axes(0) length(%n) : memref<3xf32> -> !tile.view<?x3xf32>
  return
}

// -----

func.func private @view_c4(%x: memref<16x64xi6>) {
  // expected-error @below {{expects elements that lie one by one, which 'i6' does in no buffer but a packed one}}
  %v = tile.view %x axes(0, 1) : memref<16x64xi6> -> !tile.view<16x64xi6>
  return
}
