// RUN: fovea-opt %s --pass-pipeline='builtin.module(func.func(fovea-expand-math))' | FileCheck %s --check-prefixes=CHECK,SSE
// RUN: fovea-opt %s --pass-pipeline='builtin.module(func.func(fovea-expand-math{target=avx512}))' | FileCheck %s --check-prefixes=CHECK,AVX512
// RUN: fovea-opt %s --pass-pipeline='builtin.module(func.func(fovea-expand-math,cse))' | FileCheck %s --check-prefix=SHARED
// RUN: not fovea-opt %s --pass-pipeline='builtin.module(func.func(fovea-expand-math{target=neon}))' 2>&1 | FileCheck %s --check-prefix=REFUSED
// REFUSED: error: expects target sse, avx2, avx512 or a GPU's, got 'neon'

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

// CHECK-LABEL: func.func @exp_of_eight(
// SSE: arith.minsi
// AVX512: llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.ps.256"({{.*}}) : (vector<8xf32>, vector<8xf32>, vector<8xf32>, i8) -> vector<8xf32>
// CHECK-NOT: math.
// CHECK: return
func.func @exp_of_eight(%x: vector<8xf32>) -> vector<8xf32> {
  %0 = math.exp %x : vector<8xf32>
  return %0 : vector<8xf32>
}

// Twelve lanes are no register of AVX-512: plain arithmetic.
// CHECK-LABEL: func.func @exp2_of_twelve(
// CHECK-NOT: llvm.call_intrinsic
// CHECK-NOT: math.
// CHECK: return
func.func @exp2_of_twelve(%x: vector<12xf32>) -> vector<12xf32> {
  %0 = math.exp2 %x : vector<12xf32>
  return %0 : vector<12xf32>
}

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

// CHECK-LABEL: func.func @stays(
// CHECK: math.exp %{{.*}} : f32
// CHECK: math.exp %{{.*}} : vector<4xf64>
// CHECK: math.exp %{{.*}} : vector<3xf32>
// CHECK: math.exp %{{.*}} : vector<2x4xf32>
// CHECK: math.tan %{{.*}} : vector<4xf32>
// CHECK: math.sqrt %{{.*}} : vector<4xf32>
func.func @stays(%a: f32, %b: vector<4xf64>, %c: vector<3xf32>, %d: vector<2x4xf32>, %e: vector<4xf32>)
    -> (f32, vector<4xf64>, vector<3xf32>, vector<2x4xf32>, vector<4xf32>, vector<4xf32>) {
  %0 = math.exp %a : f32
  %1 = math.exp %b : vector<4xf64>
  %2 = math.exp %c : vector<3xf32>
  %3 = math.exp %d : vector<2x4xf32>
  %4 = math.tan %e : vector<4xf32>
  %5 = math.sqrt %e : vector<4xf32>
  return %0, %1, %2, %3, %4, %5 : f32, vector<4xf64>, vector<3xf32>, vector<2x4xf32>, vector<4xf32>, vector<4xf32>
}

// What later conversions do not know, of any type.
// CHECK-LABEL: func.func @unknown(
// CHECK: arith.maximumf
// CHECK: arith.minimumf
// CHECK: arith.cmpf oeq, {{.*}} : f32
// CHECK: arith.cmpf oge, {{.*}} : vector<2xf64>
// CHECK: arith.cmpf olt, {{.*}} : vector<2xf64>
// CHECK-NOT: math.is
func.func @unknown(%x: f32, %y: vector<2xf64>) -> (f32, i1, vector<2xi1>) {
  %0 = math.clampf %x to [%x, %x] : f32
  %1 = math.isinf %0 : f32
  %2 = math.isnormal %y : vector<2xf64>
  return %0, %1, %2 : f32, i1, vector<2xi1>
}
