// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// What the schedule of an attention refuses, by the number of the constraint.

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
