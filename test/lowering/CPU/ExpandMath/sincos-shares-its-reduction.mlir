// RUN: fovea-opt %s --pass-pipeline='builtin.module(func.func(fovea-expand-math))' | FileCheck %s
// RUN: fovea-opt %s --pass-pipeline='builtin.module(func.func(fovea-expand-math{target=avx512}))' | FileCheck %s
// RUN: fovea-opt %s --pass-pipeline='builtin.module(func.func(fovea-expand-math,cse))' | FileCheck %s --check-prefix=SHARED

// The reduction is in f64; a sine and a cosine of one operand share it.
// SHARED-LABEL: func.func @sincos(
// SHARED-COUNT-1: arith.extf
// SHARED-NOT: arith.extf
// SHARED: return
// CHECK-LABEL: func.func @sincos(
// CHECK: arith.extf %{{.*}} : vector<16xf32> to vector<16xf64>
// CHECK-NOT: math.
// CHECK: return
func.func @sincos(%x: vector<16xf32>) -> (vector<16xf32>, vector<16xf32>) {
  %s, %c = math.sincos %x : vector<16xf32>
  return %s, %c : vector<16xf32>, vector<16xf32>
}
