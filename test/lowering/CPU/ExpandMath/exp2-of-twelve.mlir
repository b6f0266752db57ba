// RUN: fovea-opt %s --pass-pipeline='builtin.module(func.func(fovea-expand-math))' | FileCheck %s
// RUN: fovea-opt %s --pass-pipeline='builtin.module(func.func(fovea-expand-math{target=avx512}))' | FileCheck %s

// Twelve lanes are no register of AVX-512: plain arithmetic.
// CHECK-LABEL: func.func @exp2_of_twelve(
// CHECK-NOT: llvm.call_intrinsic
// CHECK-NOT: math.
// CHECK: return
func.func @exp2_of_twelve(%x: vector<12xf32>) -> vector<12xf32> {
  %0 = math.exp2 %x : vector<12xf32>
  return %0 : vector<12xf32>
}
