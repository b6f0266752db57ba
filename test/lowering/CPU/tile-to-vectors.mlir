// RUN: fovea-opt %s --split-input-file --pass-pipeline="builtin.module(func.func(fovea-tile-to-vectors{target=avx512}),canonicalize,cse)" | FileCheck %s
// RUN: fovea-opt %s --split-input-file --pass-pipeline="builtin.module(func.func(fovea-tile-to-vectors{target=avx2}),canonicalize,cse)" | FileCheck %s --check-prefix=AVX2

// A register block holds its sums over the whole depth: 2 x 16 outputs, four k written out.
// CHECK-LABEL: func.func @product
// CHECK: %[[SCRATCH:.*]] = memref.alloca() {alignment = 64 : i64} : memref<{{.*}}xf32>
// CHECK: scf.parallel
// CHECK: scf.for
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (vector<16xf32>, vector<16xf32>)
// CHECK-COUNT-4: vector.load %{{.*}}[%{{.*}}] {alignment = 64 : i64} : memref<{{.*}}xf32{{.*}}>, vector<16xf32>
// CHECK: scf.yield
// The bias is added where the sums are stored; rows past the end of y are left out, lanes never.
// CHECK: arith.addf
// CHECK-NEXT: vector.store
// CHECK-NOT: tile.
// AVX2-LABEL: func.func @product
// AVX2: scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
func.func @product(%x: memref<?x64xf32>, %w: memref<1x64x16xf32>, %bias: memref<16xf32>, %y: memref<?x16xf32>, %c1: index) {
  %c0 = arith.constant 0 : index
  %xv = tile.view %x axes(0, 1) : memref<?x64xf32> -> !tile.view<?x64xf32>
  %wv = tile.packed %w : memref<1x64x16xf32> -> !tile.view<16x64xf32>
  %bv = tile.view %bias axes(0) : memref<16xf32> -> !tile.view<1x16xf32>
  %yv = tile.view %y axes(0, 1) : memref<?x16xf32> -> !tile.view<?x16xf32>
  tile.kernel grid(%i) = (%c1) {
    %a = tile.load %xv[%c0, %c0] : !tile.view<?x64xf32> -> !tile.tile<8x64xf32>
    %b = tile.load %wv[%c0, %c0] : !tile.view<16x64xf32> -> !tile.tile<16x64xf32>
    %s = tile.dot %a, %b transpose_b block(2, 16) : !tile.tile<8x64xf32>, !tile.tile<16x64xf32> -> !tile.tile<8x16xf32>
    %r = tile.load %bv[%c0, %c0] : !tile.view<1x16xf32> -> !tile.tile<1x16xf32>
    %rb = tile.broadcast %r : !tile.tile<1x16xf32> -> !tile.tile<8x16xf32>
    %t = tile.map(%u = %s, %v = %rb) : (!tile.tile<8x16xf32>, !tile.tile<8x16xf32>) -> !tile.tile<8x16xf32> {
      %0 = arith.addf %u, %v : f32
      tile.yield %0 : f32
    }
    tile.store %t, %yv[%c0, %c0] : !tile.tile<8x16xf32>, !tile.view<?x16xf32>
  }
  return
}

// -----

// Integers are read as they lie, two k of i4 by one load of bytes; of one row each group's sums are scaled as a whole.
// CHECK-LABEL: func.func @integers
// CHECK: %[[NONE:.*]] = arith.constant dense<0.000000e+00> : vector<16xf32>
// CHECK: %[[SUM:.*]] = scf.for %[[K:.*]] = %{{.*}} to %{{.*}} step %c32 iter_args(%[[SOFAR:.*]] = %[[NONE]]) -> (vector<16xf32>)
// CHECK: %[[SCALES:.*]] = vector.load %{{.*}} : memref<{{.*}}xf16{{.*}}>, vector<16xf16>
// CHECK: %[[FACTORS:.*]] = arith.extf %[[SCALES]] : vector<16xf16> to vector<16xf32>
// CHECK: %[[GROUP:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[NONE]]) -> (vector<16xf32>)
// CHECK: %[[BYTES:.*]] = vector.load %{{.*}} {alignment = 16 : i64} : memref<{{.*}}xi8{{.*}}>, vector<16xi8>
// CHECK: %[[WORDS:.*]] = arith.extsi %[[BYTES]] : vector<16xi8> to vector<16xi32>
// CHECK: %[[UP:.*]] = arith.shli %[[WORDS]], %{{.*}} : vector<16xi32>
// CHECK: %[[EVEN:.*]] = arith.shrsi %[[UP]], %{{.*}} : vector<16xi32>
// CHECK: arith.sitofp %[[EVEN]] : vector<16xi32> to vector<16xf32>
// CHECK: %[[ODD:.*]] = arith.shrsi %[[WORDS]], %{{.*}} : vector<16xi32>
// CHECK: arith.sitofp %[[ODD]]
// CHECK: %[[SCALED:.*]] = arith.mulf %[[GROUP]], %[[FACTORS]] {{.*}}: vector<16xf32>
// CHECK: arith.addf %[[SCALED]], %[[SOFAR]]
// CHECK-NOT: tile.
// AVX2-LABEL: func.func @integers
// AVX2: vector.load {{.*}} {alignment = 8 : i64} : memref<{{.*}}xi8{{.*}}>, vector<8xi8>
func.func @integers(%x: memref<1x64xf32>, %w: memref<1x32x16xi8>, %s: memref<1x2x16xf16>, %y: memref<1x16xf32>, %c1: index) {
  %c0 = arith.constant 0 : index
  %xv = tile.view %x axes(0, 1) : memref<1x64xf32> -> !tile.view<1x64xf32>
  %wv = tile.packed %w : memref<1x32x16xi8> -> !tile.view<16x64xi4>
  %sv = tile.packed %s : memref<1x2x16xf16> -> !tile.view<16x2xf16>
  %yv = tile.view %y axes(0, 1) : memref<1x16xf32> -> !tile.view<1x16xf32>
  tile.kernel grid(%i) = (%c1) {
    %a = tile.load %xv[%c0, %c0] : !tile.view<1x64xf32> -> !tile.tile<1x64xf32>
    %q = tile.load %wv[%c0, %c0] : !tile.view<16x64xi4> -> !tile.tile<16x64xi4>
    %f = tile.load %sv[%c0, %c0] : !tile.view<16x2xf16> -> !tile.tile<16x2xf16>
    %b = tile.dequantize %q scales(%f) : !tile.tile<16x64xi4>, !tile.tile<16x2xf16> -> !tile.tile<16x64xf32>
    %t = tile.dot %a, %b transpose_b : !tile.tile<1x64xf32>, !tile.tile<16x64xf32> -> !tile.tile<1x16xf32>
    tile.store %t, %yv[%c0, %c0] : !tile.tile<1x16xf32>, !tile.view<1x16xf32>
  }
  return
}

// -----

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

// -----

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

// -----

// A product's accumulators are scaled while they are loaded, in place: one buffer for all steps.
// CHECK-LABEL: func.func @carried
// CHECK: scf.for
// CHECK-NOT: memref.alloca
// CHECK: arith.mulf
// CHECK: scf.for {{.*}} iter_args
func.func @carried(%p: memref<?x16xf32>, %v: memref<?x16xf32>, %y: memref<16x16xf32>, %n: index, %half: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0.0 : f32
  %pv = tile.view %p axes(0, 1) : memref<?x16xf32> -> !tile.view<?x16xf32>
  %vv = tile.view %v axes(0, 1) : memref<?x16xf32> -> !tile.view<?x16xf32>
  %yv = tile.view %y axes(0, 1) : memref<16x16xf32> -> !tile.view<16x16xf32>
  tile.kernel grid(%i) = (%c1) {
    %z = tile.splat %zero : !tile.tile<16x16xf32>
    %h = tile.splat %half : !tile.tile<16x16xf32>
    %s = scf.for %j = %c0 to %n step %c16 iter_args(%acc = %z) -> (!tile.tile<16x16xf32>) {
      %a = tile.load %pv[%j, %c0] : !tile.view<?x16xf32> -> !tile.tile<16x16xf32>
      %b = tile.load %vv[%j, %c0] : !tile.view<?x16xf32> -> !tile.tile<16x16xf32>
      %scaled = tile.map(%x = %acc, %f = %h) : (!tile.tile<16x16xf32>, !tile.tile<16x16xf32>) -> !tile.tile<16x16xf32> {
        %0 = arith.mulf %x, %f : f32
        tile.yield %0 : f32
      }
      %d = tile.dot %a, %b into %scaled block(4, 16) : !tile.tile<16x16xf32>, !tile.tile<16x16xf32> -> !tile.tile<16x16xf32>
      scf.yield %d : !tile.tile<16x16xf32>
    }
    tile.store %s, %yv[%c0, %c0] : !tile.tile<16x16xf32>, !tile.view<16x16xf32>
  }
  return
}

// -----

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
