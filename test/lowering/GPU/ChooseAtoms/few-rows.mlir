// RUN: fovea-opt %s --fovea-choose-atoms | FileCheck %s --check-prefix=CHOOSE
// RUN: fovea-opt %s --fovea-choose-atoms=tensor-cores=false | FileCheck %s --check-prefix=NONE

// NONE-NOT: atom

// Few rows are multiplied by element.
// CHOOSE-LABEL: func.func private @few
// CHOOSE-NOT: atom
func.func private @few(%x: memref<?x64xbf16>, %w: memref<64x64xbf16>, %y: memref<?x64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %xv = tile.view %x axes(0, 1) : memref<?x64xbf16> -> !tile.view<?x64xbf16>
  %wv = tile.view %w axes(0, 1) : memref<64x64xbf16> -> !tile.view<64x64xbf16>
  %yv = tile.view %y axes(0, 1) : memref<?x64xf32> -> !tile.view<?x64xf32>
  tile.kernel grid(%i) = (%n) {
    %a = tile.load %xv[%i, %c0] : !tile.view<?x64xbf16> -> !tile.tile<8x64xbf16>
    %b = tile.load %wv[%c0, %c0] : !tile.view<64x64xbf16> -> !tile.tile<64x64xbf16>
    %t = tile.dot %a, %b transpose_b : !tile.tile<8x64xbf16>, !tile.tile<64x64xbf16> -> !tile.tile<8x64xf32>
    tile.store %t, %yv[%i, %c0] : !tile.tile<8x64xf32>, !tile.view<?x64xf32>
  }
  return
}
