// RUN: fovea-opt %s --split-input-file --verify-diagnostics

// One negative case for each numbered constraint of the dialect's text.

// expected-error @below {{expects sizes from 1 to 268435456, got 0 and 4}}
func.func private @tile_type_c1_no_rows(!tile.tile<0x4xf32>)

// -----

// expected-error @below {{expects sizes from 1 to 268435456, got 4 and 268435457}}
func.func private @tile_type_c1_too_many_columns(!tile.tile<4x268435457xf32>)

// -----

// expected-error @below {{expects two sizes, got 3}}
func.func private @tile_type_c1_rank_three(!tile.tile<2x3x4xf32>)

// -----

// expected-error @below {{expects elements of f16, bf16, f32, f64, i1, i4, i8, i32 or i64, got 'i16'}}
func.func private @tile_type_c2_words(!tile.tile<2x4xi16>)

// -----

// expected-error @below {{expects lanes along axis 0 or 1, got 2}}
func.func private @tile_type_c3_third_axis(!tile.tile<2x4xf32, lanes 2>)

// -----

// expected-error @below {{expects two sizes, got 1}}
func.func private @view_type_c1_rank_one(!tile.view<?xf32>)

// -----

// expected-error @below {{expects elements of f16, bf16, f32, f64, i1, i4, i8, i32 or i64, got 'index'}}
func.func private @view_type_c2_indices(!tile.view<?x4xindex>)

// -----

func.func private @kernel_c1_no_extent() {
  // expected-error @below {{expects a grid of at least one extent}}
  tile.kernel grid() = () {
  }
  return
}

// -----

func.func private @kernel_c1_extent_without_argument(%n: index) {
  // expected-error @below {{expects one index argument for each of 2 extents, got 1 arguments}}
  tile.kernel grid(%i) = (%n, %n) {
  }
  return
}

// -----

func.func private @kernel_c2_value(%n: index) {
  // expected-error @below {{expects to end with no value, got 1}}
  tile.kernel grid(%i) = (%n) {
    tile.yield %i : index
  }
  return
}

// -----

func.func private @view_c1_three_axes(%x: memref<2x3x4xf32>) {
  // expected-error @below {{expects one or two axes, got 3}}
  %v = tile.view %x axes(0, 1, 2) : memref<2x3x4xf32> -> !tile.view<2x4xf32>
  return
}

// -----

func.func private @view_c1_axis_beyond(%x: memref<2x3xf32>) {
  // expected-error @below {{expects axes of a buffer of rank 2, got 2}}
  %v = tile.view %x axes(0, 2) : memref<2x3xf32> -> !tile.view<2x3xf32>
  return
}

// -----

func.func private @view_c1_axis_twice(%x: memref<2x3xf32>) {
  // expected-error @below {{expects two different axes, got 1 twice}}
  %v = tile.view %x axes(1, 1) : memref<2x3xf32> -> !tile.view<3x3xf32>
  return
}

// -----

func.func private @view_c1_index_missing(%x: memref<2x3x4xf32>) {
  // expected-error @below {{expects an index for each axis that is not a view's, 1, got 0}}
  %v = tile.view %x axes(1, 2) : memref<2x3x4xf32> -> !tile.view<3x4xf32>
  return
}

// -----

func.func private @view_c2_sizes_exchanged(%x: memref<2x3xf32>) {
  // expected-error @below {{expects a view of type '!tile.view<3x2xf32>', got '!tile.view<2x3xf32>'}}
  %v = tile.view %x axes(1, 0) : memref<2x3xf32> -> !tile.view<2x3xf32>
  return
}

// -----

func.func private @view_c2_static_rows_with_length(%x: memref<2x3xf32>, %n: index) {
  // expected-error @below {{expects a view of type '!tile.view<?x3xf32>', got '!tile.view<2x3xf32>'}}
  %v = tile.view %x axes(0, 1) length(%n) : memref<2x3xf32> -> !tile.view<2x3xf32>
  return
}

// -----

func.func private @view_c3_length_of_one_axis(%x: memref<3xf32>, %n: index) {
  // expected-error @below {{expects two axes with a length, got one}}
  %v = tile.view %x axes(0) length(%n) : memref<3xf32> -> !tile.view<?x3xf32>
  return
}

// -----

func.func private @packed_c1_three_beside_each_other(%x: memref<2x3x16x3xf32>) {
  // expected-error @below {{expects a static buffer [panels, k, outputs] or [panels, k, outputs, 2, 4, 8 or 16], got 'memref<2x3x16x3xf32>'}}
  %v = tile.packed %x : memref<2x3x16x3xf32> -> !tile.view<32x3xf32>
  return
}

// -----

func.func private @packed_c1_empty_panels(%x: memref<2x3x0xf32>) {
  // expected-error @below {{expects a static buffer [panels, k, outputs] or [panels, k, outputs, 2, 4, 8 or 16], got 'memref<2x3x0xf32>'}}
  %v = tile.packed %x : memref<2x3x0xf32> -> !tile.view<32x3xf32>
  return
}

// -----

func.func private @packed_c2_too_many_rows(%x: memref<2x3x16xf32>) {
  // expected-error @below {{expects a view whose sizes fill 'memref<2x3x16xf32>', got '!tile.view<33x3xf32>'}}
  %v = tile.packed %x : memref<2x3x16xf32> -> !tile.view<33x3xf32>
  return
}

// -----

func.func private @packed_c2_too_few_columns(%x: memref<2x3x16x2xbf16>) {
  // expected-error @below {{expects a view whose sizes fill 'memref<2x3x16x2xbf16>', got '!tile.view<32x4xbf16>'}}
  %v = tile.packed %x : memref<2x3x16x2xbf16> -> !tile.view<32x4xbf16>
  return
}

// -----

func.func private @packed_c3_elements(%x: memref<2x3x16xf32>) {
  // expected-error @below {{expects a buffer of 'bf16' for '!tile.view<32x3xbf16>', got 'memref<2x3x16xf32>'}}
  %v = tile.packed %x : memref<2x3x16xf32> -> !tile.view<32x3xbf16>
  return
}

// -----

func.func private @load_c1_elements(%v: !tile.view<?x8xf32>, %i: index) {
  // expected-error @below {{expects equal element types, got 'f32' and 'bf16'}}
  %t = tile.load %v[%i, %i] : !tile.view<?x8xf32> -> !tile.tile<2x8xbf16>
  return
}

// -----

func.func private @gather_c1_elements(%v: !tile.view<?x8xf32>, %r: !tile.tile<2x1xi64>, %i: index) {
  // expected-error @below {{expects equal element types, got 'f32' and 'f16'}}
  %t = tile.gather %v[%r, %i] : !tile.view<?x8xf32>, !tile.tile<2x1xi64> -> !tile.tile<2x8xf16>
  return
}

// -----

func.func private @gather_c2_a_row_of_numbers(%v: !tile.view<?x8xf32>, %r: !tile.tile<1x2xi64>, %i: index) {
  // expected-error @below {{expects a column of 2 integers, got '!tile.tile<1x2xi64>'}}
  %t = tile.gather %v[%r, %i] : !tile.view<?x8xf32>, !tile.tile<1x2xi64> -> !tile.tile<2x8xf32>
  return
}

// -----

func.func private @gather_c2_real_numbers(%v: !tile.view<?x8xf32>, %r: !tile.tile<2x1xf32>, %i: index) {
  // expected-error @below {{expects a column of 2 integers, got '!tile.tile<2x1xf32>'}}
  %t = tile.gather %v[%r, %i] : !tile.view<?x8xf32>, !tile.tile<2x1xf32> -> !tile.tile<2x8xf32>
  return
}

// -----

func.func private @store_c1_elements(%v: !tile.view<?x8xf32>, %t: !tile.tile<2x8xf64>, %i: index) {
  // expected-error @below {{expects equal element types, got 'f64' and 'f32'}}
  tile.store %t, %v[%i, %i] : !tile.tile<2x8xf64>, !tile.view<?x8xf32>
  return
}

// -----

func.func private @store_c2_packed(%x: memref<2x3x16xf32>, %t: !tile.tile<2x3xf32>, %i: index) {
  %v = tile.packed %x : memref<2x3x16xf32> -> !tile.view<32x3xf32>
  // expected-error @below {{expects memory that is not a packed weight}}
  tile.store %t, %v[%i, %i] : !tile.tile<2x3xf32>, !tile.view<32x3xf32>
  return
}

// -----

func.func private @dot_c1_depth(%a: !tile.tile<2x3xf32>, %b: !tile.tile<5x3xf32>) {
  // expected-error @below {{expects a and b to agree in depth, got 3 and 5}}
  %s = tile.dot %a, %b : !tile.tile<2x3xf32>, !tile.tile<5x3xf32> -> !tile.tile<2x5xf32>
  return
}

// -----

func.func private @dot_c1_result(%a: !tile.tile<2x3xf32>, %b: !tile.tile<5x3xf32>) {
  // expected-error @below {{expects a result of 2x5, got 5x2}}
  %s = tile.dot %a, %b transpose_b : !tile.tile<2x3xf32>, !tile.tile<5x3xf32> -> !tile.tile<5x2xf32>
  return
}

// -----

func.func private @dot_c2_narrow_sum(%a: !tile.tile<2x3xbf16>, %b: !tile.tile<3x5xbf16>) {
  // expected-error @below {{expects a result of f32 or f64, got 'bf16'}}
  %s = tile.dot %a, %b : !tile.tile<2x3xbf16>, !tile.tile<3x5xbf16> -> !tile.tile<2x5xbf16>
  return
}

// -----

func.func private @dot_c2_wide_operand(%a: !tile.tile<2x3xf32>, %b: !tile.tile<3x5xf64>) {
  // expected-error @below {{expects operands of floating-point elements no wider than 'f32', got 'f64'}}
  %s = tile.dot %a, %b : !tile.tile<2x3xf32>, !tile.tile<3x5xf64> -> !tile.tile<2x5xf32>
  return
}

// -----

func.func private @dot_c2_integers(%a: !tile.tile<2x3xi32>, %b: !tile.tile<3x5xf32>) {
  // expected-error @below {{expects operands of floating-point elements no wider than 'f32', got 'i32'}}
  %s = tile.dot %a, %b : !tile.tile<2x3xi32>, !tile.tile<3x5xf32> -> !tile.tile<2x5xf32>
  return
}

// -----

// The text gives an accumulator the result's type; other forms can do otherwise.
func.func private @dot_c3_accumulator(%a: !tile.tile<2x3xf32>, %b: !tile.tile<3x5xf32>, %c: !tile.tile<2x5xf32, lanes 0>) {
  // expected-error @below {{expects an accumulator of type '!tile.tile<2x5xf32>', got '!tile.tile<2x5xf32, lanes 0>'}}
  %s = "tile.dot"(%a, %b, %c) : (!tile.tile<2x3xf32>, !tile.tile<3x5xf32>, !tile.tile<2x5xf32, lanes 0>) -> !tile.tile<2x5xf32>
  return
}

// -----

func.func private @dot_c4_block_of_one_size(%a: !tile.tile<2x3xf32>, %b: !tile.tile<3x5xf32>) {
  // expected-error @below {{expects a block of two positive sizes}}
  %s = tile.dot %a, %b block(4) : !tile.tile<2x3xf32>, !tile.tile<3x5xf32> -> !tile.tile<2x5xf32>
  return
}

// -----

func.func private @dot_c4_block_of_nothing(%a: !tile.tile<2x3xf32>, %b: !tile.tile<3x5xf32>) {
  // expected-error @below {{expects a block of two positive sizes}}
  %s = tile.dot %a, %b block(4, 0) : !tile.tile<2x3xf32>, !tile.tile<3x5xf32> -> !tile.tile<2x5xf32>
  return
}

// -----

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

func.func private @reduce_c1_axis(%a: !tile.tile<2x3xf32>) {
  // expected-error @below {{expects axis 0 or 1, got 2}}
  %r = tile.reduce sum %a axis(2) : !tile.tile<2x3xf32> -> !tile.tile<2x1xf32>
  return
}

// -----

func.func private @reduce_c1_result(%a: !tile.tile<2x3xf32>) {
  // expected-error @below {{expects a result of type '!tile.tile<1x3xf32>', got '!tile.tile<2x1xf32>'}}
  %r = tile.reduce sum %a axis(0) : !tile.tile<2x3xf32> -> !tile.tile<2x1xf32>
  return
}

// -----

func.func private @reduce_c2_elements(%a: !tile.tile<2x3xbf16>) {
  // expected-error @below {{expects elements of f32 or f64, got 'bf16'}}
  %r = tile.reduce maximum %a axis(1) : !tile.tile<2x3xbf16> -> !tile.tile<2x1xbf16>
  return
}

// -----

func.func private @broadcast_c1_size(%a: !tile.tile<2x1xf32>) {
  // expected-error @below {{expects a size of 1 or 4 along axis 0, got 2}}
  %r = tile.broadcast %a : !tile.tile<2x1xf32> -> !tile.tile<4x3xf32>
  return
}

// -----

func.func private @broadcast_c1_lanes(%a: !tile.tile<2x1xf32>) {
  // expected-error @below {{expects equal lanes, got 1 and 0}}
  %r = tile.broadcast %a : !tile.tile<2x1xf32> -> !tile.tile<2x3xf32, lanes 0>
  return
}

// -----

func.func private @broadcast_c1_elements(%a: !tile.tile<2x1xf32>) {
  // expected-error @below {{expects equal element types, got 'f32' and 'f64'}}
  %r = tile.broadcast %a : !tile.tile<2x1xf32> -> !tile.tile<2x3xf64>
  return
}

// -----

func.func private @extract_c1_size(%t: !tile.tile<1x2xf32>) {
  // expected-error @below {{expects a tile of one element, got '!tile.tile<1x2xf32>'}}
  %x = tile.extract %t : !tile.tile<1x2xf32>
  return
}

// -----

func.func private @extract_c1_element(%t: !tile.tile<1x1xf32>) {
  // expected-error @below {{expects equal element types, got 'f32' and 'f64'}}
  %x = "tile.extract"(%t) : (!tile.tile<1x1xf32>) -> f64
  return
}

// -----

func.func private @splat_c1_elements(%v: f64) {
  // expected-error @below {{expects equal element types, got 'f64' and 'f32'}}
  %r = "tile.splat"(%v) : (f64) -> !tile.tile<2x3xf32>
  return
}

// -----

func.func private @splat_text_of_no_tile(%v: f64) {
  // expected-error @below {{expects a tile, got 'f64'}}
  %r = tile.splat %v : f64
  return
}

// -----

func.func private @iota_c1_elements(%n: index) {
  // expected-error @below {{expects elements of i32, got 'i64'}}
  %r = tile.iota axis(0) from %n : !tile.tile<2x3xi64>
  return
}

// -----

func.func private @iota_c2_axis(%n: index) {
  // expected-error @below {{expects axis 0 or 1, got 2}}
  %r = tile.iota axis(2) from %n : !tile.tile<2x3xi32>
  return
}

// -----

func.func private @iota_c2_negative_axis(%n: index) {
  // expected-error @below {{expects axis 0 or 1, got -1}}
  %r = tile.iota axis(-1) from %n : !tile.tile<2x3xi32>
  return
}

// -----

func.func private @cast_c1_shapes(%a: !tile.tile<2x3xf32>) {
  // expected-error @below {{expects equal shapes, got '!tile.tile<2x3xf32>' and '!tile.tile<3x2xf32>'}}
  %r = tile.cast %a : !tile.tile<2x3xf32> -> !tile.tile<3x2xf32>
  return
}

// -----

func.func private @cast_c2_integers(%a: !tile.tile<2x3xi32>) {
  // expected-error @below {{expects floating-point element types, got 'i32' and 'f32'}}
  %r = tile.cast %a : !tile.tile<2x3xi32> -> !tile.tile<2x3xf32>
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
