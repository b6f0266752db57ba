// RUN: fovea-opt %s --verify-roundtrip | FileCheck %s

// In a GPU's block: integers become floats on their way to shared memory.
// CHECK-LABEL: func.func private @copy
func.func private @copy(%w: memref<16x6x32x16xi8>, %s: memref<16x6x32xf16>, %i: index, %k: index) {
  // CHECK: tile.packed %{{.*}} : memref<16x6x32x16xi8> -> !tile.view<512x192xi4>
  %wv = tile.packed %w : memref<16x6x32x16xi8> -> !tile.view<512x192xi4>
  %sv = tile.packed %s : memref<16x6x32xf16> -> !tile.view<512x6xf16>
  %ws = tile.shared : !tile.shared<64x64xbf16, swizzle 128>
  // CHECK: tile.copy %{{.*}}[%{{.*}}, %{{.*}}] scales(%{{.*}} : !tile.view<512x6xf16>) to %{{.*}} : !tile.view<512x192xi4>, !tile.shared<64x64xbf16, swizzle 128>
  tile.copy %wv[%i, %k] scales(%sv : !tile.view<512x6xf16>) to %ws : !tile.view<512x192xi4>, !tile.shared<64x64xbf16, swizzle 128>
  // CHECK: tile.copy %{{.*}}[%{{.*}}, %{{.*}}] to %{{.*}} async : !tile.view<512x192xi4>, !tile.shared<64x64xbf16, swizzle 128>
  tile.copy %wv[%i, %k] to %ws async : !tile.view<512x192xi4>, !tile.shared<64x64xbf16, swizzle 128>
  return
}
