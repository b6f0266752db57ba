// RUN: fovea-opt %s --pass-pipeline='builtin.module(func.func(fovea-expand-math))' | FileCheck %s
// RUN: fovea-opt %s --pass-pipeline='builtin.module(func.func(fovea-expand-math{target=avx512}))' | FileCheck %s

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
