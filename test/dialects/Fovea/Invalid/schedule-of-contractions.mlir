// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// What the schedule of a contraction refuses, by the number of the constraint.

// expected-error @below {{expects two positive sizes as tile, got [64]}}
func.func private @contraction_c1_tile() attributes {schedule = #fovea.contraction<tile = [64], chunk = 256, block = [8, 48]>}

// -----

// expected-error @below {{expects two positive sizes as block, got [8, 0]}}
func.func private @contraction_c1_block() attributes {schedule = #fovea.contraction<tile = [64, 48], chunk = 256, block = [8, 0]>}

// -----

// expected-error @below {{expects the tile's rows to be a multiple of the block's, got 64 and 6}}
func.func private @contraction_c2_rows() attributes {schedule = #fovea.contraction<tile = [64, 48], chunk = 256, block = [6, 48]>}

// -----

// expected-error @below {{expects the tile's columns to be a multiple of the block's, got 48 and 32}}
func.func private @contraction_c2_columns() attributes {schedule = #fovea.contraction<tile = [64, 48], chunk = 256, block = [8, 32]>}

// -----

// expected-error @below {{expects positive chunk, got 0}}
func.func private @contraction_c3_positive() attributes {schedule = #fovea.contraction<tile = [64, 48], chunk = 0, block = [8, 48]>}

// -----

// expected-error @below {{expects the chunk to be a multiple of the tile's rows, got 100 and 64}}
func.func private @contraction_c3() attributes {schedule = #fovea.contraction<tile = [64, 48], chunk = 100, block = [8, 48]>}

// -----

// expected-error @below {{expects operands of i8, f16 or bf16, got 'f32'}}
func.func private @contraction_c4() attributes {schedule = #fovea.contraction<tile = [64, 48], chunk = 256, block = [8, 48], outermost = rows, operands = f32>}
