// RUN: fovea-opt %s --split-input-file --verify-diagnostics --fovea-inline-layers

// expected-error @below {{calls itself, which cannot be flattened}}
func.func private @layer(%x: index) -> index {
  %0 = call @layer(%x) : (index) -> index
  return %0 : index
}
func.func @entry(%x: index) -> index attributes {fovea.entry} {
  %0 = call @layer(%x) : (index) -> index
  return %0 : index
}

// -----

func.func private @elsewhere(%x: index) -> index
func.func @entry(%x: index) -> index attributes {fovea.entry} {
  // expected-error @below {{expects a function of one block, got @elsewhere}}
  %0 = call @elsewhere(%x) : (index) -> index
  return %0 : index
}
