// RUN: fovea-opt %s --fovea-specialize-warps | FileCheck %s

// Where the loop begins is known to a tile alone.
// CHECK-LABEL: func.func private @found
// CHECK-NOT: tile.warp_specialize
func.func private @found(%k: memref<?x64xbf16>, %n: index, %which: !tile.tile<1x1xi32>) attributes {fovea.threads = 256 : i32} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %kv = tile.view %k axes(0, 1) : memref<?x64xbf16> -> !tile.view<?x64xbf16>
  tile.kernel grid(%i) = (%n) {
    %b = tile.shared : !tile.shared<64x64xbf16, swizzle 128>
    %0 = tile.extract %which : !tile.tile<1x1xi32>
    %first = arith.index_cast %0 : i32 to index
    scf.for %j = %first to %n step %c64 {
      tile.copy %kv[%j, %c0] to %b : !tile.view<?x64xbf16>, !tile.shared<64x64xbf16, swizzle 128>
      %read = tile.local_load %b : !tile.shared<64x64xbf16, swizzle 128> -> !tile.tile<64x64xbf16>
    }
  }
  return
}
