// RUN: fovea-opt %s --split-input-file --verify-diagnostics

// What tile.dot refuses, by the number of the constraint.

func.func private @dot_c1_depth(%a: !tile.tile<2x3xf32>, %b: !tile.tile<5x3xf32>) {
  // expected-error @below {{expects a and b to agree in depth, got 3 and 5}}
  %s = tile.dot %a, %b : !tile.tile<2x3xf32>, !tile.tile<5x3xf32> -> !tile.tile<2x5xf32>
  return
}

// -----

func.func private @dot_c1_result(%a: !tile.tile<2x3xf32>, %b: !tile.tile<5x3xf32>) {
  // expected-error @below {{expects a result of 2x5, got 5x2}}
  %s = tile.dot %a, %b transpose_b : !tile.tile<2x3xf32>, !tile.tile<5x3xf32> -> !tile.tile<5x2xf32>
  return
}

// -----

func.func private @dot_c2_narrow_sum(%a: !tile.tile<2x3xbf16>, %b: !tile.tile<3x5xbf16>) {
  // expected-error @below {{expects a result of f32 or f64, got 'bf16'}}
  %s = tile.dot %a, %b : !tile.tile<2x3xbf16>, !tile.tile<3x5xbf16> -> !tile.tile<2x5xbf16>
  return
}

// -----

func.func private @dot_c2_wide_operand(%a: !tile.tile<2x3xf32>, %b: !tile.tile<3x5xf64>) {
  // expected-error @below {{expects operands of floating-point elements no wider than 'f32', got 'f64'}}
  %s = tile.dot %a, %b : !tile.tile<2x3xf32>, !tile.tile<3x5xf64> -> !tile.tile<2x5xf32>
  return
}

// -----

func.func private @dot_c2_integers(%a: !tile.tile<2x3xi32>, %b: !tile.tile<3x5xf32>) {
  // expected-error @below {{expects operands of floating-point elements no wider than 'f32', got 'i32'}}
  %s = tile.dot %a, %b : !tile.tile<2x3xi32>, !tile.tile<3x5xf32> -> !tile.tile<2x5xf32>
  return
}

// -----

// The text gives an accumulator the result's type; other forms can do otherwise.
func.func private @dot_c3_accumulator(%a: !tile.tile<2x3xf32>, %b: !tile.tile<3x5xf32>, %c: !tile.tile<2x5xf32, lanes 0>) {
  // expected-error @below {{expects an accumulator of type '!tile.tile<2x5xf32>', got '!tile.tile<2x5xf32, lanes 0>'}}
  %s = "tile.dot"(%a, %b, %c) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> : (!tile.tile<2x3xf32>, !tile.tile<3x5xf32>, !tile.tile<2x5xf32, lanes 0>) -> !tile.tile<2x5xf32>
  return
}

// -----

func.func private @dot_c4_block_of_one_size(%a: !tile.tile<2x3xf32>, %b: !tile.tile<3x5xf32>) {
  // expected-error @below {{expects a block of two positive sizes}}
  %s = tile.dot %a, %b block(4) : !tile.tile<2x3xf32>, !tile.tile<3x5xf32> -> !tile.tile<2x5xf32>
  return
}

// -----

func.func private @dot_c4_block_of_nothing(%a: !tile.tile<2x3xf32>, %b: !tile.tile<3x5xf32>) {
  // expected-error @below {{expects a block of two positive sizes}}
  %s = tile.dot %a, %b block(4, 0) : !tile.tile<2x3xf32>, !tile.tile<3x5xf32> -> !tile.tile<2x5xf32>
  return
}

// -----

func.func private @dot_c6_columns(%a: !tile.tile<4x96xi8>, %b: !tile.tile<8x96xf32>, %g: !tile.tile<4x5xf32>) {
  // expected-error @below {{expects sums of f32 beside a tile of i8 of as many rows, whose number of columns divides its, got '!tile.tile<4x5xf32>' and '!tile.tile<4x96xi8>'}}
  %s = tile.dot %a, %b transpose_b sums(%g) : !tile.tile<4x96xi8>, !tile.tile<8x96xf32> sums !tile.tile<4x5xf32> -> !tile.tile<4x8xf32>
  return
}

// -----

func.func private @dot_c6_of_floats(%a: !tile.tile<4x96xf32>, %b: !tile.tile<8x96xf32>, %g: !tile.tile<4x3xf32>) {
  // expected-error @below {{expects sums of f32 beside a tile of i8}}
  %s = tile.dot %a, %b transpose_b sums(%g) : !tile.tile<4x96xf32>, !tile.tile<8x96xf32> sums !tile.tile<4x3xf32> -> !tile.tile<4x8xf32>
  return
}
