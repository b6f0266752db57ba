// RUN: fovea-opt %s --fovea-specialize-warps | FileCheck %s

// One warpgroup hides its waits behind those of other blocks.
// CHECK-LABEL: func.func private @one
// CHECK-NOT: tile.warp_specialize
func.func private @one(%k: memref<?x64xbf16>, %n: index) attributes {fovea.threads = 128 : i32} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %kv = tile.view %k axes(0, 1) : memref<?x64xbf16> -> !tile.view<?x64xbf16>
  tile.kernel grid(%i) = (%n) {
    %b = tile.shared : !tile.shared<64x64xbf16, swizzle 128>
    scf.for %j = %c0 to %n step %c64 {
      tile.copy %kv[%j, %c0] to %b : !tile.view<?x64xbf16>, !tile.shared<64x64xbf16, swizzle 128>
      %read = tile.local_load %b : !tile.shared<64x64xbf16, swizzle 128> -> !tile.tile<64x64xbf16>
    }
  }
  return
}
