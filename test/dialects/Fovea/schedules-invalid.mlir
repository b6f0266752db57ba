// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{expects the name of a level, got none}}
func.func private @target_c1() attributes {schedule = #fovea.target<"", lanes = 4, registers = 16>}

// -----

// expected-error @below {{expects positive registers, got 0}}
func.func private @target_c2_registers() attributes {schedule = #fovea.target<"sse", lanes = 4, registers = 0>}

// -----

// expected-error @below {{expects positive lanes, got -4}}
func.func private @target_c2_lanes() attributes {schedule = #fovea.target<"sse", lanes = -4, registers = 16>}

// -----

// expected-error @below {{expects lanes that are a power of two, got 6}}
func.func private @target_c2_power() attributes {schedule = #fovea.target<"sse", lanes = 6, registers = 16>}

// -----

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

// expected-error @below {{expects positive queries, got 0}}
func.func private @attention_c1_queries() attributes {schedule = #fovea.attention_tiles<queries = 0, keys = 64, axis = queries, scores = [4, 64], values = [4, 64]>}

// -----

// expected-error @below {{expects positive keys, got -1}}
func.func private @attention_c1_keys() attributes {schedule = #fovea.attention_tiles<queries = 64, keys = -1, axis = queries, scores = [4, 64], values = [4, 64]>}

// -----

// expected-error @below {{expects two positive sizes as scores, got [4, 64, 1]}}
func.func private @attention_c1_scores() attributes {schedule = #fovea.attention_tiles<queries = 64, keys = 64, axis = queries, scores = [4, 64, 1], values = [4, 64]>}

// -----

// expected-error @below {{expects two positive sizes as values, got [0, 64]}}
func.func private @attention_c1_values() attributes {schedule = #fovea.attention_tiles<queries = 64, keys = 64, axis = queries, scores = [4, 64], values = [0, 64]>}

// -----

// expected-error @below {{expects queries to be a multiple of the rows of scores, got 64 and 48}}
func.func private @attention_c2_scores() attributes {schedule = #fovea.attention_tiles<queries = 64, keys = 64, axis = queries, scores = [4, 48], values = [4, 64]>}

// -----

// expected-error @below {{expects queries to be a multiple of the rows of values, got 64 and 3}}
func.func private @attention_c2_values() attributes {schedule = #fovea.attention_tiles<queries = 64, keys = 64, axis = heads, scores = [4, 64], values = [3, 64]>}

// -----

// expected-error @below {{expects keys to be a multiple of the keys of scores, got 64 and 5}}
func.func private @attention_c3() attributes {schedule = #fovea.attention_tiles<queries = 64, keys = 64, axis = queries, scores = [5, 64], values = [4, 64]>}

// -----

// expected-error @below {{expects two positive sizes as split, got [512]}}
func.func private @attention_c1_split() attributes {schedule = #fovea.attention_tiles<queries = 64, keys = 64, axis = queries, scores = [4, 64], values = [4, 64], split = [512]>}

// -----

// expected-error @below {{expects the keys of split to be a multiple of keys, got 96 and 64}}
func.func private @attention_c4() attributes {schedule = #fovea.attention_tiles<queries = 64, keys = 64, axis = queries, scores = [4, 64], values = [4, 64], split = [96, 64]>}

// -----

// expected-error @below {{expects operands of f16 or bf16, got 'f32'}}
func.func private @attention_c5() attributes {schedule = #fovea.attention_tiles<queries = 64, keys = 64, axis = queries, scores = [4, 64], values = [4, 64], operands = f32>}

// -----

// expected-error @below {{expects positive rows, got 0}}
func.func private @rows_c1() attributes {schedule = #fovea.rows<rows = 0>}

// -----

// expected-error @below {{expects positive count, got 0}}
func.func private @elements_c1() attributes {schedule = #fovea.elements<count = 0>}

// -----

// expected-error @below {{expects positive most, got 0}}
func.func private @by_rows_c1() attributes {schedule = #fovea.by_rows<most = 0, few = #fovea.rows<rows = 1>, many = #fovea.rows<rows = 4>>}

// -----

// expected-error @below {{expects one schedule for few rows, got #fovea.by_rows<}}
func.func private @by_rows_c2() attributes {schedule = #fovea.by_rows<most = 4, few = #fovea.by_rows<most = 1, few = #fovea.rows<rows = 1>, many = #fovea.rows<rows = 2>>, many = #fovea.rows<rows = 4>>}

// -----

// expected-error @below {{expects 'fovea.target' on a module}}
func.func private @target_on_a_function() attributes {fovea.target = #fovea.target<"sse", lanes = 4, registers = 16>}

// -----

// expected-error @below {{expects 'fovea.target' to be a target, got "sse"}}
module attributes {fovea.target = "sse"} {}
