// RUN: fovea-opt %s --fovea-to-kernels | FileCheck %s

// One place in each batch row: rows are batches, and go to one position of the cache.

// CHECK-LABEL: func.func private @cache_append_0(
// CHECK-SAME: %[[LENGTH:.*]]: index, %{{.*}}: memref<?x1x2x4xf32>
// CHECK: tile.kernel grid(%[[HEAD:.*]], %{{.*}}) =
// CHECK: tile.cast {{.*}} -> !tile.tile<4x4xbf16>
// CHECK: tile.view %{{.*}} at(%[[HEAD]], %[[LENGTH]]) axes(0, 3) : memref<?x2x?x4xbf16> -> !tile.view<?x4xbf16>
// CHECK: tile.store
func.func @append(%c: !fovea.cache<key, 2x4xbf16> {fovea.name = "k"}, %x: tensor<?x1x2x4xf32>) -> (!fovea.cache<key, 2x4xbf16> {fovea.name = "k"}) attributes {fovea.entry} {
  %0 = fovea.group(%a = %c, %b = %x) schedule(#fovea.rows<rows = 4>) : (!fovea.cache<key, 2x4xbf16>, tensor<?x1x2x4xf32>) -> !fovea.cache<key, 2x4xbf16> {
    %1 = fovea.cache_append %a, %b : !fovea.cache<key, 2x4xbf16>, tensor<?x1x2x4xf32>
    fovea.yield %1 : !fovea.cache<key, 2x4xbf16>
  }
  return %0 : !fovea.cache<key, 2x4xbf16>
}
