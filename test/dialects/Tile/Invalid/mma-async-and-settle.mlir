// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// What products that are only begun refuse, and tile.mma_wait, by the number of the constraint.

func.func private @mma_c6_atom(%a: !tile.shared<64x64xbf16>, %acc: !tile.tile<64x64xf32>) {
  // expected-error @below {{expects m64k16 for a product that is only begun}}
  %0 = tile.mma %a, %a transpose_b into %acc atom(m16n8k16) async : !tile.shared<64x64xbf16>, !tile.shared<64x64xbf16> -> !tile.tile<64x64xf32>
  %1 = tile.mma_wait %0 pending(0) : !tile.tile<64x64xf32>
  return
}

// -----

func.func private @mma_c6_use(%a: !tile.shared<64x64xbf16, swizzle 128>, %acc: !tile.tile<64x64xf32>) {
  // expected-error @below {{expects to be begun for one tile.mma_wait in its block}}
  %0 = tile.mma %a, %a transpose_b into %acc atom(m64k16) async : !tile.shared<64x64xbf16, swizzle 128>, !tile.shared<64x64xbf16, swizzle 128> -> !tile.tile<64x64xf32>
  return
}

// -----

func.func private @settle_c1(%acc: !tile.tile<64x64xf32>) {
  // expected-error @below {{expects a product by tile.mma async}}
  %0 = tile.mma_wait %acc pending(0) : !tile.tile<64x64xf32>
  return
}

// -----

func.func private @settle_c1_pending(%a: !tile.shared<64x64xbf16, swizzle 128>, %acc: !tile.tile<64x64xf32>) {
  %0 = tile.mma %a, %a transpose_b into %acc atom(m64k16) async : !tile.shared<64x64xbf16, swizzle 128>, !tile.shared<64x64xbf16, swizzle 128> -> !tile.tile<64x64xf32>
  // expected-error @below {{expects to wait for its product, behind which 0 were begun, got pending(1)}}
  %1 = tile.mma_wait %0 pending(1) : !tile.tile<64x64xf32>
  return
}

// -----

func.func private @settle_c2(%a: !tile.shared<64x64xbf16, swizzle 128>, %acc: !tile.tile<64x64xf32>, %n: !tile.tile<64x1xi32>) {
  %0 = tile.mma %a, %a transpose_b into %acc atom(m64k16) async : !tile.shared<64x64xbf16, swizzle 128>, !tile.shared<64x64xbf16, swizzle 128> -> !tile.tile<64x64xf32>
  // expected-error @below {{expects to come after tiles of f32, got '!tile.tile<64x1xi32>'}}
  %1 = tile.mma_wait %0 pending(0) after(%n : !tile.tile<64x1xi32>) : !tile.tile<64x64xf32>
  return
}
