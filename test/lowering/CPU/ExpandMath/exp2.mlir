// RUN: fovea-opt %s --pass-pipeline='builtin.module(func.func(fovea-expand-math))' | FileCheck %s --check-prefixes=CHECK,SSE
// RUN: fovea-opt %s --pass-pipeline='builtin.module(func.func(fovea-expand-math{target=avx512}))' | FileCheck %s --check-prefixes=CHECK,AVX512

// CHECK-LABEL: func.func @exp2(
// CHECK-SAME: %[[X:[^:]*]]: vector<16xf32>
// SSE: arith.shli
// SSE: arith.addi
// SSE: arith.cmpf uno, %[[X]], %[[X]]
// AVX512: %[[F:.*]] = llvm.call_intrinsic "llvm.x86.avx512.mask.reduce.ps.512"(%[[X]],
// AVX512-COUNT-6: arith.mulf {{.*}}, %[[F]] fastmath<contract>
// AVX512: llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.ps.512"(%{{.*}}, %[[X]],
// CHECK-NOT: math.
// CHECK: return
func.func @exp2(%x: vector<16xf32>) -> vector<16xf32> {
  %0 = math.exp2 %x : vector<16xf32>
  return %0 : vector<16xf32>
}
