// RUN: fovea-opt %s --fovea-choose-atoms=warpgroups | FileCheck %s --check-prefix=CHOOSE
// RUN: fovea-opt %s --fovea-choose-atoms=warpgroups --fovea-stage-operands --fovea-assign-layouts | FileCheck %s

// A warpgroup for each 64 of 192 rows, which share the right operand.
// CHOOSE-LABEL: func.func private @three
// CHOOSE-SAME: fovea.threads = 384 : i32
// CHECK: #[[$THREE:.*]] = #tile.layout<rows = [threads 8 by 4, registers 2, threads 12 by 32], columns = [registers 2, threads 4 by 1, registers 8]>
// CHECK-LABEL: func.func private @three
// CHECK-DAG: tile.shared : !tile.shared<192x32xbf16, swizzle 64>
// CHECK-DAG: tile.shared : !tile.shared<64x32xbf16, swizzle 64>
// CHECK: tile.mma %{{.*}}, %{{.*}} transpose_b into %{{.*}} atom(m64k16) : {{.*}} -> !tile.tile<192x64xf32, #[[$THREE]]>
func.func private @three(%x: memref<192x32xbf16>, %w: memref<64x32xbf16>, %y: memref<192x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %xv = tile.view %x axes(0, 1) : memref<192x32xbf16> -> !tile.view<192x32xbf16>
  %wv = tile.view %w axes(0, 1) : memref<64x32xbf16> -> !tile.view<64x32xbf16>
  %yv = tile.view %y axes(0, 1) : memref<192x64xf32> -> !tile.view<192x64xf32>
  tile.kernel grid(%i) = (%c1) {
    %a = tile.load %xv[%c0, %c0] : !tile.view<192x32xbf16> -> !tile.tile<192x32xbf16>
    %b = tile.load %wv[%c0, %c0] : !tile.view<64x32xbf16> -> !tile.tile<64x32xbf16>
    %s = tile.dot %a, %b transpose_b : !tile.tile<192x32xbf16>, !tile.tile<64x32xbf16> -> !tile.tile<192x64xf32>
    tile.store %s, %yv[%c0, %c0] : !tile.tile<192x64xf32>, !tile.view<192x64xf32>
  }
  return
}
