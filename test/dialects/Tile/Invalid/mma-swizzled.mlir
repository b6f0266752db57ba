// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// What tile.mma refuses of swizzled shared memory (C5).

func.func private @mma_c5_swizzle(%acc: !tile.tile<64x64xf32>) {
  %a = tile.shared : !tile.shared<64x64xbf16, swizzle 128>
  %b = tile.shared : !tile.shared<64x64xbf16>
  // expected-error @below {{expects shared memory with a swizzle for m64k16 and only for it, got '!tile.shared<64x64xbf16>'}}
  %0 = tile.mma %a, %b transpose_b into %acc atom(m64k16) : !tile.shared<64x64xbf16, swizzle 128>, !tile.shared<64x64xbf16> -> !tile.tile<64x64xf32>
  return
}

// -----

func.func private @mma_c5_other_atom(%acc: !tile.tile<64x64xf32>) {
  %a = tile.shared : !tile.shared<64x64xbf16, swizzle 128>
  // expected-error @below {{expects shared memory with a swizzle for m64k16 and only for it, got '!tile.shared<64x64xbf16, swizzle 128>'}}
  %0 = tile.mma %a, %a transpose_b into %acc atom(m16n8k16) : !tile.shared<64x64xbf16, swizzle 128>, !tile.shared<64x64xbf16, swizzle 128> -> !tile.tile<64x64xf32>
  return
}

// -----

func.func private @mma_c5_shape(%acc: !tile.tile<64x20xf32>) {
  %a = tile.shared : !tile.shared<64x64xbf16, swizzle 128>
  %b = tile.shared : !tile.shared<20x64xbf16, swizzle 128>
  // expected-error @below {{expects whole 64 rows, eights of up to 256 columns and a depth of whole 16 for m64k16, got 64, 20 and 64}}
  %0 = tile.mma %a, %b transpose_b into %acc atom(m64k16) : !tile.shared<64x64xbf16, swizzle 128>, !tile.shared<20x64xbf16, swizzle 128> -> !tile.tile<64x20xf32>
  return
}
