// RUN: fovea-opt %s -split-input-file -verify-diagnostics

func.func private @acquire_c1(%i: index) {
  %s = tile.shared stages(3) : !tile.shared<4x4xf32>
  // expected-error @below {{'tile.producer_acquire' op expects a tile.shared that is guarded}}
  %t = tile.producer_acquire %s[%i] : !tile.shared<4x4xf32>
  return
}

// -----

func.func private @release_c1(%i: index) {
  %s = tile.shared stages(3) : !tile.shared<4x4xf32>
  // expected-error @below {{'tile.consumer_release' op expects a tile.shared that is guarded}}
  tile.consumer_release %s[%i] : !tile.shared<4x4xf32>
  return
}
