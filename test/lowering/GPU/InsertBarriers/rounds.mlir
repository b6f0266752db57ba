// RUN: fovea-opt %s --fovea-insert-barriers --verify-diagnostics | FileCheck %s

// Before the copies of a round (the round before may still read), and between them and the product.
// CHECK-LABEL: func.func private @rounds
func.func private @rounds(%x: !tile.view<?x32xf32>, %zero: !tile.tile<16x16xf32>, %n: index, %c: index) {
  tile.kernel grid(%i) = (%n) {
    %a = tile.shared at(0) : !tile.shared<16x32xf32>
    %b = tile.shared at(2048) : !tile.shared<16x32xf32>
    // CHECK: scf.for
    %s = scf.for %k = %c to %n step %c iter_args(%sum = %zero) -> (!tile.tile<16x16xf32>) {
      // CHECK-NEXT: tile.barrier
      // CHECK-NEXT: tile.copy
      tile.copy %x[%i, %k] to %a : !tile.view<?x32xf32>, !tile.shared<16x32xf32>
      // CHECK-NEXT: tile.copy
      tile.copy %x[%i, %k] to %b : !tile.view<?x32xf32>, !tile.shared<16x32xf32>
      // CHECK-NEXT: tile.barrier
      // CHECK-NEXT: tile.mma
      %next = tile.mma %a, %b transpose_b into %sum : !tile.shared<16x32xf32>, !tile.shared<16x32xf32> -> !tile.tile<16x16xf32>
      // CHECK-NEXT: tile.mma
      %more = tile.mma %a, %b transpose_b into %next : !tile.shared<16x32xf32>, !tile.shared<16x32xf32> -> !tile.tile<16x16xf32>
      // CHECK-NEXT: scf.yield
      scf.yield %more : !tile.tile<16x16xf32>
    }
  }
  return
}
