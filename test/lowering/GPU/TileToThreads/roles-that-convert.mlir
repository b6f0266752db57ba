// RUN: fovea-opt %s --fovea-tile-to-threads -verify-diagnostics | FileCheck %s
// RUN: fovea-opt %s --fovea-tile-to-threads --fovea-to-nvvm -verify-diagnostics -o /dev/null

// What the producer's threads convert they write themselves, and each arrives when it has.
// CHECK-LABEL: func.func private @converts
gpu.module @gpu {
func.func private @converts(%w: memref<2x6x32x16xi8>, %s: memref<2x6x32xf16>, %n: index, %part: index, %parts: index) attributes {fovea.threads = 384 : i32} {
  %c0 = arith.constant 0 : index
  %wv = tile.packed %w : memref<2x6x32x16xi8> -> !tile.view<64x192xi4>
  %sv = tile.packed %s : memref<2x6x32xf16> -> !tile.view<64x6xf16>
  tile.kernel grid(%i) = (%n) {
    // CHECK: %[[ALL:.*]] = arith.constant 128 : i32
    // CHECK: "mbarrier.init.shared::cta.b64 [$0], $1;", "r,r,~{memory}" %{{.*}}, %[[ALL]]
    // CHECK: setmaxnreg.dec
    // Sixteen bytes are one group of 32: one scale, and four stores of eight.
    // CHECK: %[[BYTES:.*]] = vector.load {{.*}} : memref<?xi8>, vector<16xi8>
    // CHECK: %[[WORDS:.*]] = vector.bitcast %{{.*}} to vector<4xi32>
    // CHECK: memref.load {{.*}} : memref<?xf16>
    // CHECK: arith.truncf %{{.*}} : vector<32xf32> to vector<32xbf16>
    // CHECK-COUNT-4: llvm.store %{{.*}} {alignment = 16 : i64} : vector<8xbf16>, !llvm.ptr<3>
    // CHECK-NOT: cp.async
    // CHECK: "mbarrier.arrive.shared::cta.b64 _, [$0];"
    // CHECK: setmaxnreg.inc
    %ring = tile.shared stages(2) guarded at(0) : !tile.shared<64x32xbf16, swizzle 64>
    tile.warp_specialize producer(%first) registers(56) {
      %slot = tile.producer_acquire %ring[%first] : !tile.shared<64x32xbf16, swizzle 64>
      tile.copy %wv[%c0, %c0] scales(%sv : !tile.view<64x6xf16>) to %slot async : !tile.view<64x192xi4>, !tile.shared<64x32xbf16, swizzle 64>
      tile.producer_commit %ring[%first] : !tile.shared<64x32xbf16, swizzle 64>
      tile.yield %first : index
    } consumer(%first) registers(224) {
      %full = tile.consumer_wait %ring[%first] : !tile.shared<64x32xbf16, swizzle 64>
      tile.consumer_release %ring[%first] : !tile.shared<64x32xbf16, swizzle 64>
      tile.yield %first : index
    }
  }
  return
}
}
