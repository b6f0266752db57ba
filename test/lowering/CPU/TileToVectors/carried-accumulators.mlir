// RUN: fovea-opt %s --pass-pipeline="builtin.module(func.func(fovea-tile-to-vectors{target=avx512}),canonicalize,cse)" | FileCheck %s

// A product's accumulators are scaled while they are loaded, in place: one buffer for all steps.
// CHECK-LABEL: func.func @carried
// CHECK: scf.for
// CHECK-NOT: memref.alloca
// CHECK: arith.mulf
// CHECK: scf.for {{.*}} iter_args
func.func @carried(%p: memref<?x16xf32>, %v: memref<?x16xf32>, %y: memref<16x16xf32>, %n: index, %half: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0.0 : f32
  %pv = tile.view %p axes(0, 1) : memref<?x16xf32> -> !tile.view<?x16xf32>
  %vv = tile.view %v axes(0, 1) : memref<?x16xf32> -> !tile.view<?x16xf32>
  %yv = tile.view %y axes(0, 1) : memref<16x16xf32> -> !tile.view<16x16xf32>
  tile.kernel grid(%i) = (%c1) {
    %z = tile.splat %zero : !tile.tile<16x16xf32>
    %h = tile.splat %half : !tile.tile<16x16xf32>
    %s = scf.for %j = %c0 to %n step %c16 iter_args(%acc = %z) -> (!tile.tile<16x16xf32>) {
      %a = tile.load %pv[%j, %c0] : !tile.view<?x16xf32> -> !tile.tile<16x16xf32>
      %b = tile.load %vv[%j, %c0] : !tile.view<?x16xf32> -> !tile.tile<16x16xf32>
      %scaled = tile.map(%x = %acc, %f = %h) : (!tile.tile<16x16xf32>, !tile.tile<16x16xf32>) -> !tile.tile<16x16xf32> {
        %0 = arith.mulf %x, %f : f32
        tile.yield %0 : f32
      }
      %d = tile.dot %a, %b into %scaled block(4, 16) : !tile.tile<16x16xf32>, !tile.tile<16x16xf32> -> !tile.tile<16x16xf32>
      scf.yield %d : !tile.tile<16x16xf32>
    }
    tile.store %s, %yv[%c0, %c0] : !tile.tile<16x16xf32>, !tile.view<16x16xf32>
  }
  return
}
