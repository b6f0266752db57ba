// RUN: fovea-opt %s --fovea-schedule=target=avx2 | FileCheck %s

// What is of f64 is computed and summed in it, by the same tiles as f32.

// CHECK-LABEL: @wide
// CHECK: fovea.group({{.*}}) schedule(#fovea.contraction<
// CHECK-NEXT: fovea.linear
// CHECK: fovea.group({{.*}}) schedule(#fovea.rows<rows = 4>)
// CHECK-NEXT: fovea.rms_norm
func.func @wide(%x: tensor<?x?x4xf64>, %w: tensor<6x4xf32>) -> tensor<?x?x6xf64> {
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
