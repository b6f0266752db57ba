// RUN: fovea-opt %s --fovea-schedule=target=avx2 | FileCheck %s

// No builder computes in f64: plain loops, of which a product shares all axes of its result, a norm its rows.

// CHECK-LABEL: @loops
// CHECK: fovea.group({{.*}}) schedule(#fovea.loops<parallel = 3>)
// CHECK-NEXT: fovea.linear
// CHECK: fovea.group({{.*}}) schedule(#fovea.loops<parallel = 2>)
// CHECK-NEXT: fovea.rms_norm
func.func @loops(%x: tensor<?x?x4xf64>, %w: tensor<6x4xf32>) -> tensor<?x?x6xf64> {
  %0 = fovea.group(%a = %x, %b = %w) : (tensor<?x?x4xf64>, tensor<6x4xf32>) -> tensor<?x?x6xf64> {
    %1 = fovea.linear %a, %b : tensor<?x?x4xf64>, tensor<6x4xf32> -> tensor<?x?x6xf64>
    fovea.yield %1 : tensor<?x?x6xf64>
  }
  %2 = fovea.group(%a = %0) : (tensor<?x?x6xf64>) -> tensor<?x?x6xf64> {
    %3 = fovea.rms_norm %a eps(1.0e-5) : tensor<?x?x6xf64>
    fovea.yield %3 : tensor<?x?x6xf64>
  }
  return %2 : tensor<?x?x6xf64>
}
