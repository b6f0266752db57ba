// RUN: fovea-opt %s --fovea-tile-to-threads -verify-diagnostics | FileCheck %s
// RUN: fovea-opt %s --fovea-tile-to-threads --fovea-to-nvvm -verify-diagnostics | FileCheck %s --check-prefix=NVVM

// One thread hands boxes to the engine: a full slot has one arrival, and the bytes that it announces; a free one has one of
// each of the consumers' eight warps. Barriers of the consumers are number 1. The map is a parameter by value.
// CHECK-LABEL: func.func private @bulk
// CHECK-SAME: %[[MAP:[a-z0-9]*]]: !llvm.ptr) attributes
// NVVM-LABEL: llvm.func @bulk
// NVVM-SAME: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant})
// NVVM-SAME: nvvm.reqntid = array<i32: 384>
gpu.module @gpu {
func.func private @bulk(%k: memref<2x?x128xbf16>, %n: index, %y: memref<?x128xf32>, %part: index, %parts: index) attributes {fovea.threads = 384 : i32,
    fovea.tensor_maps = [#tile.tensor_map<operand = 0, axis = 1, rows = 32, columns = 64, swizzle = 128>]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %kv = tile.view %k at(%c1) axes(1, 2) : memref<2x?x128xbf16> -> !tile.view<?x128xbf16>
  tile.kernel grid(%i) = (%n) {
    // CHECK: %[[RING:.*]] = llvm.getelementptr {{.*}}[1024]
    // CHECK: %[[ONE:.*]] = arith.cmpi eq, %[[THREAD:.*]], %{{.*}} : i32
    // CHECK: scf.if %[[ONE]] {
    // CHECK: %[[FULL:.*]] = arith.constant 1 : i32
    // CHECK: "mbarrier.init.shared::cta.b64 [$0], $1;", "r,r,~{memory}" %{{.*}}, %[[FULL]]
    // CHECK: %[[FREE:.*]] = arith.constant 8 : i32
    // CHECK: "mbarrier.init.shared::cta.b64 [$0], $1;", "r,r,~{memory}" %{{.*}}, %[[FREE]]
    // CHECK-COUNT-2: mbarrier.init
    // CHECK: fence.mbarrier_init.release.cluster
    // CHECK: nvvm.barrier
    // CHECK: %[[FIRST:.*]] = arith.constant 256 : i32
    // CHECK: %[[PRODUCES:.*]] = arith.cmpi uge, %[[THREAD]], %[[FIRST]] : i32
    // CHECK: scf.if %[[PRODUCES]] {
    // CHECK: setmaxnreg.dec.sync.aligned.u32 24
    // CHECK: scf.if
    // Points of the grid in turns, every other one backwards; what is counted goes on.
    // CHECK: %[[BLOCK:.*]] = nvvm.read.ptx.sreg.ctaid.x : i32
    // CHECK: %[[BLOCKS:.*]] = nvvm.read.ptx.sreg.nctaid.x : i32
    // CHECK: scf.for %[[TURN:.*]] = %{{.*}} to %[[TOTAL:.*]] step %[[BLOCKS]] iter_args(%[[ROUNDS:.*]] = %{{.*}}, %[[PLACE:.*]] = %[[BLOCK]]) -> (index, i32) : i32 {
    // CHECK: %[[POINT:.*]] = arith.addi %[[TURN]], %[[PLACE]]
    // CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %[[POINT]], %[[TOTAL]]
    // CHECK: %[[ANY:.*]] = scf.if %[[INSIDE]] -> (index) {
    // CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[ROUNDS]]) -> (index) {
    // The slot is free when the turn before it is over.
    // CHECK: %[[TURN:.*]] = arith.divui
    // CHECK: %[[NEXT:.*]] = arith.addi %[[TURN]], %{{.*}} : i32
    // CHECK: %[[PARITY:.*]] = arith.andi %[[NEXT]],
    // CHECK: mbarrier.try_wait.parity.shared::cta.b64 done, [$0], $1;{{.*}} %{{.*}}, %[[PARITY]]
    // Two panels of 64 columns; the innermost place is the column, then the row, then what the view fixes.
    // CHECK: %[[BATCH:.*]] = arith.constant 1 : i32
    // CHECK: "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1, {$3, $4, $5}], [$2];", "r,l,r,r,r,r,~{memory}" %{{.*}}, %[[MAP]], %[[GUARD:.*]], %{{.*}}, %[[ROW:.*]], %[[BATCH]]
    // CHECK: cp.async.bulk.tensor.3d{{.*}}, %[[MAP]], %[[GUARD]], %c64{{[^,]*}}, %[[ROW]], %[[BATCH]]
    // CHECK: %[[BYTES:.*]] = arith.constant 8192 : i32
    // CHECK: "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;", "r,r,~{memory}" %{{.*}}, %[[BYTES]]
    // CHECK: } else {
    // CHECK-NEXT: scf.yield %[[ROUNDS]] : index
    // CHECK: %[[LAST:.*]] = arith.subi %[[BLOCKS]],
    // CHECK: %[[BACK:.*]] = arith.subi %[[LAST]], %[[PLACE]]
    // CHECK: scf.yield %[[ANY]], %[[BACK]] : index, i32
    // CHECK: } else {
    // CHECK: setmaxnreg.inc.sync.aligned.u32 240
    // CHECK: scf.for
    // CHECK: %[[TURN:.*]] = arith.divui
    // CHECK: mbarrier.try_wait.parity
    // CHECK-NOT: nvvm.fence.proxy
    // A slot that threads read is free when all of a warp have.
    // CHECK: nvvm.bar.warp.sync
    // CHECK: mbarrier.arrive.shared::cta.b64 _, [$0];
    // CHECK: nvvm.barrier id = %{{.*}} number_of_threads = %{{.*}}
    %ring = tile.shared stages(2) guarded at(1024) : !tile.shared<32x128xbf16, swizzle 128>
    tile.warp_specialize producer(%first) registers(24) {
      %end = scf.for %j = %c0 to %n step %c32 iter_args(%m = %first) -> (index) {
        %s = tile.producer_acquire %ring[%m] : !tile.shared<32x128xbf16, swizzle 128>
        tile.copy %kv[%j, %c0] to %s async map(0) : !tile.view<?x128xbf16>, !tile.shared<32x128xbf16, swizzle 128>
        tile.producer_commit %ring[%m] : !tile.shared<32x128xbf16, swizzle 128>
        %next = arith.addi %m, %c1 : index
        scf.yield %next : index
      }
      tile.yield %end : index
    } consumer(%first) registers(240) {
      %end = scf.for %j = %c0 to %n step %c32 iter_args(%m = %first) -> (index) {
        %s = tile.consumer_wait %ring[%m] : !tile.shared<32x128xbf16, swizzle 128>
        %t = tile.local_load %s : !tile.shared<32x128xbf16, swizzle 128> -> !tile.tile<32x128xbf16, #tile.layout<rows = [threads 32 by 1], columns = [threads 8 by 32, registers 16]>>
        tile.consumer_release %ring[%m] : !tile.shared<32x128xbf16, swizzle 128>
        tile.barrier
        %next = arith.addi %m, %c1 : index
        scf.yield %next : index
      }
      tile.yield %end : index
    }
  }
  return
}
}
