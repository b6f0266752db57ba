// RUN: fovea-opt %s --pass-pipeline="builtin.module(func.func(fovea-tile-to-vectors{target=avx512}),canonicalize,cse)" | FileCheck %s

// A constant that is named within the region is named within the loops.
// CHECK-LABEL: func.func @constant_in_region
// CHECK: memref.get_global @table : memref<4xi1>
// CHECK: memref.load %{{.*}}[%{{.*}}] : memref<4xi1>
// CHECK: vector.maskedstore
memref.global "private" constant @table : memref<4xi1> = dense<[true, false, true, true]>
func.func @constant_in_region(%s: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %low = arith.constant -1.0e30 : f32
  %sv = tile.view %s axes(1, 0) : memref<?x?xf32> -> !tile.view<?x?xf32>
  tile.kernel grid(%i) = (%c1) {
    %t = tile.load %sv[%c0, %c0] : !tile.view<?x?xf32> -> !tile.tile<16x4xf32, lanes 0>
    %k = tile.iota axis(1) from %c0 : !tile.tile<16x4xi32, lanes 0>
    %m = tile.map(%x = %t, %j = %k) : (!tile.tile<16x4xf32, lanes 0>, !tile.tile<16x4xi32, lanes 0>) -> !tile.tile<16x4xf32, lanes 0> {
      %0 = arith.index_cast %j : i32 to index
      %1 = memref.get_global @table : memref<4xi1>
      %2 = memref.load %1[%0] : memref<4xi1>
      %3 = arith.select %2, %x, %low : f32
      tile.yield %3 : f32
    }
    tile.store %m, %sv[%c0, %c0] : !tile.tile<16x4xf32, lanes 0>, !tile.view<?x?xf32>
  }
  return
}
