// RUN: fovea-opt %s --fovea-choose-atoms=warpgroups | FileCheck %s --check-prefix=CHOOSE
// RUN: fovea-opt %s --fovea-choose-atoms=warpgroups --fovea-stage-operands --fovea-assign-layouts | FileCheck %s

// Of 256 rows each of two has two blocks.
// CHOOSE-LABEL: func.func private @two
// CHOOSE-SAME: fovea.threads = 256 : i32
// CHECK: #[[$TWO:.*]] = #tile.layout<rows = [threads 8 by 4, registers 2, threads 8 by 32, registers 2], columns = [registers 2, threads 4 by 1, registers 8]>
// CHECK-LABEL: func.func private @two
// CHECK: tile.mma %{{.*}} -> !tile.tile<256x64xf32, #[[$TWO]]>
func.func private @two(%x: memref<256x32xbf16>, %y: memref<256x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %xv = tile.view %x axes(0, 1) : memref<256x32xbf16> -> !tile.view<256x32xbf16>
  %yv = tile.view %y axes(0, 1) : memref<256x64xf32> -> !tile.view<256x64xf32>
  tile.kernel grid(%i) = (%c1) {
    %a = tile.load %xv[%c0, %c0] : !tile.view<256x32xbf16> -> !tile.tile<256x32xbf16>
    %b = tile.load %xv[%c0, %c0] : !tile.view<256x32xbf16> -> !tile.tile<64x32xbf16>
    %s = tile.dot %a, %b transpose_b : !tile.tile<256x32xbf16>, !tile.tile<64x32xbf16> -> !tile.tile<256x64xf32>
    tile.store %s, %yv[%c0, %c0] : !tile.tile<256x64xf32>, !tile.view<256x64xf32>
  }
  return
}
