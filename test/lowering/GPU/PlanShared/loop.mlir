// RUN: fovea-opt %s --fovea-plan-shared | FileCheck %s

// A piece that is written before a loop lives as long as the loop; one that each round writes first does not.
// CHECK-LABEL: func.func private @loop
func.func private @loop(%x: !tile.view<?x32xf32>, %n: index, %one: index) {
  tile.kernel grid(%i) = (%n) {
    // CHECK: %[[BEFORE:.*]] = tile.shared at(0) : !tile.shared<16x32xf32>
    %before = tile.shared : !tile.shared<16x32xf32>
    // CHECK: tile.shared at(2048) : !tile.shared<16x32xf32>
    %k = tile.shared : !tile.shared<16x32xf32>
    // CHECK: tile.shared at(2048) : !tile.shared<16x32xf32>
    %v = tile.shared : !tile.shared<16x32xf32>
    tile.copy %x[%i, %i] to %before : !tile.view<?x32xf32>, !tile.shared<16x32xf32>
    scf.for %j = %i to %n step %one {
      %0 = tile.local_load %before : !tile.shared<16x32xf32> -> !tile.tile<16x32xf32>
      tile.copy %x[%j, %i] to %k : !tile.view<?x32xf32>, !tile.shared<16x32xf32>
      %1 = tile.local_load %k : !tile.shared<16x32xf32> -> !tile.tile<16x32xf32>
      tile.copy %x[%j, %i] to %v : !tile.view<?x32xf32>, !tile.shared<16x32xf32>
      %2 = tile.local_load %v : !tile.shared<16x32xf32> -> !tile.tile<16x32xf32>
    }
  }
  return
}
