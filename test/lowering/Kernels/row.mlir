// RUN: fovea-opt %s --split-input-file --fovea-to-kernels | FileCheck %s

// Whole rows, four at a time. The sum is computed once: it is a result, and the norm reads it.

// CHECK-LABEL: func.func private @layer_norm_0(
// CHECK: tile.kernel grid(%{{.*}}) = (%{{.*}}) {
// CHECK: %[[S:.*]] = tile.map({{.*}}) : (!tile.tile<4x24xf32>, !tile.tile<4x24xf32>) -> !tile.tile<4x24xf32> {
// CHECK-NEXT: arith.addf
// CHECK: tile.reduce sum %[[S]] axis(1) : !tile.tile<4x24xf32> -> !tile.tile<4x1xf32>
// CHECK: %[[SQUARES:.*]] = tile.map(%{{.*}} = %[[S]],
// CHECK: tile.reduce sum %[[SQUARES]] axis(1)
// CHECK: math.sqrt
// CHECK: %[[Y:.*]] = tile.map(%{{.*}} = %[[S]],
// CHECK: tile.store %[[Y]],
// CHECK: tile.store %[[S]],
func.func @sum_and_norm(%x: tensor<?x?x24xf32>, %u: tensor<?x?x24xf32>, %w: tensor<24xf32>) -> (tensor<?x?x24xf32>, tensor<?x?x24xf32>) attributes {fovea.entry} {
  %0:2 = fovea.group(%a = %x, %b = %u, %c = %w) schedule(#fovea.rows<rows = 4>)
      : (tensor<?x?x24xf32>, tensor<?x?x24xf32>, tensor<24xf32>) -> (tensor<?x?x24xf32>, tensor<?x?x24xf32>) {
    %1 = arith.addf %a, %b : tensor<?x?x24xf32>
    %2 = fovea.layer_norm %1 weight(%c : tensor<24xf32>) eps(1.0e-5) : tensor<?x?x24xf32>
    fovea.yield %2, %1 : tensor<?x?x24xf32>, tensor<?x?x24xf32>
  }
  return %0#0, %0#1 : tensor<?x?x24xf32>, tensor<?x?x24xf32>
}

// -----

// Of halves the sum is rounded, and widened for the norm's own sums.

// CHECK-LABEL: func.func private @layer_norm_0(
// CHECK: %[[S:.*]] = tile.map({{.*}}) : (!tile.tile<4x24xbf16>, !tile.tile<4x24xbf16>) -> !tile.tile<4x24xbf16> {
// CHECK: arith.truncf
// CHECK: %[[X:.*]] = tile.cast %[[S]] : !tile.tile<4x24xbf16> -> !tile.tile<4x24xf32>
// CHECK: tile.reduce sum %[[X]] axis(1)
// CHECK: %[[Y:.*]] = tile.map(%{{.*}} = %[[X]], {{.*}} -> !tile.tile<4x24xbf16> {
// CHECK: tile.store %[[Y]],
// CHECK: tile.store %[[S]],
func.func @halves(%x: tensor<?x?x24xbf16>, %u: tensor<?x?x24xbf16>, %w: tensor<24xbf16>) -> (tensor<?x?x24xbf16>, tensor<?x?x24xbf16>) attributes {fovea.entry} {
  %0:2 = fovea.group(%a = %x, %b = %u, %c = %w) schedule(#fovea.rows<rows = 4>)
      : (tensor<?x?x24xbf16>, tensor<?x?x24xbf16>, tensor<24xbf16>) -> (tensor<?x?x24xbf16>, tensor<?x?x24xbf16>) {
    %1 = arith.addf %a, %b : tensor<?x?x24xbf16>
    %2 = fovea.layer_norm %1 weight(%c : tensor<24xbf16>) eps(1.0e-5) : tensor<?x?x24xbf16>
    fovea.yield %2, %1 : tensor<?x?x24xbf16>, tensor<?x?x24xbf16>
  }
  return %0#0, %0#1 : tensor<?x?x24xbf16>, tensor<?x?x24xbf16>
}

// -----

// Elements of dense tensors are one long row.

// CHECK-LABEL: func.func private @glu_0(
// CHECK-COUNT-3: memref.collapse_shape %{{.*}} {{\[\[}}0, 1, 2]] : memref<?x?x24xf32> into memref<?xf32>
// CHECK: tile.kernel grid(%{{.*}}) = (%{{.*}}) {
// CHECK: tile.map({{.*}}) : (!tile.tile<1x256xf32>, !tile.tile<1x256xf32>) -> !tile.tile<1x256xf32>
// CHECK: tile.store {{.*}} : !tile.tile<1x256xf32>, !tile.view<1x?xf32>
func.func @elements(%g: tensor<?x?x24xf32>, %u: tensor<?x?x24xf32>) -> tensor<?x?x24xf32> attributes {fovea.entry} {
  %0 = fovea.group(%a = %g, %b = %u) schedule(#fovea.elements<count = 256>) : (tensor<?x?x24xf32>, tensor<?x?x24xf32>) -> tensor<?x?x24xf32> {
    %1 = fovea.glu silu %a, %b : tensor<?x?x24xf32>
    fovea.yield %1 : tensor<?x?x24xf32>
  }
  return %0 : tensor<?x?x24xf32>
}

// -----

// A range of columns is no long row: batches are an axis of the grid, as its rows do not join.

// CHECK-LABEL: func.func private @activation_0(
// CHECK: tile.kernel grid(%[[B:.*]], %{{.*}}) = (%{{.*}}, %{{.*}}) {
// CHECK: tile.view %{{.*}} at(%[[B]]) axes(1, 2) : memref<?x?x8xf32, strided<[?, 24, 1], offset: 8>> -> !tile.view<?x8xf32>
// CHECK: tile.store {{.*}} : !tile.tile<32x8xf32>, !tile.view<?x8xf32>
func.func @slice(%x: tensor<?x?x24xf32>) -> tensor<?x?x8xf32> attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?x24xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?x24xf32>
  %s = tensor.extract_slice %x[0, 0, 8] [%m, %n, 8] [1, 1, 1] : tensor<?x?x24xf32> to tensor<?x?x8xf32>
  %0 = fovea.group(%a = %s) schedule(#fovea.elements<count = 256>) : (tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
    %1 = fovea.activation relu %a : tensor<?x?x8xf32>
    fovea.yield %1 : tensor<?x?x8xf32>
  }
  return %0 : tensor<?x?x8xf32>
}
