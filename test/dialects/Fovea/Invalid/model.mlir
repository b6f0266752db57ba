// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// What fovea.model refuses, by the number of the constraint.

func.func @model_c1() {
  // expected-error @below {{expects to stand in a module}}
  fovea.model "llama" in "models"
  return
}

// -----

fovea.model "llama" in "models"
// expected-error @below {{expects to be the only one in its module}}
fovea.model "bert" in "models"

// -----

// expected-error @below {{expects max_positions of at least 1, got 0}}
fovea.model "model_c3_positions" in "models" {max_positions = 0 : i64}

// -----

// expected-error @below {{expects vocabulary of at least 1, got -5}}
fovea.model "model_c3_vocabulary" in "models" {vocabulary = -5 : i64}

// -----

// expected-error @below {{expects begin_token of at least 0, got -1}}
fovea.model "model_c3_begin" in "models" {begin_token = -1 : i64}

// -----

// expected-error @below {{expects pad_token of at least 0, got -1}}
fovea.model "model_c3_pad" in "models" {pad_token = -1 : i64}

// -----

// expected-error @below {{expects end_tokens of at least 0, got -2}}
fovea.model "model_c3_end" in "models" {end_tokens = array<i64: 3, -2>}
