// RUN: fovea-opt %s --split-input-file --verify-diagnostics

// What fovea.kind and fovea.role may be, and on what.

// expected-error @below {{expects 'fovea.kind' to be an entry's kind, got "prefill"}}
func.func @kind_text() attributes {fovea.entry, fovea.kind = "prefill"} {
  return
}

// -----

// expected-error @below {{expects 'fovea.role' to be the role of an argument, got #fovea.role<logits>}}
func.func private @role_of_a_result(tensor<4xf32> {fovea.role = #fovea.role<logits>})

// -----

// expected-error @below {{expects 'fovea.role' to be the role of a result, got #fovea.role<token_ids>}}
func.func private @role_of_an_argument() -> (tensor<4xi64> {fovea.role = #fovea.role<token_ids>})

// -----

// expected-error @below {{expects 'fovea.role' to be the role of a result, got "logits"}}
func.func private @role_text() -> (tensor<4xf32> {fovea.role = "logits"})
