// RUN: fovea-opt %s --pass-pipeline='builtin.module(func.func(fovea-tile-to-loops))' --split-input-file --verify-diagnostics

func.func private @carried_by_select(%p: i1, %v: f32) {
  %a = tile.splat %v : !tile.tile<1x2xf32>
  // expected-error @below {{has to do with tiles, expects scf.for, scf.if or a tile op}}
  %b = arith.select %p, %a, %a : !tile.tile<1x2xf32>
  return
}

// -----

func.func private @tiles_in_map(%v: f32) {
  %a = tile.splat %v : !tile.tile<1x2xf32>
  %b = tile.map(%e = %a) : (!tile.tile<1x2xf32>) -> !tile.tile<1x2xf32> {
    // expected-error @below {{has to do with tiles, expects scalars in a tile.map}}
    %m = tile.reduce sum %a axis(0) : !tile.tile<1x2xf32> -> !tile.tile<1x2xf32>
    tile.yield %e : f32
  }
  return
}

// -----

func.func private @too_large(%v: f32) {
  %a = tile.splat %v : !tile.tile<1024x512xf32>
  // expected-error @below {{expects a function's tiles to fit into 4194304 bytes together, got one of '!tile.tile<1024x1024xf32>' after 2097152}}
  %b = tile.splat %v : !tile.tile<1024x1024xf32>
  return
}

// -----

// expected-error @below {{expects tiles in a function of one block, and none in its type}}
func.func private @tile_argument(%a: !tile.tile<1x2xf32>) {
  return
}
