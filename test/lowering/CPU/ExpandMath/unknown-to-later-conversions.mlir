// RUN: fovea-opt %s --pass-pipeline='builtin.module(func.func(fovea-expand-math))' | FileCheck %s
// RUN: fovea-opt %s --pass-pipeline='builtin.module(func.func(fovea-expand-math{target=avx512}))' | FileCheck %s

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
