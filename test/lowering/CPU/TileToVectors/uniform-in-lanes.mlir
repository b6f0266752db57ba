// RUN: fovea-opt %s --pass-pipeline="builtin.module(func.func(fovea-tile-to-vectors{target=avx512}),canonicalize,cse)" | FileCheck %s

// What does not differ from lane to lane stays a scalar; a store past the end is masked.
// CHECK-LABEL: func.func @uniform_in_lanes
// CHECK: scf.for %[[KEY:.*]] =
// CHECK: %[[KEEP:.*]] = memref.load %{{.*}}[%{{.*}}] : memref<?xi64>
// CHECK: arith.cmpi ne, %[[KEEP]], %{{.*}} : i64
// CHECK: vector.maskedstore
func.func @uniform_in_lanes(%s: memref<?x?xf32>, %keep: memref<?xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i64
  %low = arith.constant -1.0e30 : f32
  // Axes exchanged: queries are rows of the view and lie beside each other.
  %sv = tile.view %s axes(1, 0) : memref<?x?xf32> -> !tile.view<?x?xf32>
  tile.kernel grid(%i) = (%c1) {
    %t = tile.load %sv[%c0, %c0] : !tile.view<?x?xf32> -> !tile.tile<16x4xf32, lanes 0>
    %k = tile.iota axis(1) from %c0 : !tile.tile<16x4xi32, lanes 0>
    %m = tile.map(%x = %t, %j = %k) : (!tile.tile<16x4xf32, lanes 0>, !tile.tile<16x4xi32, lanes 0>) -> !tile.tile<16x4xf32, lanes 0> {
      %0 = arith.index_cast %j : i32 to index
      %1 = memref.load %keep[%0] : memref<?xi64>
      %2 = arith.cmpi ne, %1, %zero : i64
      %3 = arith.select %2, %x, %low : f32
      tile.yield %3 : f32
    }
    tile.store %m, %sv[%c0, %c0] : !tile.tile<16x4xf32, lanes 0>, !tile.view<?x?xf32>
  }
  return
}
