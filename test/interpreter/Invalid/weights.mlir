// RUN: fovea-interpret %s --verify-diagnostics

func.func @weight_without_file() -> tensor<2xf32> {
  %w = fovea.weight_ref @absent : tensor<2xf32>
  return %w : tensor<2xf32>
}

fovea.weight @absent : tensor<2xf32> = #fovea.stored<"no-such.safetensors", "w", tensor<2xf32>>
// expected-error @unknown {{no-such.safetensors}}

func.func @weight_outside_folder() -> tensor<2xf32> {
  %w = fovea.weight_ref @outside : tensor<2xf32>
  return %w : tensor<2xf32>
}

fovea.weight @outside : tensor<2xf32> = #fovea.stored<"../w.safetensors", "w", tensor<2xf32>>
// expected-error @unknown {{expects the name of a file below the model's folder}}
