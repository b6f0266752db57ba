// RUN: fovea-opt %s --pass-pipeline='builtin.module(func.func(fovea-expand-math))' | FileCheck %s
// RUN: fovea-opt %s --pass-pipeline='builtin.module(func.func(fovea-expand-math{target=avx512}))' | FileCheck %s

// No op of vectors that needs an instruction which a target may lack.
// CHECK-LABEL: func.func @others(
// CHECK-NOT: vector.fma
// CHECK-NOT: math.{{tanh|erf|log|rsqrt|expm1|log1p}}
// CHECK: return
func.func @others(%x: vector<4xf32>) -> vector<4xf32> {
  %0 = math.tanh %x : vector<4xf32>
  %1 = math.erf %0 : vector<4xf32>
  %2 = math.log %1 : vector<4xf32>
  %3 = math.rsqrt %2 : vector<4xf32>
  %4 = math.expm1 %3 : vector<4xf32>
  %5 = math.log1p %4 : vector<4xf32>
  return %5 : vector<4xf32>
}
