// RUN: fovea-opt %s --fovea-to-kernels | FileCheck %s

// Halves are multiplied as they are and computed in f32, and what the source rounds is rounded.

// CHECK-LABEL: func.func private @linear_0(
// CHECK: tile.kernel
// CHECK: %[[S:.*]] = tile.dot %{{.*}}, %{{.*}} transpose_b block(4, 32) : !tile.tile<8x33xf16>, !tile.tile<32x33xf16> -> !tile.tile<8x32xf32>
// CHECK: %[[T:.*]] = tile.map(%[[R:.*]] = %{{.*}}, %[[X:.*]] = %[[S]], %[[B:.*]] = %{{.*}}) : (!tile.tile<8x32xf16>, !tile.tile<8x32xf32>, !tile.tile<8x32xf32>) -> !tile.tile<8x32xf16> {
// CHECK-NEXT: %[[BIASED:.*]] = arith.addf %[[X]], %[[B]] : f32
// CHECK-NEXT: %[[LINEAR:.*]] = arith.truncf %[[BIASED]] : f32 to f16
// CHECK-NEXT: %[[AGAIN:.*]] = arith.extf %[[LINEAR]] : f16 to f32
// CHECK: %[[ACTIVE:.*]] = arith.truncf %{{.*}} : f32 to f16
// CHECK-NEXT: %[[WIDE:.*]] = arith.extf %[[R]] : f16 to f32
// CHECK-NEXT: %[[AGAIN:.*]] = arith.extf %[[ACTIVE]] : f16 to f32
// CHECK-NEXT: %[[SUM:.*]] = arith.addf %[[WIDE]], %[[AGAIN]] : f32
// CHECK-NEXT: %[[Y:.*]] = arith.truncf %[[SUM]] : f32 to f16
// CHECK-NEXT: tile.yield %[[Y]] : f16
// CHECK: tile.store %[[T]], %{{.*}} : !tile.tile<8x32xf16>, !tile.view<?x49xf16>
func.func @halves(%x: tensor<?x33xf16>, %w: tensor<49x33xf16>, %b: tensor<49xf16>, %r: tensor<?x49xf16>) -> tensor<?x49xf16> attributes {fovea.entry} {
  %0 = fovea.group(%a = %x, %c = %w, %d = %b, %e = %r) schedule(#fovea.contraction<tile = [8, 32], chunk = 16, block = [4, 32]>)
      : (tensor<?x33xf16>, tensor<49x33xf16>, tensor<49xf16>, tensor<?x49xf16>) -> tensor<?x49xf16> {
    %1 = fovea.linear %a, %c bias(%d : tensor<49xf16>) : tensor<?x33xf16>, tensor<49x33xf16> -> tensor<?x49xf16>
    %2 = fovea.activation relu %1 : tensor<?x49xf16>
    %3 = arith.addf %e, %2 : tensor<?x49xf16>
    fovea.yield %3 : tensor<?x49xf16>
  }
  return %0 : tensor<?x49xf16>
}
