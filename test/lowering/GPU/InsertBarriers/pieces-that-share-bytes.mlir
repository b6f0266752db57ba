// RUN: fovea-opt %s --fovea-insert-barriers --verify-diagnostics | FileCheck %s

// Pieces that share bytes are one; pieces apart need none. A barrier that is there already counts.
// CHECK-LABEL: func.func private @bytes
func.func private @bytes(%x: !tile.view<?x32xf32>, %n: index) {
  tile.kernel grid(%i) = (%n) {
    %a = tile.shared at(0) : !tile.shared<16x32xf32>
    %b = tile.shared at(1024) : !tile.shared<16x32xf32>
    %c = tile.shared at(4096) : !tile.shared<16x32xf32>
    // CHECK: tile.copy
    tile.copy %x[%i, %i] to %a : !tile.view<?x32xf32>, !tile.shared<16x32xf32>
    // CHECK-NEXT: tile.copy
    tile.copy %x[%i, %i] to %c : !tile.view<?x32xf32>, !tile.shared<16x32xf32>
    // CHECK-NEXT: tile.barrier
    // CHECK-NEXT: tile.copy
    tile.copy %x[%i, %i] to %b : !tile.view<?x32xf32>, !tile.shared<16x32xf32>
    // CHECK-NEXT: tile.local_load
    %0 = tile.local_load %c : !tile.shared<16x32xf32> -> !tile.tile<16x32xf32>
    // CHECK-NEXT: tile.barrier
    tile.barrier
    // CHECK-NEXT: tile.local_load
    %1 = tile.local_load %b : !tile.shared<16x32xf32> -> !tile.tile<16x32xf32>
    // CHECK-NEXT: }
  }
  return
}
