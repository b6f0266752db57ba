// RUN: fovea-opt %s --split-input-file --verify-diagnostics

func.func private @packed_c2(%w: memref<32x96x16xi8>) {
  // expected-error @below {{expects a view whose sizes fill 'memref<32x96x16xi8>', got '!tile.view<512x96xi4>'}}
  %0 = tile.packed %w : memref<32x96x16xi8> -> !tile.view<512x96xi4>
  return
}

// -----

func.func private @packed_c3(%w: memref<32x96x16xi16>) {
  // expected-error @below {{expects a buffer of 'i8' for '!tile.view<512x192xi4>', got 'memref<32x96x16xi16>'}}
  %0 = tile.packed %w : memref<32x96x16xi16> -> !tile.view<512x192xi4>
  return
}

// -----

func.func private @gather_c1(%w: !tile.view<512x192xi4>, %r: !tile.tile<4x1xi64>, %i: index) {
  // expected-error @below {{expects elements of whole bytes, got '!tile.view<512x192xi4>'}}
  %0 = tile.gather %w[%r, %i] : !tile.view<512x192xi4>, !tile.tile<4x1xi64> -> !tile.tile<4x192xi4>
  return
}

// -----

func.func private @dequantize_c1(%q: !tile.tile<48x192xi32>) {
  // expected-error @below {{expects a tile of i4 or i8 and a result like it of f16, bf16 or f32, got '!tile.tile<48x192xi32>' and '!tile.tile<48x192xf32>'}}
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
  // expected-error @below {{expects scales of f16 or f32 for 48 rows, whose number of columns divides 192, got '!tile.tile<40x6xf16>'}}
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

func.func private @dequantize_c2_type(%q: !tile.tile<48x192xi8>, %s: !tile.tile<48x6xbf16>) {
  // expected-error @below {{expects scales of f16 or f32}}
  %0 = tile.dequantize %q scales(%s) : !tile.tile<48x192xi8>, !tile.tile<48x6xbf16> -> !tile.tile<48x192xf32>
  return
}

// -----

func.func private @copy_c1(%w: !tile.view<512x192xi32>, %i: index) {
  %m = tile.shared : !tile.shared<64x64xbf16, swizzle 128>
  // expected-error @below {{expects equal element types, got 'i32' and 'bf16'}}
  tile.copy %w[%i, %i] to %m : !tile.view<512x192xi32>, !tile.shared<64x64xbf16, swizzle 128>
  return
}

// -----

func.func private @copy_c2(%w: !tile.view<512x192xi8>, %i: index) {
  %ring = tile.shared stages(3) guarded : !tile.shared<64x64xbf16, swizzle 128>
  %slot = tile.acquire %ring[%i] : !tile.shared<64x64xbf16, swizzle 128>
  // expected-error @below {{expects a copy by a tensor map to be async, into a slot of a guarded ring with a swizzle along its columns}}
  tile.copy %w[%i, %i] to %slot async map(0) : !tile.view<512x192xi8>, !tile.shared<64x64xbf16, swizzle 128>
  return
}

// -----

func.func private @copy_c3_floats(%w: !tile.view<512x192xbf16>, %s: !tile.view<512x6xf16>, %i: index) {
  %m = tile.shared : !tile.shared<64x64xbf16, swizzle 128>
  // expected-error @below {{expects scales of f16 or f32 for integers, with as many rows and a number of columns that divides theirs, got '!tile.view<512x6xf16>' for '!tile.view<512x192xbf16>'}}
  tile.copy %w[%i, %i] scales(%s : !tile.view<512x6xf16>) to %m : !tile.view<512x192xbf16>, !tile.shared<64x64xbf16, swizzle 128>
  return
}

// -----

func.func private @copy_c3_sizes(%w: !tile.view<512x192xi8>, %s: !tile.view<512x7xf16>, %i: index) {
  %m = tile.shared : !tile.shared<64x64xbf16, swizzle 128>
  // expected-error @below {{a number of columns that divides theirs, got '!tile.view<512x7xf16>' for '!tile.view<512x192xi8>'}}
  tile.copy %w[%i, %i] scales(%s : !tile.view<512x7xf16>) to %m : !tile.view<512x192xi8>, !tile.shared<64x64xbf16, swizzle 128>
  return
}

// -----

func.func private @mma_c3(%q: !tile.tile<48x192xi8>, %x: !tile.shared<64x192xf32>, %acc: !tile.tile<64x48xf32>) {
  %w = tile.dequantize %q : !tile.tile<48x192xi8> -> !tile.tile<48x192xf32>
  // expected-error @below {{expects shared memory or a load, got '!tile.tile<48x192xf32>'}}
  %0 = tile.mma %x, %w transpose_b into %acc : !tile.shared<64x192xf32>, !tile.tile<48x192xf32> -> !tile.tile<64x48xf32>
  return
}
