// RUN: fovea-opt %s --fovea-stage-operands --verify-diagnostics
// RUN: fovea-opt %s --fovea-stage-operands=chunk-bytes=4096 --verify-diagnostics

func.func private @outside(%a: !tile.tile<4x8xf32>) {
  // expected-error @below {{expects to stand in a tile.kernel}}
  %s = tile.dot %a, %a transpose_b : !tile.tile<4x8xf32>, !tile.tile<4x8xf32> -> !tile.tile<4x4xf32>
  return
}
