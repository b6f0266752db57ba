// RUN: fovea-opt %s --fovea-choose-atoms=warpgroups | FileCheck %s --check-prefix=CHOOSE
// RUN: fovea-opt %s --fovea-choose-atoms=warpgroups --fovea-stage-operands --fovea-assign-layouts | FileCheck %s

// What wgmma does not take is mma.sync's: 48 rows; f32; a depth of 24.
// CHOOSE-LABEL: func.func private @others
// CHOOSE: tile.dot %{{.*}} atom(m16n8k16)
// CHOOSE: tile.dot %{{.*}} atom(m16n8k8)
// CHOOSE: tile.dot %{{.*}} atom(m16n8k16)
// CHECK-LABEL: func.func private @others
// CHECK-NOT: swizzle
func.func private @others(%x: memref<64x64xbf16>, %y: memref<64x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %xv = tile.view %x axes(0, 1) : memref<64x64xbf16> -> !tile.view<64x64xbf16>
  %yv = tile.view %y axes(0, 1) : memref<64x64xf32> -> !tile.view<64x64xf32>
  tile.kernel grid(%i) = (%c1) {
    %few = tile.load %xv[%c0, %c0] : !tile.view<64x64xbf16> -> !tile.tile<48x64xbf16>
    %w = tile.load %xv[%c0, %c0] : !tile.view<64x64xbf16> -> !tile.tile<64x64xbf16>
    %a = tile.dot %few, %w transpose_b : !tile.tile<48x64xbf16>, !tile.tile<64x64xbf16> -> !tile.tile<48x64xf32>
    tile.store %a, %yv[%c0, %c0] : !tile.tile<48x64xf32>, !tile.view<64x64xf32>
    %f = tile.load %yv[%c0, %c0] : !tile.view<64x64xf32> -> !tile.tile<64x64xf32>
    %b = tile.dot %f, %w transpose_b : !tile.tile<64x64xf32>, !tile.tile<64x64xbf16> -> !tile.tile<64x64xf32>
    tile.store %b, %yv[%c0, %c0] : !tile.tile<64x64xf32>, !tile.view<64x64xf32>
    %odd = tile.load %xv[%c0, %c0] : !tile.view<64x64xbf16> -> !tile.tile<64x24xbf16>
    %c = tile.dot %odd, %odd transpose_b : !tile.tile<64x24xbf16>, !tile.tile<64x24xbf16> -> !tile.tile<64x64xf32>
    tile.store %c, %yv[%c0, %c0] : !tile.tile<64x64xf32>, !tile.view<64x64xf32>
  }
  return
}
