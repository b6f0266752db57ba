// RUN: fovea-opt %s --fovea-to-kernels | FileCheck %s

// A projection's heads become integers where they are made: the greatest of a row is that of its two halves, which are rotated
// apart. Attention multiplies the integers and then what is of a key by its scale.

// CHECK-LABEL: func.func @decode(
// CHECK: fovea.launch @linear_0 {{.*}}outs({{.*}} : memref<?x2x?x64xi8>, memref<?x2x?x1xf32>,
// CHECK: fovea.launch @attention_0

// CHECK-LABEL: func.func private @linear_0(
// CHECK: %[[LOW:.*]] = tile.reduce maximum %{{.*}} : !tile.tile<1x32xf32> -> !tile.tile<1x1xf32>
// CHECK: %[[HIGH:.*]] = tile.reduce maximum %{{.*}} : !tile.tile<1x32xf32> -> !tile.tile<1x1xf32>
// CHECK: %[[MOST:.*]] = tile.map(%{{.*}} = %[[LOW]], %{{.*}} = %[[HIGH]])
// CHECK: %[[SCALE:.*]] = tile.map(%{{.*}} = %[[MOST]])
// CHECK-COUNT-2: tile.store %{{.*}} : !tile.tile<1x32xi8>, !tile.view<?x64xi8>
// CHECK: tile.store %[[SCALE]], %{{.*}} : !tile.tile<1x1xf32>, !tile.view<?x1xf32>

// CHECK-LABEL: func.func private @attention_0(
// CHECK: %[[KEYS:.*]] = tile.load {{.*}} -> !tile.tile<64x64xi8, lanes 0>
// CHECK: %[[NUMBERS:.*]] = tile.dequantize %[[KEYS]] : !tile.tile<64x64xi8, lanes 0> -> !tile.tile<64x64xf32, lanes 0>
// CHECK: %[[PRODUCT:.*]] = tile.dot %{{.*}}, %[[NUMBERS]] transpose_b
// CHECK: %[[ROW:.*]] = tile.load {{.*}} -> !tile.tile<1x64xf32>
// CHECK: %[[SCALES:.*]] = tile.broadcast %[[ROW]]
// CHECK: tile.map(%{{.*}} = %[[PRODUCT]], %{{.*}} = %[[SCALES]])
// CHECK: tile.dequantize %{{.*}} : !tile.tile<64x64xi8> -> !tile.tile<64x64xf32>
func.func @decode(%x: tensor<?x1x48xf32>, %q: tensor<?x1x2x64xf32>, %w: tensor<128x48xf32>, %p: tensor<1x1xi32>, %k: !fovea.cache<key, 2x64xi8>, %s: !fovea.cache<key, 2x1xf32>,
    %v: !fovea.cache<value, 2x64xi8>, %t: !fovea.cache<value, 2x1xf32>) -> (tensor<?x1x2x64xf32>, !fovea.cache<key, 2x64xi8>, !fovea.cache<key, 2x1xf32>) attributes {fovea.entry} {
  %0:2 = fovea.group(%a = %x, %b = %w, %c = %p, %d = %k, %e = %s) schedule(#fovea.contraction<tile = [1, 64], chunk = 16, block = [1, 64]>)
      : (tensor<?x1x48xf32>, tensor<128x48xf32>, tensor<1x1xi32>, !fovea.cache<key, 2x64xi8>, !fovea.cache<key, 2x1xf32>) -> (!fovea.cache<key, 2x64xi8>, !fovea.cache<key, 2x1xf32>) {
    %c0 = arith.constant 0 : index
    %1 = fovea.linear %a, %b : tensor<?x1x48xf32>, tensor<128x48xf32> -> tensor<?x1x128xf32>
    %n = tensor.dim %1, %c0 : tensor<?x1x128xf32>
    %2 = tensor.expand_shape %1 [[0], [1], [2, 3]] output_shape [%n, 1, 2, 64] : tensor<?x1x128xf32> into tensor<?x1x2x64xf32>
    %3 = fovea.rope half %2 at(%c : tensor<1x1xi32>) dim(64) theta(10000.0) : tensor<?x1x2x64xf32>
    %4, %5 = fovea.cache_append %d, %3 scales(%e : !fovea.cache<key, 2x1xf32>) : !fovea.cache<key, 2x64xi8>, tensor<?x1x2x64xf32>
    fovea.yield %4, %5 : !fovea.cache<key, 2x64xi8>, !fovea.cache<key, 2x1xf32>
  }
  %6 = fovea.group(%a = %q, %b = %0#0, %c = %v, %d = %0#1, %e = %t) schedule(#fovea.attention_tiles<queries = 16, keys = 64, axis = heads, scores = [4, 64], values = [4, 64]>)
      : (tensor<?x1x2x64xf32>, !fovea.cache<key, 2x64xi8>, !fovea.cache<value, 2x64xi8>, !fovea.cache<key, 2x1xf32>, !fovea.cache<value, 2x1xf32>) -> tensor<?x1x2x64xf32> {
    %7 = fovea.attention %a, %b, %c scales(%d, %e : !fovea.cache<key, 2x1xf32>, !fovea.cache<value, 2x1xf32>)
        : tensor<?x1x2x64xf32>, !fovea.cache<key, 2x64xi8>, !fovea.cache<value, 2x64xi8> -> tensor<?x1x2x64xf32>
    fovea.yield %7 : tensor<?x1x2x64xf32>
  }
  return %6, %0#0, %0#1 : tensor<?x1x2x64xf32>, !fovea.cache<key, 2x64xi8>, !fovea.cache<key, 2x1xf32>
}
