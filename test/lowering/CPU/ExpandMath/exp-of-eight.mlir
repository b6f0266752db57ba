// RUN: fovea-opt %s --pass-pipeline='builtin.module(func.func(fovea-expand-math))' | FileCheck %s --check-prefixes=CHECK,SSE
// RUN: fovea-opt %s --pass-pipeline='builtin.module(func.func(fovea-expand-math{target=avx512}))' | FileCheck %s --check-prefixes=CHECK,AVX512

// CHECK-LABEL: func.func @exp_of_eight(
// SSE: arith.minsi
// AVX512: llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.ps.256"({{.*}}) : (vector<8xf32>, vector<8xf32>, vector<8xf32>, i8) -> vector<8xf32>
// CHECK-NOT: math.
// CHECK: return
func.func @exp_of_eight(%x: vector<8xf32>) -> vector<8xf32> {
  %0 = math.exp %x : vector<8xf32>
  return %0 : vector<8xf32>
}
