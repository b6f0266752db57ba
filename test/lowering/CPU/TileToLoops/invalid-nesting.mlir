// RUN: fovea-opt %s --pass-pipeline='builtin.module(func.func(fovea-tile-to-loops))' --verify-diagnostics

func.func private @nested_kernel(%p: i1, %n: index) {
  scf.if %p {
    // expected-error @below {{expects to stand in the function itself, not in scf.if}}
    tile.kernel grid(%i) = (%n) {
    }
  }
  return
}
