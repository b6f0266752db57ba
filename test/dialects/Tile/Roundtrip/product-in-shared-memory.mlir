// RUN: fovea-opt %s | fovea-opt | FileCheck %s

// What only a GPU's block has: layouts, which get names at the module's top, and shared memory.

// CHECK-DAG: #[[$BLOCKED:layout[0-9]*]] = #tile.layout<rows = [threads 8 by 16, registers 8], columns = [registers 4, threads 16 by 1]>
// CHECK-DAG: #[[$ROWS:layout[0-9]*]] = #tile.layout<rows = [threads 8 by 16, registers 8], columns = []>
#blocked = #tile.layout<rows = [threads 8 by 16, registers 8], columns = [registers 4, threads 16 by 1]>
#rows = #tile.layout<rows = [threads 8 by 16, registers 8], columns = []>

// CHECK-LABEL: func.func private @product
func.func private @product(%x: !tile.view<?x192xf32>, %w: !tile.view<512x192xbf16>, %zero: !tile.tile<64x64xf32, #blocked>, %i: index, %k: index) {
  // CHECK: %[[A:.*]] = tile.shared : !tile.shared<64x32xf32>
  %a = tile.shared : !tile.shared<64x32xf32, strides [32, 1]>
  // CHECK: %[[B:.*]] = tile.shared at(8192) : !tile.shared<64x32xbf16, strides [1, 72]>
  %b = tile.shared at(8192) : !tile.shared<64x32xbf16, strides [1, 72]>
  // CHECK: tile.copy %{{.*}}[%{{.*}}, %{{.*}}] to %[[A]] : !tile.view<?x192xf32>, !tile.shared<64x32xf32>
  tile.copy %x[%i, %k] to %a : !tile.view<?x192xf32>, !tile.shared<64x32xf32>
  tile.copy %w[%i, %k] to %b : !tile.view<512x192xbf16>, !tile.shared<64x32xbf16, strides [1, 72]>
  // CHECK: tile.barrier
  tile.barrier
  // CHECK: tile.mma %[[A]], %[[B]] transpose_b into %{{.*}} : !tile.shared<64x32xf32>, !tile.shared<64x32xbf16, strides [1, 72]> -> !tile.tile<64x64xf32, #[[$BLOCKED]]>
  %s = tile.mma %a, %b transpose_b into %zero : !tile.shared<64x32xf32>, !tile.shared<64x32xbf16, strides [1, 72]> -> !tile.tile<64x64xf32, #blocked>
  // CHECK: tile.reduce maximum %{{.*}} axis(1) : !tile.tile<64x64xf32, #[[$BLOCKED]]> -> !tile.tile<64x1xf32, #[[$ROWS]]>
  %m = tile.reduce maximum %s axis(1) : !tile.tile<64x64xf32, #blocked> -> !tile.tile<64x1xf32, #rows>
  // CHECK: tile.broadcast %{{.*}} : !tile.tile<64x1xf32, #[[$ROWS]]> -> !tile.tile<64x64xf32, #[[$BLOCKED]]>
  %r = tile.broadcast %m : !tile.tile<64x1xf32, #rows> -> !tile.tile<64x64xf32, #blocked>
  return
}
