// RUN: not fovea-opt %s --pass-pipeline='builtin.module(func.func(fovea-expand-math{target=neon}))' 2>&1 | FileCheck %s --check-prefix=REFUSED

// REFUSED: error: expects target sse, avx2, avx512, avx512bf16, amx or a GPU's, got 'neon'
func.func @none() {
  return
}
