// RUN: fovea-opt %s --fovea-pipeline-copies | FileCheck %s
// RUN: fovea-opt %s --fovea-pipeline-copies=stages=2 | FileCheck %s --check-prefix=TWO

// A product that may be done a round later: each slot stays for another round, so there is one more.
// CHECK-LABEL: func.func private @late
// CHECK: %[[K:.*]] = tile.shared stages(4) kept(1) : !tile.shared<64x64xbf16, swizzle 128>
// CHECK: %[[V:.*]] = tile.shared stages(4) kept(1) : !tile.shared<64x64xbf16, swizzle 128>
// CHECK: scf.for {{.*}} to %c2
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[SLOT:.*]] = %{{.*}}) -> (!tile.tile<64x64xf32>, index)
// CHECK: tile.async_wait pending(1)
// CHECK: %[[LOW:.*]] = arith.cmpi ult, %[[SLOT]], %[[BACK:.*]] : index
// CHECK: %[[DOWN:.*]] = arith.subi %[[SLOT]], %[[BACK]] : index
// CHECK: %[[UP:.*]] = arith.addi %[[SLOT]], %{{.*}} : index
// CHECK: %[[FREE:.*]] = arith.select %[[LOW]], %[[UP]], %[[DOWN]] : index
// CHECK: tile.stage %[[K]][%[[FREE]]]
// CHECK: tile.stage %[[V]][%[[FREE]]]
// TWO-LABEL: func.func private @late
// TWO: tile.shared stages(3) kept(1)
func.func private @late(%k: memref<4096x64xbf16>, %v: memref<4096x64xbf16>, %y: memref<64x64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %kv = tile.view %k axes(0, 1) : memref<4096x64xbf16> -> !tile.view<4096x64xbf16>
  %vv = tile.view %v axes(0, 1) : memref<4096x64xbf16> -> !tile.view<4096x64xbf16>
  %yv = tile.view %y axes(0, 1) : memref<64x64xf32> -> !tile.view<64x64xf32>
  tile.kernel grid(%i) = (%n) {
    %q = tile.shared : !tile.shared<64x64xbf16, swizzle 128>
    %ks = tile.shared : !tile.shared<64x64xbf16, swizzle 128>
    %vs = tile.shared : !tile.shared<64x64xbf16, swizzle 128>
    %none = tile.splat %zero : !tile.tile<64x64xf32>
    %o = scf.for %j = %c0 to %n step %c64 iter_args(%sum = %none) -> (!tile.tile<64x64xf32>) {
      tile.copy %kv[%j, %c0] to %ks : !tile.view<4096x64xbf16>, !tile.shared<64x64xbf16, swizzle 128>
      %s = tile.mma %q, %ks transpose_b into %none atom(m64k16) : !tile.shared<64x64xbf16, swizzle 128>, !tile.shared<64x64xbf16, swizzle 128> -> !tile.tile<64x64xf32>
      %p = tile.cast %s : !tile.tile<64x64xf32> -> !tile.tile<64x64xbf16>
      tile.copy %vv[%j, %c0] to %vs : !tile.view<4096x64xbf16>, !tile.shared<64x64xbf16, swizzle 128>
      %next = tile.mma %p, %vs into %sum atom(m64k16) : !tile.tile<64x64xbf16>, !tile.shared<64x64xbf16, swizzle 128> -> !tile.tile<64x64xf32>
      scf.yield %next : !tile.tile<64x64xf32>
    }
    tile.store %o, %yv[%c0, %c0] : !tile.tile<64x64xf32>, !tile.view<64x64xf32>
  }
  return
}
