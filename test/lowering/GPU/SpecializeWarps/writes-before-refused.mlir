// RUN: fovea-opt %s --fovea-specialize-warps | FileCheck %s

// A producer would read ahead of what the block writes before.
// CHECK-LABEL: func.func private @writes
// CHECK-NOT: tile.warp_specialize
func.func private @writes(%k: memref<?x64xbf16>, %n: index, %new: !tile.tile<64x64xbf16>) attributes {fovea.threads = 256 : i32} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %kv = tile.view %k axes(0, 1) : memref<?x64xbf16> -> !tile.view<?x64xbf16>
  tile.kernel grid(%i) = (%n) {
    %b = tile.shared : !tile.shared<64x64xbf16, swizzle 128>
    tile.store %new, %kv[%i, %c0] : !tile.tile<64x64xbf16>, !tile.view<?x64xbf16>
    scf.for %j = %c0 to %n step %c64 {
      tile.copy %kv[%j, %c0] to %b : !tile.view<?x64xbf16>, !tile.shared<64x64xbf16, swizzle 128>
      %read = tile.local_load %b : !tile.shared<64x64xbf16, swizzle 128> -> !tile.tile<64x64xbf16>
    }
  }
  return
}
