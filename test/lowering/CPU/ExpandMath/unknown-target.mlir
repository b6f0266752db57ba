// RUN: not fovea-opt %s --pass-pipeline='builtin.module(func.func(fovea-expand-math{target=neon}))' 2>&1 | FileCheck %s --check-prefix=REFUSED

// REFUSED: error: expects a target of aarch64-i8mm, aarch64-dotprod, aarch64, amx, avx512bf16, avx512vnni, avx512, avxvnni, avx2, sse, or a GPU's, got 'neon'
func.func @none() {
  return
}
