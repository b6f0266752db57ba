// RUN: fovea-opt %s --fovea-stage-operands --split-input-file --verify-diagnostics | FileCheck %s
// RUN: fovea-opt %s --fovea-stage-operands=chunk-bytes=4096 --split-input-file --verify-diagnostics | FileCheck %s --check-prefix=SMALL

// Two loads: a loop over k, as many at a time as 16 KiB hold. The left operand lies in rows, the right one in columns, both
// padded by 16 bytes.
// CHECK-LABEL: func.func private @linear
// SMALL-LABEL: func.func private @linear
func.func private @linear(%x: memref<?x192xf32>, %w: memref<32x96x16x2xbf16>, %y: memref<?x512xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %xv = tile.view %x axes(0, 1) : memref<?x192xf32> -> !tile.view<?x192xf32>
  %wv = tile.packed %w : memref<32x96x16x2xbf16> -> !tile.view<512x192xbf16>
  %yv = tile.view %y axes(0, 1) : memref<?x512xf32> -> !tile.view<?x512xf32>
  tile.kernel grid(%i, %j) = (%n, %c8) {
    // CHECK: %[[W:.*]] = tile.shared : !tile.shared<48x32xbf16, strides [1, 56]>
    // CHECK: %[[X:.*]] = tile.shared : !tile.shared<64x32xf32, strides [36, 1]>
    // CHECK-NOT: tile.load
    // CHECK: %[[ZERO:.*]] = tile.splat %{{.*}} : !tile.tile<64x48xf32>
    // CHECK: %[[END:.*]] = arith.constant 192 : index
    // CHECK: %[[STEP:.*]] = arith.constant 32 : index
    // CHECK: %[[SUM:.*]] = scf.for %{{.*}} = %{{.*}} to %[[END]] step %[[STEP]] iter_args(%[[SOFAR:.*]] = %[[ZERO]])
    // CHECK: tile.copy %{{.*}}[%{{.*}}, %{{.*}}] to %[[X]]
    // CHECK: tile.copy %{{.*}}[%{{.*}}, %{{.*}}] to %[[W]]
    // CHECK: tile.mma %[[X]], %[[W]] transpose_b into %[[SOFAR]]
    // CHECK: tile.store %[[SUM]]
    // SMALL: tile.shared : !tile.shared<64x8xf32, strides [12, 1]>
    %a = tile.load %xv[%i, %c0] : !tile.view<?x192xf32> -> !tile.tile<64x192xf32>
    %b = tile.load %wv[%j, %c0] : !tile.view<512x192xbf16> -> !tile.tile<48x192xbf16>
    %s = tile.dot %a, %b transpose_b : !tile.tile<64x192xf32>, !tile.tile<48x192xbf16> -> !tile.tile<64x48xf32>
    tile.store %s, %yv[%i, %j] : !tile.tile<64x48xf32>, !tile.view<?x512xf32>
  }
  return
}

// -----

// What is left of k stands behind the loop.
// CHECK-LABEL: func.func private @rest
func.func private @rest(%x: memref<?x72xf32>, %w: memref<64x72xf32>, %y: memref<?x64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %xv = tile.view %x axes(0, 1) : memref<?x72xf32> -> !tile.view<?x72xf32>
  %wv = tile.view %w axes(0, 1) : memref<64x72xf32> -> !tile.view<64x72xf32>
  %yv = tile.view %y axes(0, 1) : memref<?x64xf32> -> !tile.view<?x64xf32>
  tile.kernel grid(%i) = (%n) {
    // CHECK: %[[END:.*]] = arith.constant 64 : index
    // CHECK: scf.for %{{.*}} = %{{.*}} to %[[END]]
    // CHECK: tile.mma %{{.*}} : !tile.shared<64x32xf32, strides [36, 1]>, !tile.shared<64x32xf32, strides [1, 68]>
    // CHECK: }
    // CHECK: tile.mma %{{.*}} : !tile.shared<64x8xf32, strides [12, 1]>, !tile.shared<64x8xf32, strides [1, 68]>
    %a = tile.load %xv[%i, %c0] : !tile.view<?x72xf32> -> !tile.tile<64x72xf32>
    %b = tile.load %wv[%c0, %c0] : !tile.view<64x72xf32> -> !tile.tile<64x72xf32>
    %s = tile.dot %a, %b transpose_b : !tile.tile<64x72xf32>, !tile.tile<64x72xf32> -> !tile.tile<64x64xf32>
    tile.store %s, %yv[%i, %c0] : !tile.tile<64x64xf32>, !tile.view<?x64xf32>
  }
  return
}

// -----

// One row uses each weight once: weights are read where they lie.
// CHECK-LABEL: func.func private @one_row
func.func private @one_row(%x: memref<?x192xf32>, %w: memref<32x192x16xf32>, %y: memref<?x512xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %xv = tile.view %x axes(0, 1) : memref<?x192xf32> -> !tile.view<?x192xf32>
  %wv = tile.packed %w : memref<32x192x16xf32> -> !tile.view<512x192xf32>
  %yv = tile.view %y axes(0, 1) : memref<?x512xf32> -> !tile.view<?x512xf32>
  tile.kernel grid(%i) = (%n) {
    // CHECK: %[[X:.*]] = tile.shared : !tile.shared<1x192xf32>
    // CHECK: tile.copy %{{.*}} to %[[X]]
    // CHECK: %[[W:.*]] = tile.load %{{.*}} : !tile.view<512x192xf32> -> !tile.tile<64x192xf32>
    // CHECK: tile.mma %[[X]], %[[W]] transpose_b into
    %a = tile.load %xv[%i, %c0] : !tile.view<?x192xf32> -> !tile.tile<1x192xf32>
    %b = tile.load %wv[%i, %c0] : !tile.view<512x192xf32> -> !tile.tile<64x192xf32>
    %s = tile.dot %a, %b transpose_b : !tile.tile<1x192xf32>, !tile.tile<64x192xf32> -> !tile.tile<1x64xf32>
    tile.store %s, %yv[%i, %c0] : !tile.tile<1x64xf32>, !tile.view<?x512xf32>
  }
  return
}

// -----

// A computed tile lies in shared memory once, where it is computed, however many products read it; one whose k may lie
// outside of the other operand's view is zero there.
// CHECK-LABEL: func.func private @attention
func.func private @attention(%q: memref<?x32xf32>, %k: memref<?x32xf32>, %v: memref<?x32xf32>, %o: memref<?x32xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %two = arith.constant 2.0 : f32
  %qv = tile.view %q axes(0, 1) : memref<?x32xf32> -> !tile.view<?x32xf32>
  %kv = tile.view %k axes(0, 1) : memref<?x32xf32> -> !tile.view<?x32xf32>
  %vv = tile.view %v axes(0, 1) length(%n) : memref<?x32xf32> -> !tile.view<?x32xf32>
  %ov = tile.view %o axes(0, 1) : memref<?x32xf32> -> !tile.view<?x32xf32>
  tile.kernel grid(%i) = (%n) {
    // CHECK: %[[SCALED:.*]] = tile.map
    // CHECK: tile.put %[[SCALED]] to %[[Q:.*]] : !tile.tile<64x32xf32>, !tile.shared<64x32xf32, strides [36, 1]>
    %a = tile.load %qv[%i, %c0] : !tile.view<?x32xf32> -> !tile.tile<64x32xf32>
    %b = tile.map(%e = %a) : (!tile.tile<64x32xf32>) -> !tile.tile<64x32xf32> {
      %0 = arith.mulf %e, %two : f32
      tile.yield %0 : f32
    }
    %zero = arith.constant 0.0 : f32
    %start = tile.splat %zero : !tile.tile<64x32xf32>
    // CHECK: scf.for [[J:%[a-z0-9]+]] = %
    %sum = scf.for %j = %c0 to %n step %c64 iter_args(%acc = %start) -> (!tile.tile<64x32xf32>) {
      // CHECK: tile.copy %{{.*}}[[[J]]
      // CHECK: %[[S:.*]] = tile.mma %[[Q]], %{{.*}} transpose_b into
      %kt = tile.load %kv[%j, %c0] : !tile.view<?x32xf32> -> !tile.tile<64x32xf32>
      %s = tile.dot %b, %kt transpose_b : !tile.tile<64x32xf32>, !tile.tile<64x32xf32> -> !tile.tile<64x64xf32>
      // CHECK: %[[LEFT:.*]] = arith.subi %{{.*}}, [[J]] : index
      // CHECK: %[[ENDS:.*]] = arith.cmpi slt, %[[LEFT]], %{{.*}} : index
      // CHECK: %[[PUT:.*]] = scf.if %[[ENDS]]
      // CHECK: %[[LIMIT:.*]] = arith.index_cast %[[LEFT]] : index to i32
      // CHECK: %[[AT:.*]] = tile.iota axis(1) from %{{.*}} : !tile.tile<64x64xi32>
      // CHECK: %[[CLEAR:.*]] = tile.map(%[[X:.*]] = %[[S]], %[[K:.*]] = %[[AT]])
      // CHECK: arith.cmpi slt, %[[K]], %[[LIMIT]] : i32
      // CHECK: scf.yield %[[CLEAR]]
      // CHECK: scf.yield %[[S]]
      // CHECK: tile.put %[[PUT]] to
      // CHECK: tile.mma
      %vt = tile.load %vv[%j, %c0] : !tile.view<?x32xf32> -> !tile.tile<64x32xf32>
      %next = tile.dot %s, %vt into %acc : !tile.tile<64x64xf32>, !tile.tile<64x32xf32> -> !tile.tile<64x32xf32>
      scf.yield %next : !tile.tile<64x32xf32>
    }
    // CHECK-NOT: tile.put %[[SCALED]]
    %kt = tile.load %kv[%c0, %c0] : !tile.view<?x32xf32> -> !tile.tile<64x32xf32>
    %again = tile.dot %b, %kt transpose_b : !tile.tile<64x32xf32>, !tile.tile<64x32xf32> -> !tile.tile<64x64xf32>
    %m = tile.reduce sum %again axis(1) : !tile.tile<64x64xf32> -> !tile.tile<64x1xf32>
    tile.store %m, %ov[%i, %c0] : !tile.tile<64x1xf32>, !tile.view<?x32xf32>
    tile.store %sum, %ov[%i, %c0] : !tile.tile<64x32xf32>, !tile.view<?x32xf32>
  }
  return
}

// -----

// Where only one of two views ends, the other may hold what is no number: such k are left out by reading in place.
// CHECK-LABEL: func.func private @opposite
func.func private @opposite(%x: memref<6x20xf32>, %z: memref<18x24xf32>, %y: memref<6x18xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %xv = tile.view %x axes(0, 1) : memref<6x20xf32> -> !tile.view<6x20xf32>
  %zv = tile.view %z axes(0, 1) : memref<18x24xf32> -> !tile.view<18x24xf32>
  %yv = tile.view %y axes(0, 1) : memref<6x18xf32> -> !tile.view<6x18xf32>
  tile.kernel grid(%i) = (%n) {
    // CHECK-NOT: tile.copy
    // CHECK: tile.mma %{{.*}}, %{{.*}} transpose_b into %{{.*}} : !tile.tile<6x24xf32>, !tile.tile<18x24xf32> -> !tile.tile<6x18xf32>
    %u = tile.load %xv[%c0, %c0] : !tile.view<6x20xf32> -> !tile.tile<6x24xf32>
    %v = tile.load %zv[%c0, %c0] : !tile.view<18x24xf32> -> !tile.tile<18x24xf32>
    %p = tile.dot %u, %v transpose_b : !tile.tile<6x24xf32>, !tile.tile<18x24xf32> -> !tile.tile<6x18xf32>
    tile.store %p, %yv[%c0, %c0] : !tile.tile<6x18xf32>, !tile.view<6x18xf32>
  }
  return
}

// -----

func.func private @outside(%a: !tile.tile<4x8xf32>) {
  // expected-error @below {{expects to stand in a tile.kernel}}
  %s = tile.dot %a, %a transpose_b : !tile.tile<4x8xf32>, !tile.tile<4x8xf32> -> !tile.tile<4x4xf32>
  return
}

// -----

// Integers become floats on their way to shared memory, with the scales of their groups.
// CHECK-LABEL: func.func private @integers
func.func private @integers(%x: memref<?x192xf32>, %w: memref<16x6x32x16xi8>, %s: memref<16x6x32xf16>, %y: memref<?x512xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %xv = tile.view %x axes(0, 1) : memref<?x192xf32> -> !tile.view<?x192xf32>
  %wv = tile.packed %w : memref<16x6x32x16xi8> -> !tile.view<512x192xi4>
  // CHECK: %[[SCALES:.*]] = tile.packed %{{.*}} : memref<16x6x32xf16> -> !tile.view<512x6xf16>
  %sv = tile.packed %s : memref<16x6x32xf16> -> !tile.view<512x6xf16>
  %yv = tile.view %y axes(0, 1) : memref<?x512xf32> -> !tile.view<?x512xf32>
  tile.kernel grid(%i, %j) = (%n, %c8) {
    // CHECK: %[[W:.*]] = tile.shared : !tile.shared<48x32xf32, strides [1, 52]>
    // CHECK-NOT: tile.load
    // CHECK-NOT: tile.dequantize
    // CHECK: scf.for
    // CHECK: tile.copy %{{.*}}[%{{.*}}, %{{.*}}] scales(%[[SCALES]] : !tile.view<512x6xf16>) to %[[W]] : !tile.view<512x192xi4>, !tile.shared<48x32xf32, strides [1, 52]>
    // CHECK: tile.mma
    %a = tile.load %xv[%i, %c0] : !tile.view<?x192xf32> -> !tile.tile<64x192xf32>
    %q = tile.load %wv[%j, %c0] : !tile.view<512x192xi4> -> !tile.tile<48x192xi4>
    %f = tile.load %sv[%j, %c0] : !tile.view<512x6xf16> -> !tile.tile<48x6xf16>
    %b = tile.dequantize %q scales(%f) : !tile.tile<48x192xi4>, !tile.tile<48x6xf16> -> !tile.tile<48x192xf32>
    %r = tile.dot %a, %b transpose_b : !tile.tile<64x192xf32>, !tile.tile<48x192xf32> -> !tile.tile<64x48xf32>
    tile.store %r, %yv[%i, %j] : !tile.tile<64x48xf32>, !tile.view<?x512xf32>
  }
  return
}

// -----

// Of one row they are read where they lie: whole groups of them.
// CHECK-LABEL: func.func private @integers_of_one_row
func.func private @integers_of_one_row(%x: memref<1x192xf32>, %w: memref<16x6x32x16xi8>, %s: memref<16x6x32xf16>, %y: memref<1x512xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %xv = tile.view %x axes(0, 1) : memref<1x192xf32> -> !tile.view<1x192xf32>
  %wv = tile.packed %w : memref<16x6x32x16xi8> -> !tile.view<512x192xi4>
  %sv = tile.packed %s : memref<16x6x32xf16> -> !tile.view<512x6xf16>
  %yv = tile.view %y axes(0, 1) : memref<1x512xf32> -> !tile.view<1x512xf32>
  tile.kernel grid(%j) = (%c4) {
    // CHECK: tile.copy {{.*}} !tile.shared<1x192xf32
    // CHECK: %[[Q:.*]] = tile.load %{{.*}} : !tile.view<512x192xi4> -> !tile.tile<128x192xi4>
    // CHECK: %[[F:.*]] = tile.load %{{.*}} : !tile.view<512x6xf16> -> !tile.tile<128x6xf16>
    // CHECK: %[[B:.*]] = tile.dequantize %[[Q]] scales(%[[F]])
    // CHECK: tile.mma %{{.*}}, %[[B]] transpose_b
    %a = tile.load %xv[%c0, %c0] : !tile.view<1x192xf32> -> !tile.tile<1x192xf32>
    %q = tile.load %wv[%j, %c0] : !tile.view<512x192xi4> -> !tile.tile<128x192xi4>
    %f = tile.load %sv[%j, %c0] : !tile.view<512x6xf16> -> !tile.tile<128x6xf16>
    %b = tile.dequantize %q scales(%f) : !tile.tile<128x192xi4>, !tile.tile<128x6xf16> -> !tile.tile<128x192xf32>
    %r = tile.dot %a, %b transpose_b : !tile.tile<1x192xf32>, !tile.tile<128x192xf32> -> !tile.tile<1x128xf32>
    tile.store %r, %yv[%c0, %j] : !tile.tile<1x128xf32>, !tile.view<1x512xf32>
  }
  return
}

// -----

func.func private @parts_of_integers(%x: memref<?x192xf32>, %w: memref<16x6x32x16xi8>, %y: memref<?x512xf32>, %n: index) {
  %c32 = arith.constant 32 : index
  %one = arith.constant 1.0 : f16
  %xv = tile.view %x axes(0, 1) : memref<?x192xf32> -> !tile.view<?x192xf32>
  %wv = tile.packed %w : memref<16x6x32x16xi8> -> !tile.view<512x192xi4>
  %yv = tile.view %y axes(0, 1) : memref<?x512xf32> -> !tile.view<?x512xf32>
  tile.kernel grid(%i, %j) = (%n, %n) {
    %a = tile.load %xv[%i, %c32] : !tile.view<?x192xf32> -> !tile.tile<64x96xf32>
    %q = tile.load %wv[%j, %c32] : !tile.view<512x192xi4> -> !tile.tile<48x96xi4>
    %s = tile.splat %one : !tile.tile<48x3xf16>
    // expected-error @below {{expects whole rows of integers, and of scales, that tile.load gives, and to be the right operand of products with transpose_b}}
    %b = tile.dequantize %q scales(%s) : !tile.tile<48x96xi4>, !tile.tile<48x3xf16> -> !tile.tile<48x96xf32>
    %r = tile.dot %a, %b transpose_b : !tile.tile<64x96xf32>, !tile.tile<48x96xf32> -> !tile.tile<64x48xf32>
    tile.store %r, %yv[%i, %j] : !tile.tile<64x48xf32>, !tile.view<?x512xf32>
  }
  return
}
