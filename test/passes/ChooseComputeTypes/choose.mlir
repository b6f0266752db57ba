// RUN: fovea-opt %s --fovea-choose-compute-types | FileCheck %s
//
// Inputs of linears with weights of bf16 are rounded once; what is summed stays f32.

// CHECK-LABEL: func.func @two
// CHECK-SAME:      %[[X:.*]]: tensor<?x64xf32>
// CHECK-NEXT:    %[[R:.*]] = arith.truncf %[[X]] : tensor<?x64xf32> to tensor<?x64xbf16>
// CHECK-NEXT:    %[[A:.*]] = fovea.linear %[[R]], %{{.*}} : tensor<?x64xbf16>, tensor<32x64xbf16> -> tensor<?x32xf32>
// CHECK-NEXT:    %[[B:.*]] = fovea.linear %[[R]], %{{.*}} : tensor<?x64xbf16>, tensor<32x64xbf16> -> tensor<?x32xf32>
// CHECK-NEXT:    arith.addf %[[A]], %[[B]] : tensor<?x32xf32>
func.func @two(%x: tensor<?x64xf32>, %v: tensor<32x64xbf16>, %w: tensor<32x64xbf16>) -> tensor<?x32xf32> {
  %a = fovea.linear %x, %v : tensor<?x64xf32>, tensor<32x64xbf16> -> tensor<?x32xf32>
  %b = fovea.linear %x, %w : tensor<?x64xf32>, tensor<32x64xbf16> -> tensor<?x32xf32>
  %sum = arith.addf %a, %b : tensor<?x32xf32>
  return %sum : tensor<?x32xf32>
}

// Integers have fewer bits than bf16.
// CHECK-LABEL: func.func @integers
// CHECK:         %[[R:.*]] = arith.truncf %{{.*}} : tensor<?x64xf32> to tensor<?x64xbf16>
// CHECK-NEXT:    fovea.linear %[[R]], %{{.*}} scales(%{{.*}} : tensor<32xf32>) : tensor<?x64xbf16>, tensor<32x64xi8> -> tensor<?x32xf32>
func.func @integers(%x: tensor<?x64xf32>, %w: tensor<32x64xi8>, %s: tensor<32xf32>) -> tensor<?x32xf32> {
  %0 = fovea.linear %x, %w scales(%s : tensor<32xf32>) : tensor<?x64xf32>, tensor<32x64xi8> -> tensor<?x32xf32>
  return %0 : tensor<?x32xf32>
}

// Of f32 and f16 nothing is rounded, nor is what is bf16 already.
// CHECK-LABEL: func.func @others
// CHECK-NOT:     arith.truncf
func.func @others(%x: tensor<?x64xf32>, %y: tensor<?x64xbf16>, %a: tensor<32x64xf32>, %b: tensor<32x64xf16>,
                  %d: tensor<32x64xbf16>) -> (tensor<?x32xf32>, tensor<?x32xf32>, tensor<?x32xbf16>) {
  %0 = fovea.linear %x, %a : tensor<?x64xf32>, tensor<32x64xf32> -> tensor<?x32xf32>
  %1 = fovea.linear %x, %b : tensor<?x64xf32>, tensor<32x64xf16> -> tensor<?x32xf32>
  %3 = fovea.linear %y, %d : tensor<?x64xbf16>, tensor<32x64xbf16> -> tensor<?x32xbf16>
  return %0, %1, %3 : tensor<?x32xf32>, tensor<?x32xf32>, tensor<?x32xbf16>
}
