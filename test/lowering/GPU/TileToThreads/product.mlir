// RUN: fovea-opt %s --fovea-tile-to-threads --canonicalize --cse | FileCheck %s

// A product: sums are carried through a loop over k, of which four are added at a time.

#blocked = #tile.layout<rows = [registers 2, threads 8 by 4], columns = [threads 4 by 1, registers 3]>

gpu.module @gpu {
  // CHECK-LABEL: func.func private @product
  // CHECK: %{{.*}}:6 = scf.for %{{.*}} = %c0{{.*}} to %c32{{.*}} step %c4{{.*}} iter_args
  // CHECK-COUNT-20: llvm.load
  // CHECK-NOT: llvm.load
  // CHECK: scf.yield
  func.func private @product(%y: memref<16x12xf32>, %part: index, %parts: index) attributes {fovea.threads = 32 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %yv = tile.view %y axes(0, 1) : memref<16x12xf32> -> !tile.view<16x12xf32>
    tile.kernel grid(%i) = (%c1) {
      %a = tile.shared at(0) : !tile.shared<16x32xf32, strides [1, 16]>
      %b = tile.shared at(2048) : !tile.shared<12x32xbf16>
      %acc = tile.splat %zero : !tile.tile<16x12xf32, #blocked>
      %s = tile.mma %a, %b transpose_b into %acc : !tile.shared<16x32xf32, strides [1, 16]>, !tile.shared<12x32xbf16> -> !tile.tile<16x12xf32, #blocked>
      tile.store %s, %yv[%c0, %c0] : !tile.tile<16x12xf32, #blocked>, !tile.view<16x12xf32>
    }
    return
  }
}
