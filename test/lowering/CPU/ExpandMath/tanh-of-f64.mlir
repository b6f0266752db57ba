// RUN: fovea-opt %s --pass-pipeline='builtin.module(func.func(fovea-expand-math{target=avx512}))' | FileCheck %s
// RUN: fovea-opt %s --pass-pipeline='builtin.module(func.func(fovea-expand-math{target=avx2}))' | FileCheck %s
// RUN: fovea-opt %s --pass-pipeline='builtin.module(func.func(fovea-expand-math{target=sse}))' | FileCheck %s --check-prefix=SSE

// 1 - 2 / (e^2x + 1), and a series where x is small. Without fused products it is a call of the C library.
// CHECK-LABEL: func.func @wide(
// CHECK-NOT: math.tanh
// CHECK: arith.fptosi %{{.*}} : vector<8xf64> to vector<8xi64>
// CHECK: arith.divf %{{.*}} : vector<8xf64>
// CHECK: arith.select %{{.*}} : vector<8xi1>, vector<8xf64>
// SSE: math.tanh
func.func @wide(%x: vector<8xf64>) -> vector<8xf64> {
  %0 = math.tanh %x : vector<8xf64>
  return %0 : vector<8xf64>
}
