// RUN: fovea-opt %s -split-input-file -verify-diagnostics

func.func private @acquire_c1(%i: index) {
  %s = tile.shared stages(3) : !tile.shared<4x4xf32>
  // expected-error @below {{'tile.acquire' op expects a tile.shared that is guarded}}
  %t = tile.acquire %s[%i] : !tile.shared<4x4xf32>
  return
}

// -----

func.func private @release_c1(%i: index) {
  %s = tile.shared stages(3) : !tile.shared<4x4xf32>
  // expected-error @below {{'tile.release' op expects a tile.shared that is guarded}}
  tile.release %s[%i] : !tile.shared<4x4xf32>
  return
}
