// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// What tile.mma refuses, by the number of the constraint.

func.func private @mma_c1(%a: !tile.shared<4x8xf32>, %b: !tile.shared<16x9xf32>, %c: !tile.tile<4x16xf32>) {
  // expected-error @below {{expects a and b to agree in depth, got 8 and 9}}
  %t = tile.mma %a, %b transpose_b into %c : !tile.shared<4x8xf32>, !tile.shared<16x9xf32> -> !tile.tile<4x16xf32>
  return
}

// -----

func.func private @mma_c1_result(%a: !tile.shared<4x8xf32>, %b: !tile.shared<8x9xf32>, %c: !tile.tile<4x16xf32>) {
  // expected-error @below {{expects a result of 4x9, got 4x16}}
  %t = tile.mma %a, %b into %c : !tile.shared<4x8xf32>, !tile.shared<8x9xf32> -> !tile.tile<4x16xf32>
  return
}

// -----

func.func private @mma_c2(%a: !tile.shared<4x8xf64>, %b: !tile.shared<8x16xf32>, %c: !tile.tile<4x16xf32>) {
  // expected-error @below {{expects operands of floating-point elements no wider than 'f32', got 'f64'}}
  %t = tile.mma %a, %b into %c : !tile.shared<4x8xf64>, !tile.shared<8x16xf32> -> !tile.tile<4x16xf32>
  return
}

// -----

func.func private @mma_c3(%a: !tile.tile<4x8xf32>, %b: !tile.shared<8x16xf32>, %c: !tile.tile<4x16xf32>) {
  // expected-error @below {{expects shared memory or a load, got '!tile.tile<4x8xf32>'}}
  %t = tile.mma %a, %b into %c : !tile.tile<4x8xf32>, !tile.shared<8x16xf32> -> !tile.tile<4x16xf32>
  return
}

// -----

func.func private @mma_c4(%a: !tile.shared<16x16xbf16>, %b: !tile.shared<16x8xf16>, %c: !tile.tile<16x8xf32>) {
  // expected-error @below {{expects what m16n8k16 takes, f16 or bf16 twice and sums of f32, got 'bf16', 'f16' and 'f32'}}
  %t = tile.mma %a, %b into %c atom(m16n8k16) : !tile.shared<16x16xbf16>, !tile.shared<16x8xf16> -> !tile.tile<16x8xf32>
  return
}

// -----

func.func private @mma_c7(%a: !tile.shared<64x16xf32>, %b: !tile.shared<48x16xf32>, %acc: !tile.tile<64x48xf32>) {
  %m = tile.shared : !tile.shared<128x24xf32>
  // expected-error @below {{expects no scratch beside an atom, whose threads have no copies}}
  %0 = tile.mma %a, %b transpose_b into %acc atom(m16n8k8) scratch(%m : !tile.shared<128x24xf32>) : !tile.shared<64x16xf32>, !tile.shared<48x16xf32> -> !tile.tile<64x48xf32>
  return
}
