// RUN: fovea-opt %s --split-input-file --verify-diagnostics

// What the types of tiles and of views refuse, by the number of the constraint.

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

// expected-error @below {{expects elements of f16, bf16, f32, f64, i1, i2, i4, i5, i6, i8, i32 or i64, got 'i16'}}
func.func private @tile_type_c2_words(!tile.tile<2x4xi16>)

// -----

// expected-error @below {{expects lanes along axis 0 or 1, got 2}}
func.func private @tile_type_c3_third_axis(!tile.tile<2x4xf32, lanes 2>)

// -----

// expected-error @below {{expects two sizes, got 1}}
func.func private @view_type_c1_rank_one(!tile.view<?xf32>)

// -----

// expected-error @below {{expects elements of f16, bf16, f32, f64, i1, i2, i4, i5, i6, i8, i32 or i64, got 'index'}}
func.func private @view_type_c2_indices(!tile.view<?x4xindex>)
