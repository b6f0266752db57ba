// RUN: fovea-opt %s --fovea-assign-roles --split-input-file | FileCheck %s
// RUN: fovea-opt %s --fovea-assign-roles=limit=100000 --split-input-file | FileCheck %s --check-prefix=SMALL

// Two loops one behind the other share a ring and go on counting. The producer does the rounds of both with what copies
// need and no more: no tile, nothing that a loop carries but the count. Boxes of the operand end at its length, operand 2.
// CHECK-LABEL: func.func private @loops
// CHECK-SAME: fovea.persistent, fovea.tensor_maps = [#tile.tensor_map<operand = 0, axis = 1, rows = 64, columns = 64, swizzle = 128, length = 2>], fovea.threads = 384 : i32
// SMALL-LABEL: func.func private @loops
func.func private @loops(%k: memref<2x?x64xbf16>, %y: memref<?x64xf32>, %n: index, %part: index, %parts: index) attributes {fovea.threads = 256 : i32} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant 0.0 : f32
  %kv = tile.view %k at(%c0) axes(1, 2) length(%n) : memref<2x?x64xbf16> -> !tile.view<?x64xbf16>
  %yv = tile.view %y axes(0, 1) : memref<?x64xf32> -> !tile.view<?x64xf32>
  tile.kernel grid(%i) = (%n) {
    // CHECK: tile.kernel
    // CHECK: %[[RING:.*]] = tile.shared stages(4) guarded : !tile.shared<64x64xbf16, swizzle 128>
    // CHECK: %[[Q:.*]] = tile.shared : !tile.shared<128x64xbf16, swizzle 128>
    // CHECK-NOT: tile.shared
    %q = tile.shared : !tile.shared<128x64xbf16, swizzle 128>
    %a = tile.shared : !tile.shared<64x64xbf16, swizzle 128>
    %b = tile.shared : !tile.shared<64x64xbf16, swizzle 128>
    %row = arith.muli %i, %c128 : index
    %half = arith.minui %row, %n : index
    // CHECK: tile.roles producer(%[[FIRST:.*]]) registers(40) {
    // CHECK-NOT: !tile.tile
    // CHECK: arith.muli
    // CHECK: %[[HALF:.*]] = arith.minui
    // CHECK: %[[MID:.*]] = scf.for %[[J:.*]] = %c0 to %[[HALF]] step %c64 iter_args(%[[N:.*]] = %[[FIRST]]) -> (index) {
    // CHECK-NEXT: %[[SLOT:.*]] = tile.acquire %[[RING]][%[[N]]]
    // CHECK-NEXT: tile.copy %{{.*}}[%[[J]], %c0] to %[[SLOT]] async map(0)
    // CHECK-NEXT: tile.publish %[[RING]][%[[N]]]
    // CHECK-NEXT: %[[NEXT:.*]] = arith.addi %[[N]], %c1
    // CHECK-NEXT: scf.yield %[[NEXT]] : index
    // CHECK: %[[END:.*]] = scf.for %{{.*}} = %[[HALF]] to %{{.*}} step %c64 iter_args(%{{.*}} = %[[MID]]) -> (index) {
    // CHECK: tile.copy {{.*}} async map(0)
    // CHECK: tile.yield %[[END]] : index
    // CHECK: } consumer(%[[FIRST2:.*]]) registers(232) {
    // CHECK: tile.splat
    // CHECK: %[[S:.*]]:2 = scf.for %{{.*}} iter_args(%[[SUM:.*]] = %{{.*}}, %[[M:.*]] = %[[FIRST2]])
    // CHECK-NOT: tile.copy
    // CHECK: %[[FULL:.*]] = tile.await %[[RING]][%[[M]]]
    // CHECK-NEXT: %[[MORE:.*]] = tile.mma %[[Q]], %[[FULL]] transpose_b into %[[SUM]]
    // CHECK-NEXT: tile.release %[[RING]][%[[M]]]
    // CHECK: scf.yield %[[MORE]], %{{.*}} : !tile.tile<128x64xf32>, index
    // CHECK: %[[T:.*]]:2 = scf.for {{.*}} iter_args(%{{.*}} = %[[S]]#0, %{{.*}} = %[[S]]#1)
    // CHECK: tile.store %[[T]]#0
    // CHECK: tile.yield %[[T]]#1 : index
    // SMALL: tile.shared stages(4) guarded
    %zeros = tile.splat %zero : !tile.tile<128x64xf32>
    %s = scf.for %j = %c0 to %half step %c64 iter_args(%sum = %zeros) -> (!tile.tile<128x64xf32>) {
      tile.copy %kv[%j, %c0] to %a : !tile.view<?x64xbf16>, !tile.shared<64x64xbf16, swizzle 128>
      %more = tile.mma %q, %a transpose_b into %sum atom(m64k16) : !tile.shared<128x64xbf16, swizzle 128>, !tile.shared<64x64xbf16, swizzle 128> -> !tile.tile<128x64xf32>
      scf.yield %more : !tile.tile<128x64xf32>
    }
    %t = scf.for %j = %half to %n step %c64 iter_args(%sum = %s) -> (!tile.tile<128x64xf32>) {
      tile.copy %kv[%j, %c0] to %b : !tile.view<?x64xbf16>, !tile.shared<64x64xbf16, swizzle 128>
      %more = tile.mma %q, %b transpose_b into %sum atom(m64k16) : !tile.shared<128x64xbf16, swizzle 128>, !tile.shared<64x64xbf16, swizzle 128> -> !tile.tile<128x64xf32>
      scf.yield %more : !tile.tile<128x64xf32>
    }
    tile.store %t, %yv[%row, %c0] : !tile.tile<128x64xf32>, !tile.view<?x64xf32>
  }
  return
}

// -----

// Loops in branches of a loop: the count goes through both sides. Rows of 40 bytes are no multiple of 16, so all threads of
// the producer copy; what a loop carries besides stays with the consumer. Three slots fit where four do not.
// CHECK-LABEL: func.func private @branches
// CHECK-NOT: fovea.tensor_maps
// SMALL-LABEL: func.func private @branches
func.func private @branches(%k: memref<?x20xbf16>, %n: index, %any: i1, %sum0: !tile.tile<192x512xf32>) attributes {fovea.threads = 384 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c512 = arith.constant 512 : index
  %kv = tile.view %k axes(0, 1) : memref<?x20xbf16> -> !tile.view<?x20xbf16>
  tile.kernel grid(%i) = (%n) {
    %b = tile.shared : !tile.shared<512x32xbf16, swizzle 64>
    %q = tile.shared : !tile.shared<192x32xbf16, swizzle 64>
    // CHECK: tile.shared stages(4) guarded
    // SMALL: tile.shared stages(3) guarded
    // CHECK: tile.roles producer(%[[FIRST:.*]]) registers(56) {
    // CHECK: %[[END:.*]] = scf.for %{{.*}} iter_args(%[[N:.*]] = %[[FIRST]]) -> (index) {
    // CHECK-NEXT: %[[BOTH:.*]] = scf.if %{{.*}} -> (index) {
    // CHECK: %[[INNER:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[N]]) -> (index) {
    // CHECK: tile.copy {{.*}} async :
    // CHECK: scf.yield %[[INNER]] : index
    // CHECK-NEXT: } else {
    // CHECK-NEXT: scf.yield %[[N]] : index
    // CHECK: scf.yield %[[BOTH]] : index
    // CHECK: tile.yield %[[END]] : index
    // CHECK: } consumer(%[[FIRST2:.*]]) registers(152) {
    // CHECK: scf.for %{{.*}} iter_args(%{{.*}} = %{{.*}}, %[[M:.*]] = %[[FIRST2]])
    // CHECK: %[[S:.*]]:2 = scf.if %{{.*}} -> (!tile.tile<192x512xf32>, index) {
    // CHECK: } else {
    // CHECK: scf.yield %{{.*}}, %[[M]] : !tile.tile<192x512xf32>, index
    %r = scf.for %p = %c0 to %c8 step %c1 iter_args(%carried = %sum0) -> (!tile.tile<192x512xf32>) {
      %s = scf.if %any -> (!tile.tile<192x512xf32>) {
        %t = scf.for %j = %c0 to %n step %c512 iter_args(%sum = %carried) -> (!tile.tile<192x512xf32>) {
          tile.copy %kv[%j, %c0] to %b : !tile.view<?x20xbf16>, !tile.shared<512x32xbf16, swizzle 64>
          %read = tile.get %b : !tile.shared<512x32xbf16, swizzle 64> -> !tile.tile<512x32xbf16>
          scf.yield %sum : !tile.tile<192x512xf32>
        }
        scf.yield %t : !tile.tile<192x512xf32>
      } else {
        scf.yield %carried : !tile.tile<192x512xf32>
      }
      scf.yield %s : !tile.tile<192x512xf32>
    }
  }
  return
}

// -----

// One warpgroup hides its waits behind those of other blocks.
// CHECK-LABEL: func.func private @one
// CHECK-NOT: tile.roles
func.func private @one(%k: memref<?x64xbf16>, %n: index) attributes {fovea.threads = 128 : i32} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %kv = tile.view %k axes(0, 1) : memref<?x64xbf16> -> !tile.view<?x64xbf16>
  tile.kernel grid(%i) = (%n) {
    %b = tile.shared : !tile.shared<64x64xbf16, swizzle 128>
    scf.for %j = %c0 to %n step %c64 {
      tile.copy %kv[%j, %c0] to %b : !tile.view<?x64xbf16>, !tile.shared<64x64xbf16, swizzle 128>
      %read = tile.get %b : !tile.shared<64x64xbf16, swizzle 128> -> !tile.tile<64x64xbf16>
    }
  }
  return
}

// -----

// A producer would read ahead of what the block writes before.
// CHECK-LABEL: func.func private @writes
// CHECK-NOT: tile.roles
func.func private @writes(%k: memref<?x64xbf16>, %n: index, %new: !tile.tile<64x64xbf16>) attributes {fovea.threads = 256 : i32} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %kv = tile.view %k axes(0, 1) : memref<?x64xbf16> -> !tile.view<?x64xbf16>
  tile.kernel grid(%i) = (%n) {
    %b = tile.shared : !tile.shared<64x64xbf16, swizzle 128>
    tile.store %new, %kv[%i, %c0] : !tile.tile<64x64xbf16>, !tile.view<?x64xbf16>
    scf.for %j = %c0 to %n step %c64 {
      tile.copy %kv[%j, %c0] to %b : !tile.view<?x64xbf16>, !tile.shared<64x64xbf16, swizzle 128>
      %read = tile.get %b : !tile.shared<64x64xbf16, swizzle 128> -> !tile.tile<64x64xbf16>
    }
  }
  return
}

// -----

// Where the loop begins is known to a tile alone.
// CHECK-LABEL: func.func private @found
// CHECK-NOT: tile.roles
func.func private @found(%k: memref<?x64xbf16>, %n: index, %which: !tile.tile<1x1xi32>) attributes {fovea.threads = 256 : i32} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %kv = tile.view %k axes(0, 1) : memref<?x64xbf16> -> !tile.view<?x64xbf16>
  tile.kernel grid(%i) = (%n) {
    %b = tile.shared : !tile.shared<64x64xbf16, swizzle 128>
    %0 = tile.extract %which : !tile.tile<1x1xi32>
    %first = arith.index_cast %0 : i32 to index
    scf.for %j = %first to %n step %c64 {
      tile.copy %kv[%j, %c0] to %b : !tile.view<?x64xbf16>, !tile.shared<64x64xbf16, swizzle 128>
      %read = tile.get %b : !tile.shared<64x64xbf16, swizzle 128> -> !tile.tile<64x64xbf16>
    }
  }
  return
}
