// RUN: fovea-opt %s --fovea-expand-math="target=sm_80" --verify-diagnostics

// There is no library to call.
func.func @f(%x: f64) -> f64 {
  // expected-error @below {{of 'f64' has no form for GPUs}}
  %0 = math.erf %x : f64
  return %0 : f64
}
