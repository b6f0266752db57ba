// RUN: fovea-interpret %s --verify-diagnostics

func.func @cache_is_full() -> index {
  %one = arith.constant 1 : index
  %c = fovea.cache_create %one, %one : !fovea.cache<key, 1x1xf32>
  %k = arith.constant dense<1.0> : tensor<1x2x1x1xf32>
  // expected-error @below {{expects at most 1 positions, got 0 and 2 more}}
  %d = fovea.cache_append %c, %k : !fovea.cache<key, 1x1xf32>, tensor<1x2x1x1xf32>
  return %one : index
}
