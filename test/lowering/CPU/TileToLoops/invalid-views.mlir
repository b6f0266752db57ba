// RUN: fovea-opt %s --pass-pipeline='builtin.module(func.func(fovea-tile-to-loops))' --split-input-file --verify-diagnostics

func.func private @carried_view(%x: memref<4x4xf32>, %n: index) {
  %v = tile.view %x axes(0, 1) : memref<4x4xf32> -> !tile.view<4x4xf32>
  // expected-error @below {{expects to carry no view, got '!tile.view<4x4xf32>'}}
  %r = scf.for %i = %n to %n step %n iter_args(%w = %v) -> (!tile.view<4x4xf32>) {
    scf.yield %w : !tile.view<4x4xf32>
  }
  return
}

// -----

func.func private @chosen_view(%x: memref<4x4xf32>, %p: i1) {
  %v = tile.view %x axes(0, 1) : memref<4x4xf32> -> !tile.view<4x4xf32>
  // expected-error @below {{expects to give no view, got '!tile.view<4x4xf32>'}}
  %r = scf.if %p -> (!tile.view<4x4xf32>) {
    scf.yield %v : !tile.view<4x4xf32>
  } else {
    scf.yield %v : !tile.view<4x4xf32>
  }
  return
}
