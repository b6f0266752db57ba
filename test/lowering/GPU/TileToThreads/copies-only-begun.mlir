// RUN: fovea-opt %s --fovea-tile-to-threads --canonicalize --cse | FileCheck %s

// Copies that are only begun; zeros are what a source of no bytes gives. A slot is a place in its ring.

gpu.module @gpu {
  // CHECK-LABEL: func.func private @ahead
  // CHECK-DAG: %[[BYTES:.*]] = arith.constant 2176 : i64
  // CHECK-DAG: %[[SIXTEEN:.*]] = arith.constant 16 : i32
  // CHECK-DAG: %[[NOTHING:.*]] = arith.constant 0 : i32
  // CHECK: %[[OFFSET:.*]] = arith.muli %{{.*}}, %[[BYTES]] : i64
  // CHECK: llvm.getelementptr %{{.*}}[%[[OFFSET]]]
  // CHECK: scf.if
  // CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
  // CHECK: } else {
  // CHECK: %[[SIZE:.*]] = arith.select %{{.*}}, %[[SIXTEEN]], %[[NOTHING]] : i32
  // CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg, %[[SIZE]]
  // CHECK: nvvm.cp.async.commit.group
  // CHECK: nvvm.cp.async.wait.group 1
  func.func private @ahead(%x: memref<?x96xbf16>, %n: index, %part: index, %parts: index) attributes {fovea.threads = 64 : i32} {
    %c3 = arith.constant 3 : index
    %c32 = arith.constant 32 : index
    %xv = tile.view %x axes(0, 1) : memref<?x96xbf16> -> !tile.view<?x96xbf16>
    tile.kernel grid(%b) = (%c3) {
      %ring = tile.shared stages(3) at(0) : !tile.shared<27x32xbf16, strides [40, 1]>
      %j = arith.muli %b, %c32 : index
      %p = tile.stage %ring[%n] : !tile.shared<27x32xbf16, strides [40, 1]>
      tile.copy %xv[%n, %j] to %p async : !tile.view<?x96xbf16>, !tile.shared<27x32xbf16, strides [40, 1]>
      tile.async_commit
      tile.async_wait pending(1)
    }
    return
  }
}
