// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{expects 'fovea.signature' to be a signature, got "f"}}
func.func @signature_text() attributes {fovea.signature = "f"} {
  return
}

// -----

// expected-error @below {{expects one place for each kernel, got}}
fovea.program "program_c1" #fovea.signature<[#fovea.port<"x", tensor<4xf32>>], [#fovea.port<"y", tensor<4xf32>>]> locals(2) positions(0) steps ["activation_0"] at []

// -----

// expected-error @below {{expects two costs for each kernel, got 3 for 1}}
fovea.program "program_c1_costs" #fovea.signature<[], []> locals(2) positions(0) steps ["k"] at [""] costs [1, 1, 1]
