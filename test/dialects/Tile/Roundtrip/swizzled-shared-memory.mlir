// RUN: fovea-opt %s | fovea-opt | FileCheck %s

// CHECK-LABEL: func.func private @swizzled
func.func private @swizzled(%acc: !tile.tile<64x96xf32>) {
  // CHECK: tile.shared at(1024) : !tile.shared<64x128xbf16, swizzle 128>
  %a = tile.shared at(1024) : !tile.shared<64x128xbf16, strides [64, 1], swizzle 128>
  // CHECK: %[[B:.*]] = tile.shared stages(2) : !tile.shared<128x96xbf16, strides [1, 64], swizzle 128>
  %ring = tile.shared stages(2) : !tile.shared<128x96xbf16, strides [1, 64], swizzle 128>
  %c1 = arith.constant 1 : index
  %b = tile.stage %ring[%c1] : !tile.shared<128x96xbf16, strides [1, 64], swizzle 128>
  // CHECK: tile.mma %{{.*}}, %{{.*}} into %{{.*}} atom(m64k16) : !tile.shared<64x128xbf16, swizzle 128>, !tile.shared<128x96xbf16, strides [1, 64], swizzle 128> -> !tile.tile<64x96xf32>
  %s = tile.mma %a, %b into %acc atom(m64k16) : !tile.shared<64x128xbf16, swizzle 128>, !tile.shared<128x96xbf16, strides [1, 64], swizzle 128> -> !tile.tile<64x96xf32>
  return
}
