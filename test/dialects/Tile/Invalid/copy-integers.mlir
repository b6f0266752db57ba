// RUN: fovea-opt %s --split-input-file --verify-diagnostics

// What tile.copy refuses of packed integers, by the number of the constraint.

func.func private @copy_c1(%w: !tile.view<512x192xi32>, %i: index) {
  %m = tile.shared : !tile.shared<64x64xbf16, swizzle 128>
  // expected-error @below {{expects equal element types, got 'i32' and 'bf16'}}
  tile.copy %w[%i, %i] to %m : !tile.view<512x192xi32>, !tile.shared<64x64xbf16, swizzle 128>
  return
}

// -----

func.func private @copy_c2(%w: !tile.view<512x192xi8>, %i: index) {
  %ring = tile.shared stages(3) guarded : !tile.shared<64x64xbf16, swizzle 128>
  %slot = tile.producer_acquire %ring[%i] : !tile.shared<64x64xbf16, swizzle 128>
  // expected-error @below {{expects a copy by a tensor map to be async, into a slot of a guarded ring with a swizzle along its columns}}
  tile.copy %w[%i, %i] to %slot async map(0) : !tile.view<512x192xi8>, !tile.shared<64x64xbf16, swizzle 128>
  return
}

// -----

func.func private @copy_c3_floats(%w: !tile.view<512x192xbf16>, %s: !tile.view<512x6xf16>, %i: index) {
  %m = tile.shared : !tile.shared<64x64xbf16, swizzle 128>
  // expected-error @below {{expects scales of f16, bf16 or f32 for integers, with as many rows and a number of columns that divides theirs, got '!tile.view<512x6xf16>' for '!tile.view<512x192xbf16>'}}
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

func.func private @copy_c1_units(%w: !tile.view<512x192xi6>, %i: index) {
  %m = tile.shared : !tile.shared<64x64xbf16, swizzle 128>
  // expected-error @below {{expects equal element types, got 'i6' and 'bf16'}}
  tile.copy %w[%i, %i] to %m : !tile.view<512x192xi6>, !tile.shared<64x64xbf16, swizzle 128>
  return
}
