// RUN: fovea-opt %s --fovea-choose-atoms=warpgroups --fovea-stage-operands --fovea-assign-layouts | FileCheck %s

// A product of two loads, a chunk of k at a time; the left one's memory runs along its rows, so its panels do.
// CHECK-LABEL: func.func private @deep
// CHECK-DAG: tile.shared : !tile.shared<64x64xbf16, strides [1, 64], swizzle 128>
// CHECK-DAG: tile.shared : !tile.shared<64x64xbf16, swizzle 128>
// CHECK: scf.for
// CHECK: tile.mma %{{.*}}, %{{.*}} transpose_b into %{{.*}} atom(m64k16)
func.func private @deep(%x: memref<512x64xbf16>, %w: memref<64x512xbf16>, %y: memref<64x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %xv = tile.view %x axes(1, 0) : memref<512x64xbf16> -> !tile.view<64x512xbf16>
  %wv = tile.view %w axes(0, 1) : memref<64x512xbf16> -> !tile.view<64x512xbf16>
  %yv = tile.view %y axes(0, 1) : memref<64x64xf32> -> !tile.view<64x64xf32>
  tile.kernel grid(%i) = (%c1) {
    %a = tile.load %xv[%c0, %c0] : !tile.view<64x512xbf16> -> !tile.tile<64x512xbf16>
    %b = tile.load %wv[%c0, %c0] : !tile.view<64x512xbf16> -> !tile.tile<64x512xbf16>
    %s = tile.dot %a, %b transpose_b : !tile.tile<64x512xbf16>, !tile.tile<64x512xbf16> -> !tile.tile<64x64xf32>
    tile.store %s, %yv[%c0, %c0] : !tile.tile<64x64xf32>, !tile.view<64x64xf32>
  }
  return
}
