// RUN: fovea-opt %s --fovea-overlap-products | FileCheck %s

// Of a guarded ring the late product awaits the slot of the round before, and releases it when it is done; the first
// product's slot is free as soon as that one is.
// CHECK-LABEL: func.func private @handed
func.func private @handed(%q: memref<?x64xbf16>, %zeros: !tile.tile<128x64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %half = arith.constant 0.5 : f32
  tile.kernel grid(%i) = (%n) {
    // CHECK: %[[QS:.*]] = tile.shared : !tile.shared<128x64xbf16, swizzle 128>
    // CHECK: %[[KEYS:.*]] = tile.shared stages(4) guarded
    // CHECK: %[[VALUES:.*]] = tile.shared stages(4) guarded
    %qs = tile.shared : !tile.shared<128x64xbf16, swizzle 128>
    %keys = tile.shared stages(4) guarded : !tile.shared<64x64xbf16, swizzle 128>
    %values = tile.shared stages(4) guarded : !tile.shared<64x64xbf16, swizzle 128>
    tile.warp_specialize producer(%p) registers(24) {
      tile.yield %p : index
    } consumer(%first) registers(240) {
      // The first round leaves its values alone.
      // CHECK: consumer(%[[FIRST:.*]]) registers(240)
      // CHECK: scf.if
      // CHECK: tile.consumer_wait %[[KEYS]][%[[FIRST]]]
      // CHECK-NEXT: tile.mma %[[QS]]
      // CHECK-NEXT: tile.consumer_release %[[KEYS]][%[[FIRST]]]
      // CHECK-NOT: %[[VALUES]]
      // CHECK: scf.for {{.*}} iter_args(%[[O:.*]] = %{{.*}}, %[[M:.*]] = %{{.*}}, %[[P:.*]] = %{{.*}}, %[[BEFORE:.*]] = %[[FIRST]])
      // CHECK: %[[K:.*]] = tile.consumer_wait %[[KEYS]][%[[M]]]
      // CHECK-NEXT: %[[BEGUN:.*]] = tile.mma %[[QS]], %[[K]] transpose_b into %{{.*}} atom(m64k16) async
      // CHECK-NEXT: %[[V:.*]] = tile.consumer_wait %[[VALUES]][%[[BEFORE]]]
      // CHECK-NEXT: %[[LATE:.*]] = tile.mma %[[P]], %[[V]] into %[[O]] atom(m64k16) async
      // CHECK-NEXT: tile.mma_wait %[[BEGUN]] pending(1)
      // CHECK-NEXT: tile.consumer_release %[[KEYS]][%[[M]]]
      // CHECK-NOT: %[[VALUES]]
      // CHECK: tile.mma_wait %[[LATE]] pending(0)
      // CHECK-NEXT: tile.consumer_release %[[VALUES]][%[[BEFORE]]]
      // CHECK: scf.yield %{{.*}}, %{{.*}}, %{{.*}}, %[[M]]
      // CHECK: %[[LAST:.*]] = tile.consumer_wait %[[VALUES]][
      // CHECK-NEXT: tile.mma %{{.*}}, %[[LAST]] into
      // CHECK-NEXT: tile.consumer_release %[[VALUES]][
      %r:2 = scf.for %j = %c0 to %n step %c64 iter_args(%o = %zeros, %m = %first) -> (!tile.tile<128x64xf32>, index) {
        %ks = tile.consumer_wait %keys[%m] : !tile.shared<64x64xbf16, swizzle 128>
        %s = tile.mma %qs, %ks transpose_b into %zeros atom(m64k16) : !tile.shared<128x64xbf16, swizzle 128>, !tile.shared<64x64xbf16, swizzle 128> -> !tile.tile<128x64xf32>
        tile.consumer_release %keys[%m] : !tile.shared<64x64xbf16, swizzle 128>
        %scaled = tile.map(%a = %o) : (!tile.tile<128x64xf32>) -> !tile.tile<128x64xf32> {
          %0 = arith.mulf %a, %half : f32
          tile.yield %0 : f32
        }
        %w = tile.cast %s : !tile.tile<128x64xf32> -> !tile.tile<128x64xbf16>
        %vs = tile.consumer_wait %values[%m] : !tile.shared<64x64xbf16, swizzle 128>
        %more = tile.mma %w, %vs into %scaled atom(m64k16) : !tile.tile<128x64xbf16>, !tile.shared<64x64xbf16, swizzle 128> -> !tile.tile<128x64xf32>
        tile.consumer_release %values[%m] : !tile.shared<64x64xbf16, swizzle 128>
        %next = arith.addi %m, %c1 : index
        scf.yield %more, %next : !tile.tile<128x64xf32>, index
      }
      tile.yield %r#1 : index
    }
  }
  return
}
