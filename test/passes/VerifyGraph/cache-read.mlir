// RUN: fovea-opt %s --fovea-verify-graph -verify-diagnostics

func.func @sum(%c: !fovea.cache<key, 2x4xf32>, %b: index, %n: index) -> tensor<?x?x2x4xf32> {
  // expected-error @below {{expects attentions alone to read it, as their keys or values}}
  %r = fovea.cache_read %c[%b, %n] : !fovea.cache<key, 2x4xf32> -> tensor<?x?x2x4xf32>
  %s = arith.addf %r, %r : tensor<?x?x2x4xf32>
  return %s : tensor<?x?x2x4xf32>
}
