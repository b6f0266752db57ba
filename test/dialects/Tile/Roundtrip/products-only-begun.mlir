// RUN: fovea-opt %s | fovea-opt | FileCheck %s

// Products that are only begun, of a ring whose last round's slot stays.
// CHECK-LABEL: func.func private @begun
func.func private @begun(%a: !tile.shared<64x64xbf16, swizzle 128>, %acc: !tile.tile<64x64xf32>, %sums: !tile.tile<64x1xf32>) {
  // CHECK: tile.shared stages(3) kept(1) at(1024) : !tile.shared<64x64xbf16, swizzle 128>
  %ring = tile.shared stages(3) kept(1) at(1024) : !tile.shared<64x64xbf16, swizzle 128>
  %c1 = arith.constant 1 : index
  %b = tile.stage %ring[%c1] : !tile.shared<64x64xbf16, swizzle 128>
  // CHECK: %[[S:.*]] = tile.mma %{{.*}}, %{{.*}} transpose_b into %{{.*}} atom(m64k16) async : !tile.shared
  %s = tile.mma %a, %b transpose_b into %acc atom(m64k16) async : !tile.shared<64x64xbf16, swizzle 128>, !tile.shared<64x64xbf16, swizzle 128> -> !tile.tile<64x64xf32>
  // CHECK: %[[T:.*]] = tile.mma %{{.*}}, %{{.*}} into %{{.*}} atom(m64k16) async : !tile.shared
  %t = tile.mma %a, %b into %acc atom(m64k16) async : !tile.shared<64x64xbf16, swizzle 128>, !tile.shared<64x64xbf16, swizzle 128> -> !tile.tile<64x64xf32>
  // CHECK: tile.mma_wait %[[S]] pending(1) : !tile.tile<64x64xf32>
  %0 = tile.mma_wait %s pending(1) : !tile.tile<64x64xf32>
  // CHECK: tile.mma_wait %[[T]] pending(0) after(%{{.*}} : !tile.tile<64x1xf32>) : !tile.tile<64x64xf32>
  %1 = tile.mma_wait %t pending(0) after(%sums : !tile.tile<64x1xf32>) : !tile.tile<64x64xf32>
  return
}
