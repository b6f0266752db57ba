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

// Attention beside such linears multiplies bf16; what the next linear reads is not rounded twice.
// CHECK-LABEL: func.func @attention
// CHECK-SAME:      %[[Q:.*]]: tensor<2x?x4x16xf32>, %[[K:.*]]: tensor<2x?x4x16xf32>
// CHECK-DAG:     %[[RQ:.*]] = arith.truncf %[[Q]]
// CHECK-DAG:     %[[RK:.*]] = arith.truncf %[[K]]
// CHECK:         %[[O:.*]] = fovea.attention %[[RQ]], %[[RK]], %[[RK]] {{.*}} -> tensor<2x?x4x16xbf16>
// CHECK-NEXT:    %[[V:.*]] = tensor.collapse_shape %[[O]]
// CHECK-NEXT:    fovea.linear %[[V]], %{{.*}} : tensor<2x?x64xbf16>, tensor<32x64xbf16> -> tensor<2x?x32xf32>
func.func @attention(%q: tensor<2x?x4x16xf32>, %k: tensor<2x?x4x16xf32>, %w: tensor<32x64xbf16>) -> tensor<2x?x32xf32> {
  %o = fovea.attention %q, %k, %k : tensor<2x?x4x16xf32>, tensor<2x?x4x16xf32>, tensor<2x?x4x16xf32> -> tensor<2x?x4x16xf32>
  %v = tensor.collapse_shape %o [[0], [1], [2, 3]] : tensor<2x?x4x16xf32> into tensor<2x?x64xf32>
  %y = fovea.linear %v, %w : tensor<2x?x64xf32>, tensor<32x64xbf16> -> tensor<2x?x32xf32>
  return %y : tensor<2x?x32xf32>
}

// Caches of bf16 are rounded already, those of f32 stay what they are.
// CHECK-LABEL: func.func @caches
// CHECK:         %[[R:.*]] = arith.truncf
// CHECK:         %[[O:.*]] = fovea.attention %[[R]], {{.*}} -> tensor<2x?x4x16xbf16>
// CHECK-NEXT:    %[[W:.*]] = arith.extf %[[O]]
// CHECK:         fovea.attention %{{.*}} : tensor<2x?x4x16xf32>, {{.*}} -> tensor<2x?x4x16xf32>
func.func @caches(%q: tensor<2x?x4x16xf32>, %k: !fovea.cache<key, 4x16xbf16>, %v: !fovea.cache<value, 4x16xbf16>,
                  %l: !fovea.cache<key, 4x16xf32>, %u: !fovea.cache<value, 4x16xf32>, %x: tensor<?x64xf32>, %w: tensor<32x64xbf16>)
    -> (tensor<2x?x4x16xf32>, tensor<2x?x4x16xf32>, tensor<?x32xf32>) {
  %o = fovea.attention %q, %k, %v : tensor<2x?x4x16xf32>, !fovea.cache<key, 4x16xbf16>, !fovea.cache<value, 4x16xbf16> -> tensor<2x?x4x16xf32>
  %p = fovea.attention %q, %l, %u : tensor<2x?x4x16xf32>, !fovea.cache<key, 4x16xf32>, !fovea.cache<value, 4x16xf32> -> tensor<2x?x4x16xf32>
  %y = fovea.linear %x, %w : tensor<?x64xf32>, tensor<32x64xbf16> -> tensor<?x32xf32>
  return %o, %p, %y : tensor<2x?x4x16xf32>, tensor<2x?x4x16xf32>, tensor<?x32xf32>
}

// What quantises its rows stays.
// CHECK-LABEL: func.func @quantized
// CHECK-NOT:     arith.truncf
// CHECK:         quantize_rows
func.func @quantized(%x: tensor<?x64xf32>, %w: tensor<32x64xi8>, %s: tensor<32xf32>) -> tensor<?x32xf32> {
  %0 = fovea.linear %x, %w quantize_rows scales(%s : tensor<32xf32>) : tensor<?x64xf32>, tensor<32x64xi8> -> tensor<?x32xf32>
  return %0 : tensor<?x32xf32>
}
