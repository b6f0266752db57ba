// RUN: fovea-interpret %s --verify-diagnostics

func.func @calls_without_end() -> f32 {
  // expected-error @below {{expects at most 64 calls inside each other}}
  %a = call @calls_without_end() : () -> f32
  return %a : f32
}

func.func private @declaration() -> f32 // expected-error {{expects a body, got a declaration}}
func.func @calls_a_declaration() -> f32 {
  %a = call @declaration() : () -> f32
  return %a : f32
}
