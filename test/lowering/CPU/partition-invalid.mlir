// RUN: fovea-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(fovea-partition))'

// expected-error @below {{expects a kernel with one outermost parallel nest, got 2}}
func.func private @two_nests(%n: index, %part: index, %parts: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
  }
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
  }
  return
}
