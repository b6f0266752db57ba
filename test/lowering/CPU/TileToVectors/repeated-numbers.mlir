// RUN: fovea-opt %s --pass-pipeline="builtin.module(func.func(fovea-tile-to-vectors{target=avx512}),canonicalize,cse)" | FileCheck %s

// Numbers that count along one axis, repeated along the other: computed where they are read, the row's
// as a scalar, the lanes' as a vector.
// CHECK-LABEL: func.func @repeated_numbers
// CHECK: %[[LANES:.*]] = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]> : vector<16xi32>
// CHECK-NOT: memref.alloca
// CHECK: scf.for %[[ROW:.*]] =
// CHECK-NEXT: %[[NUMBER:.*]] = arith.index_cast %[[ROW]] : index to i32
// CHECK-NEXT: %[[ALL:.*]] = vector.broadcast %[[NUMBER]] : i32 to vector<16xi32>
// CHECK-NEXT: arith.muli %[[ALL]], %[[LANES]] : vector<16xi32>
// CHECK: vector.store
func.func @repeated_numbers(%y: memref<4x16xi32>, %c1: index) {
  %c0 = arith.constant 0 : index
  %yv = tile.view %y axes(0, 1) : memref<4x16xi32> -> !tile.view<4x16xi32>
  tile.kernel grid(%i) = (%c1) {
    %rows = tile.iota axis(0) from %c0 : !tile.tile<4x1xi32>
    %columns = tile.iota axis(1) from %c0 : !tile.tile<1x16xi32>
    %r = tile.broadcast %rows : !tile.tile<4x1xi32> -> !tile.tile<4x16xi32>
    %c = tile.broadcast %columns : !tile.tile<1x16xi32> -> !tile.tile<4x16xi32>
    %t = tile.map(%a = %r, %b = %c) : (!tile.tile<4x16xi32>, !tile.tile<4x16xi32>) -> !tile.tile<4x16xi32> {
      %0 = arith.muli %a, %b : i32
      tile.yield %0 : i32
    }
    tile.store %t, %yv[%c0, %c0] : !tile.tile<4x16xi32>, !tile.view<4x16xi32>
  }
  return
}
