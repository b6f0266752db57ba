// RUN: fovea-opt %s --split-input-file --verify-diagnostics

// What tile.dequantize refuses, by the number of the constraint.

func.func private @dequantize_c1(%q: !tile.tile<48x192xi32>) {
  // expected-error @below {{expects a tile of i2, i4, i5, i6 or i8 and a result like it of f16, bf16 or f32, got '!tile.tile<48x192xi32>' and '!tile.tile<48x192xf32>'}}
  %0 = tile.dequantize %q : !tile.tile<48x192xi32> -> !tile.tile<48x192xf32>
  return
}

// -----

func.func private @dequantize_c1_shape(%q: !tile.tile<48x192xi8>) {
  // expected-error @below {{got '!tile.tile<48x192xi8>' and '!tile.tile<48x96xf32>'}}
  %0 = tile.dequantize %q : !tile.tile<48x192xi8> -> !tile.tile<48x96xf32>
  return
}

// -----

func.func private @dequantize_c2_rows(%q: !tile.tile<48x192xi8>, %s: !tile.tile<40x6xf16>) {
  // expected-error @below {{expects scales of f16, bf16 or f32 for 48 rows, whose number of columns divides 192, got '!tile.tile<40x6xf16>'}}
  %0 = tile.dequantize %q scales(%s) : !tile.tile<48x192xi8>, !tile.tile<40x6xf16> -> !tile.tile<48x192xf32>
  return
}

// -----

func.func private @dequantize_c2_columns(%q: !tile.tile<48x192xi8>, %s: !tile.tile<48x7xf16>) {
  // expected-error @below {{whose number of columns divides 192, got '!tile.tile<48x7xf16>'}}
  %0 = tile.dequantize %q scales(%s) : !tile.tile<48x192xi8>, !tile.tile<48x7xf16> -> !tile.tile<48x192xf32>
  return
}

// -----

func.func private @dequantize_c2_type(%q: !tile.tile<48x192xi8>, %s: !tile.tile<48x6xf64>) {
  // expected-error @below {{expects scales of f16, bf16 or f32}}
  %0 = tile.dequantize %q scales(%s) : !tile.tile<48x192xi8>, !tile.tile<48x6xf64> -> !tile.tile<48x192xf32>
  return
}

// -----

func.func private @dequantize_c3_alone(%q: !tile.tile<48x192xi8>, %o: !tile.tile<48x6xf16>) {
  // expected-error @below {{expects scales beside offsets}}
  %0 = tile.dequantize %q offsets(%o) : !tile.tile<48x192xi8> offsets !tile.tile<48x6xf16> -> !tile.tile<48x192xf32>
  return
}

// -----

func.func private @dequantize_c3_shape(%q: !tile.tile<48x192xi8>, %s: !tile.tile<48x6xf16>, %o: !tile.tile<48x12xf16>) {
  // expected-error @below {{expects offsets of f16, bf16 or f32 like the scales '!tile.tile<48x6xf16>', got '!tile.tile<48x12xf16>'}}
  %0 = tile.dequantize %q scales(%s) offsets(%o) : !tile.tile<48x192xi8>, !tile.tile<48x6xf16> offsets !tile.tile<48x12xf16> -> !tile.tile<48x192xf32>
  return
}

// -----

func.func private @dequantize_c3_bias(%q: !tile.tile<48x192xi4>, %s: !tile.tile<48x6xf16>) {
  // expected-error @below {{expects offsets beside a bias, got a bias of 8}}
  %0 = tile.dequantize %q bias 8 scales(%s) : !tile.tile<48x192xi4>, !tile.tile<48x6xf16> -> !tile.tile<48x192xf32>
  return
}

// -----

func.func private @dequantize_c4_bytes(%q: !tile.tile<48x192xi8>) {
  // expected-error @below {{expects a table of 16 integers for a tile of i4, got 16 for '!tile.tile<48x192xi8>'}}
  %0 = tile.dequantize %q table [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15] : !tile.tile<48x192xi8> -> !tile.tile<48x192xf32>
  return
}

// -----

func.func private @dequantize_c4_short(%q: !tile.tile<48x192xi4>) {
  // expected-error @below {{expects a table of 16 integers for a tile of i4, got 2 for '!tile.tile<48x192xi4>'}}
  %0 = tile.dequantize %q table [0, 1] : !tile.tile<48x192xi4> -> !tile.tile<48x192xf32>
  return
}

// -----

func.func private @dequantize_c5(%q: !tile.tile<48x192xi6>) {
  // expected-error @below {{expects integers that tile.load gives, got other ones of 'i6'}}
  %0 = tile.dequantize %q : !tile.tile<48x192xi6> -> !tile.tile<48x192xf32>
  return
}
