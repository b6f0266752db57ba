// RUN: fovea-opt %s --fovea-to-kernels | FileCheck %s

// A folded norm's factors and the angles of rotary pairs are launches before; each range of columns has its own blocks,
// halves of heads are products of their own, and keys go to the cache.

// CHECK-LABEL: func.func @split(
// CHECK: fovea.launch @row_factor_0 ins(%[[X:[a-z0-9_]*]] : memref<1x?x16xf32>) outs(%[[F:[a-z0-9_]*]] : memref<1x?xf32>)
// CHECK: fovea.launch @rotary_angles_0
// CHECK: fovea.launch @linear_0 ins(%[[X]], {{.*}}) outs({{.*}}%[[F]], {{.*}}) cost

// CHECK-LABEL: func.func private @row_factor_0(
// CHECK: tile.reduce sum
// CHECK: math.sqrt
// CHECK: tile.store {{.*}} : !tile.tile<4x1xf32>, !tile.view<?x1xf32>

// CHECK-LABEL: func.func private @rotary_angles_0(
// CHECK: arith.truncf {{.*}} : f64 to f32
// CHECK: math.cos {{.*}} : f32
// CHECK: math.sin {{.*}} : f32

// CHECK-LABEL: func.func private @linear_0(
// CHECK: %[[C2:.*]] = arith.constant 2 : index
// CHECK: tile.kernel grid(%[[BLOCK:.*]], %{{.*}}, %{{.*}}) = (%[[C2]],
// CHECK: scf.if
// CHECK: scf.for
// CHECK-COUNT-4: tile.dot {{.*}} -> !tile.tile<8x8xf32>
// CHECK: } else {
// CHECK: scf.for
// CHECK-COUNT-2: tile.dot {{.*}} -> !tile.tile<8x8xf32>
// CHECK: tile.view %{{.*}} at(%{{.*}}, %{{.*}}) axes(2, 3) length(%{{.*}}) : memref<?x2x?x16xf32>
// CHECK: tile.store {{.*}} : !tile.tile<8x8xf32>, !tile.view<?x16xf32>
func.func @split(%x: tensor<1x?x16xf32>, %w: tensor<64x16xf32>, %k: !fovea.cache<key, 2x16xf32> {fovea.name = "k"}) -> (tensor<1x?x2x16xf32>, !fovea.cache<key, 2x16xf32> {fovea.name = "k"}) attributes {fovea.entry} {
  %first = fovea.cache_length %k : !fovea.cache<key, 2x16xf32>
  %0:2 = fovea.group(%a = %x, %c = %w, %d = %k, %f = %first) schedule(#fovea.contraction<tile = [8, 32], chunk = 16, block = [4, 32]>)
      : (tensor<1x?x16xf32>, tensor<64x16xf32>, !fovea.cache<key, 2x16xf32>, index) -> (tensor<1x?x2x16xf32>, !fovea.cache<key, 2x16xf32>) {
    %c1 = arith.constant 1 : index
    %n = tensor.dim %a, %c1 : tensor<1x?x16xf32>
    %p = fovea.positions from %f count %n : tensor<1x?xi32>
    %1 = fovea.rms_norm %a eps(1.0e-5) : tensor<1x?x16xf32>
    %2 = fovea.linear %1, %c : tensor<1x?x16xf32>, tensor<64x16xf32> -> tensor<1x?x64xf32>
    %3 = tensor.extract_slice %2[0, 0, 0] [1, %n, 32] [1, 1, 1] : tensor<1x?x64xf32> to tensor<1x?x32xf32>
    %4 = tensor.extract_slice %2[0, 0, 32] [1, %n, 32] [1, 1, 1] : tensor<1x?x64xf32> to tensor<1x?x32xf32>
    %5 = tensor.expand_shape %3 [[0], [1], [2, 3]] output_shape [1, %n, 2, 16] : tensor<1x?x32xf32> into tensor<1x?x2x16xf32>
    %6 = tensor.expand_shape %4 [[0], [1], [2, 3]] output_shape [1, %n, 2, 16] : tensor<1x?x32xf32> into tensor<1x?x2x16xf32>
    %7 = fovea.rope half %5 at(%p : tensor<1x?xi32>) dim(16) theta(10000.0) : tensor<1x?x2x16xf32>
    %8 = fovea.rope half %6 at(%p : tensor<1x?xi32>) dim(16) theta(10000.0) : tensor<1x?x2x16xf32>
    %9 = fovea.cache_append %d, %8 : !fovea.cache<key, 2x16xf32>, tensor<1x?x2x16xf32>
    fovea.yield %7, %9 : tensor<1x?x2x16xf32>, !fovea.cache<key, 2x16xf32>
  }
  return %0#0, %0#1 : tensor<1x?x2x16xf32>, !fovea.cache<key, 2x16xf32>
}
