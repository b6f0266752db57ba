// RUN: fovea-opt %s | fovea-opt | FileCheck %s
//
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

// CHECK-LABEL: func.func private @swizzled
func.func private @swizzled(%acc: !tile.tile<64x96xf32>) {
  // CHECK: tile.shared at(1024) : !tile.shared<64x128xbf16, swizzle 128>
  %a = tile.shared at(1024) : !tile.shared<64x128xbf16, strides [64, 1], swizzle 128>
  // CHECK: %[[B:.*]] = tile.shared stages(2) : !tile.shared<128x96xbf16, strides [1, 64], swizzle 128>
  %ring = tile.shared stages(2) : !tile.shared<128x96xbf16, strides [1, 64], swizzle 128>
  %c1 = arith.constant 1 : index
  %b = tile.slot %ring[%c1] : !tile.shared<128x96xbf16, strides [1, 64], swizzle 128>
  // CHECK: tile.mma %{{.*}}, %{{.*}} into %{{.*}} atom(m64k16) : !tile.shared<64x128xbf16, swizzle 128>, !tile.shared<128x96xbf16, strides [1, 64], swizzle 128> -> !tile.tile<64x96xf32>
  %s = tile.mma %a, %b into %acc atom(m64k16) : !tile.shared<64x128xbf16, swizzle 128>, !tile.shared<128x96xbf16, strides [1, 64], swizzle 128> -> !tile.tile<64x96xf32>
  return
}

// Products that are only begun, of a ring whose last round's slot stays.
// CHECK-LABEL: func.func private @begun
func.func private @begun(%a: !tile.shared<64x64xbf16, swizzle 128>, %acc: !tile.tile<64x64xf32>, %sums: !tile.tile<64x1xf32>) {
  // CHECK: tile.shared stages(3) kept(1) at(1024) : !tile.shared<64x64xbf16, swizzle 128>
  %ring = tile.shared stages(3) kept(1) at(1024) : !tile.shared<64x64xbf16, swizzle 128>
  %c1 = arith.constant 1 : index
  %b = tile.slot %ring[%c1] : !tile.shared<64x64xbf16, swizzle 128>
  // CHECK: %[[S:.*]] = tile.mma %{{.*}}, %{{.*}} transpose_b into %{{.*}} atom(m64k16) async : !tile.shared
  %s = tile.mma %a, %b transpose_b into %acc atom(m64k16) async : !tile.shared<64x64xbf16, swizzle 128>, !tile.shared<64x64xbf16, swizzle 128> -> !tile.tile<64x64xf32>
  // CHECK: %[[T:.*]] = tile.mma %{{.*}}, %{{.*}} into %{{.*}} atom(m64k16) async : !tile.shared
  %t = tile.mma %a, %b into %acc atom(m64k16) async : !tile.shared<64x64xbf16, swizzle 128>, !tile.shared<64x64xbf16, swizzle 128> -> !tile.tile<64x64xf32>
  // CHECK: tile.settle %[[S]] pending(1) : !tile.tile<64x64xf32>
  %0 = tile.settle %s pending(1) : !tile.tile<64x64xf32>
  // CHECK: tile.settle %[[T]] pending(0) after(%{{.*}} : !tile.tile<64x1xf32>) : !tile.tile<64x64xf32>
  %1 = tile.settle %t pending(0) after(%sums : !tile.tile<64x1xf32>) : !tile.tile<64x64xf32>
  return
}

// CHECK-LABEL: func.func private @move
func.func private @move(%t: !tile.tile<4x8xf32, #blocked>) {
  %s = tile.shared : !tile.shared<4x8xf32>
  // CHECK: tile.put %{{.*}} to %{{.*}} : !tile.tile<4x8xf32, #[[$BLOCKED]]>, !tile.shared<4x8xf32>
  tile.put %t to %s : !tile.tile<4x8xf32, #blocked>, !tile.shared<4x8xf32>
  // CHECK: tile.get %{{.*}} : !tile.shared<4x8xf32> -> !tile.tile<4x8xf32, lanes 0, #[[$BLOCKED]]>
  %u = tile.get %s : !tile.shared<4x8xf32> -> !tile.tile<4x8xf32, lanes 0, #blocked>
  // CHECK: tile.reduce sum %{{.*}} axis(0) scratch(%{{.*}} : !tile.shared<4x8xf32>)
  %v = tile.reduce sum %t axis(0) scratch(%s : !tile.shared<4x8xf32>) : !tile.tile<4x8xf32, #blocked> -> !tile.tile<1x8xf32, #tile.layout<rows = [], columns = [registers 4, threads 16 by 1]>>
  return
}

// An operand that is used once is read where it lies.
// CHECK-LABEL: func.func private @in_place
func.func private @in_place(%w: !tile.view<512x192xbf16>, %a: !tile.shared<1x192xf32>, %zero: !tile.tile<1x64xf32, #blocked>, %j: index) {
  %c0 = arith.constant 0 : index
  %b = tile.load %w[%j, %c0] : !tile.view<512x192xbf16> -> !tile.tile<64x192xbf16>
  // CHECK: tile.mma %{{.*}}, %{{.*}} transpose_b into %{{.*}} : !tile.shared<1x192xf32>, !tile.tile<64x192xbf16> -> !tile.tile<1x64xf32, #[[$BLOCKED]]>
  %y = tile.mma %a, %b transpose_b into %zero : !tile.shared<1x192xf32>, !tile.tile<64x192xbf16> -> !tile.tile<1x64xf32, #blocked>
  return
}

// Copies that are begun, and rings.
// CHECK-LABEL: func.func private @ring
func.func private @ring(%x: !tile.view<?x32xf32>, %i: index) {
  // CHECK: %[[RING:.*]] = tile.shared stages(3) at(128) : !tile.shared<16x32xf32>
  %ring = tile.shared stages(3) at(128) : !tile.shared<16x32xf32>
  // CHECK: %[[SLOT:.*]] = tile.slot %[[RING]][%{{.*}}] : !tile.shared<16x32xf32>
  %s = tile.slot %ring[%i] : !tile.shared<16x32xf32>
  // CHECK: tile.copy %{{.*}}[%{{.*}}, %{{.*}}] to %[[SLOT]] async : !tile.view<?x32xf32>, !tile.shared<16x32xf32>
  tile.copy %x[%i, %i] to %s async : !tile.view<?x32xf32>, !tile.shared<16x32xf32>
  // CHECK: tile.commit
  tile.commit
  // CHECK: tile.wait pending(1)
  tile.wait pending(1)
  return
}

// Roles, and a ring whose slots change hands.
// CHECK-LABEL: func.func private @roles
func.func private @roles(%k: !tile.view<?x64xbf16>, %n: index) {
  tile.kernel grid(%i) = (%n) {
    // CHECK: %[[RING:.*]] = tile.shared stages(3) guarded at(2048) : !tile.shared<64x64xbf16, swizzle 128>
    %ring = tile.shared stages(3) guarded at(2048) : !tile.shared<64x64xbf16, swizzle 128>
    // CHECK: tile.roles producer(%[[P:.*]]) registers(24) {
    tile.roles producer(%p) registers(24) {
      // CHECK: %[[S:.*]] = tile.acquire %[[RING]][%[[P]]] : !tile.shared<64x64xbf16, swizzle 128>
      %s = tile.acquire %ring[%p] : !tile.shared<64x64xbf16, swizzle 128>
      // CHECK: tile.copy %{{.*}} to %[[S]] async map(0) : !tile.view<?x64xbf16>, !tile.shared<64x64xbf16, swizzle 128>
      tile.copy %k[%i, %i] to %s async map(0) : !tile.view<?x64xbf16>, !tile.shared<64x64xbf16, swizzle 128>
      // CHECK: tile.publish %[[RING]][%[[P]]] : !tile.shared<64x64xbf16, swizzle 128>
      tile.publish %ring[%p] : !tile.shared<64x64xbf16, swizzle 128>
      // CHECK: tile.yield %[[P]] : index
      tile.yield %p : index
      // CHECK: } consumer(%[[C:.*]]) registers(240) {
    } consumer(%c) registers(240) {
      // CHECK: tile.await %[[RING]][%[[C]]] : !tile.shared<64x64xbf16, swizzle 128>
      %s = tile.await %ring[%c] : !tile.shared<64x64xbf16, swizzle 128>
      // CHECK: tile.release %[[RING]][%[[C]]] : !tile.shared<64x64xbf16, swizzle 128>
      tile.release %ring[%c] : !tile.shared<64x64xbf16, swizzle 128>
      tile.yield %c : index
    }
  }
  return
}
