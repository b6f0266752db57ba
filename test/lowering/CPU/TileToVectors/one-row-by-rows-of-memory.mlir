// RUN: fovea-opt %s --fovea-tile-to-vectors=target=avx512 | FileCheck %s

// One row by a matrix that lies row by row, as a caller has it, where its builder allows another order of the sum: its rows are read once, sixteen of them at a time, and nothing is turned. The depth, of which
// sixteen vectors at most are written out, is a loop that carries the sums. Whether the row is there is known when it is stored; it is computed of a copy.

// CHECK-LABEL: @given
// CHECK: %[[COPY:.*]] = memref.alloca() {{.*}} : memref<2064xf32>
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c128{{.*}} step %c16
// CHECK: scf.for %[[FROM:.*]] = %c0{{.*}} to %c2048{{.*}} step %c256{{.*}} iter_args({{.*}}) -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
// CHECK-NOT: vector.shuffle
// CHECK: vector.load %{{.*}} : memref<?xf32{{.*}}>, vector<16xf32>
// CHECK: vector.load %[[COPY]]{{.*}} : memref<2064xf32>, vector<16xf32>
// CHECK: llvm.intr.fmuladd
// CHECK: scf.yield
func.func @given(%x: memref<?x2048xf32>, %w: memref<5632x2048xf32>, %y: memref<?x5632xf32>) {
  %c0 = arith.constant 0 : index
  %c44 = arith.constant 44 : index
  %c128 = arith.constant 128 : index
  %rows = memref.dim %x, %c0 : memref<?x2048xf32>
  tile.kernel grid(%n, %m) = (%c44, %rows) {
    %j = arith.muli %n, %c128 : index
    %wv = tile.view %w axes(0, 1) : memref<5632x2048xf32> -> !tile.view<5632x2048xf32>
    %b = tile.load %wv[%j, %c0] : !tile.view<5632x2048xf32> -> !tile.tile<128x2048xf32>
    %xv = tile.view %x axes(0, 1) : memref<?x2048xf32> -> !tile.view<?x2048xf32>
    %a = tile.load %xv[%m, %c0] : !tile.view<?x2048xf32> -> !tile.tile<1x2048xf32>
    %s = tile.dot %a, %b transpose_b block(1, 128) {tile.sum_across} : !tile.tile<1x2048xf32>, !tile.tile<128x2048xf32> -> !tile.tile<1x128xf32>
    %yv = tile.view %y axes(0, 1) : memref<?x5632xf32> -> !tile.view<?x5632xf32>
    tile.store %s, %yv[%m, %j] : !tile.tile<1x128xf32>, !tile.view<?x5632xf32>
  }
  return
}
