// RUN: fovea-opt %s --fovea-specialize-warps | FileCheck %s
// RUN: fovea-opt %s --fovea-specialize-warps=limit=100000 | FileCheck %s --check-prefix=SMALL

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
    // CHECK: tile.warp_specialize producer(%[[FIRST:.*]]) registers(40) {
    // CHECK-NOT: !tile.tile
    // CHECK: arith.muli
    // CHECK: %[[HALF:.*]] = arith.minui
    // CHECK: %[[MID:.*]] = scf.for %[[J:.*]] = %c0 to %[[HALF]] step %c64 iter_args(%[[N:.*]] = %[[FIRST]]) -> (index) {
    // CHECK-NEXT: %[[SLOT:.*]] = tile.producer_acquire %[[RING]][%[[N]]]
    // CHECK-NEXT: tile.copy %{{.*}}[%[[J]], %c0] to %[[SLOT]] async map(0)
    // CHECK-NEXT: tile.producer_commit %[[RING]][%[[N]]]
    // CHECK-NEXT: %[[NEXT:.*]] = arith.addi %[[N]], %c1
    // CHECK-NEXT: scf.yield %[[NEXT]] : index
    // CHECK: %[[END:.*]] = scf.for %{{.*}} = %[[HALF]] to %{{.*}} step %c64 iter_args(%{{.*}} = %[[MID]]) -> (index) {
    // CHECK: tile.copy {{.*}} async map(0)
    // CHECK: tile.yield %[[END]] : index
    // CHECK: } consumer(%[[FIRST2:.*]]) registers(232) {
    // CHECK: tile.splat
    // CHECK: %[[S:.*]]:2 = scf.for %{{.*}} iter_args(%[[SUM:.*]] = %{{.*}}, %[[M:.*]] = %[[FIRST2]])
    // CHECK-NOT: tile.copy
    // CHECK: %[[FULL:.*]] = tile.consumer_wait %[[RING]][%[[M]]]
    // CHECK-NEXT: %[[MORE:.*]] = tile.mma %[[Q]], %[[FULL]] transpose_b into %[[SUM]]
    // CHECK-NEXT: tile.consumer_release %[[RING]][%[[M]]]
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
