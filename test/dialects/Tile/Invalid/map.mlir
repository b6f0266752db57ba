// RUN: fovea-opt %s --split-input-file --verify-diagnostics

// What tile.map refuses, by the number of the constraint.

func.func private @map_c1_lanes(%a: !tile.tile<2x3xf32, lanes 0>) {
  // expected-error @below {{expects operands of the result's shape, lanes and layout, '!tile.tile<2x3xf32>', got '!tile.tile<2x3xf32, lanes 0>'}}
  %r = tile.map(%x = %a) : (!tile.tile<2x3xf32, lanes 0>) -> !tile.tile<2x3xf32> {
    tile.yield %x : f32
  }
  return
}

// -----

func.func private @map_c2_argument(%a: !tile.tile<2x3xf32>) {
  // expected-error @below {{expects an argument of 'f32', got 'f64'}}
  %r = "tile.map"(%a) ({
  ^bb0(%x: f64):
    %y = arith.truncf %x : f64 to f32
    tile.yield %y : f32
  }) : (!tile.tile<2x3xf32>) -> !tile.tile<2x3xf32>
  return
}

// -----

func.func private @map_c2_arguments(%a: !tile.tile<2x3xf32>) {
  // expected-error @below {{expects one argument for each operand, got 2}}
  %r = "tile.map"(%a) ({
  ^bb0(%x: f32, %y: f32):
    tile.yield %y : f32
  }) : (!tile.tile<2x3xf32>) -> !tile.tile<2x3xf32>
  return
}

// -----

func.func private @map_c2_yield(%a: !tile.tile<2x3xf32>) {
  // expected-error @below {{expects to yield one 'i1'}}
  %r = tile.map(%x = %a) : (!tile.tile<2x3xf32>) -> !tile.tile<2x3xi1> {
    tile.yield %x : f32
  }
  return
}

// -----

func.func private @map_c3_store(%a: !tile.tile<2x3xf32>, %m: memref<f32>) {
  %r = tile.map(%x = %a) : (!tile.tile<2x3xf32>) -> !tile.tile<2x3xf32> {
    // expected-error @below {{has effects, and stands in a tile.map}}
    memref.store %x, %m[] : memref<f32>
    tile.yield %x : f32
  }
  return
}

// -----

func.func private @map_without_result(%a: !tile.tile<2x3xf32>) {
  // expected-error @below {{requires one result}}
  tile.map(%x = %a) : (!tile.tile<2x3xf32>) -> () {
    tile.yield %x : f32
  }
  return
}
