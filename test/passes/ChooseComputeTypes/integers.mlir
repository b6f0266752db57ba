// RUN: fovea-opt %s --fovea-choose-compute-types=integers | FileCheck %s

// Rows are quantised where the weight is of integers; of bf16 they are rounded to it, of f32 they stay.

// CHECK-LABEL: func.func @linears
// CHECK-SAME:      %[[X:[a-z0-9]*]]: tensor<?x64xf32>
// CHECK:         %[[R:.*]] = arith.truncf %[[X]] : tensor<?x64xf32> to tensor<?x64xbf16>
// CHECK-NEXT:    fovea.linear %[[X]], %{{.*}} quantize_rows scales(%{{.*}} : tensor<32xf32>) : tensor<?x64xf32>, tensor<32x64xi8> -> tensor<?x32xf32>
// CHECK-NEXT:    fovea.linear %[[X]], %{{.*}} quantize_rows scales(%{{.*}} : tensor<32x2xf16>) : tensor<?x64xf32>, tensor<32x64xi4> -> tensor<?x32xf32>
// CHECK-NEXT:    fovea.linear %[[R]], %{{.*}} : tensor<?x64xbf16>, tensor<32x64xbf16> -> tensor<?x32xf32>
// CHECK-NEXT:    fovea.linear %[[X]], %{{.*}} : tensor<?x64xf32>, tensor<32x64xf32> -> tensor<?x32xf32>
func.func @linears(%x: tensor<?x64xf32>, %i: tensor<32x64xi8>, %s: tensor<32xf32>, %n: tensor<32x64xi4>, %g: tensor<32x2xf16>,
                   %b: tensor<32x64xbf16>, %f: tensor<32x64xf32>)
    -> (tensor<?x32xf32>, tensor<?x32xf32>, tensor<?x32xf32>, tensor<?x32xf32>) {
  %0 = fovea.linear %x, %i scales(%s : tensor<32xf32>) : tensor<?x64xf32>, tensor<32x64xi8> -> tensor<?x32xf32>
  %1 = fovea.linear %x, %n scales(%g : tensor<32x2xf16>) : tensor<?x64xf32>, tensor<32x64xi4> -> tensor<?x32xf32>
  %2 = fovea.linear %x, %b : tensor<?x64xf32>, tensor<32x64xbf16> -> tensor<?x32xf32>
  %3 = fovea.linear %x, %f : tensor<?x64xf32>, tensor<32x64xf32> -> tensor<?x32xf32>
  return %0, %1, %2, %3 : tensor<?x32xf32>, tensor<?x32xf32>, tensor<?x32xf32>, tensor<?x32xf32>
}
