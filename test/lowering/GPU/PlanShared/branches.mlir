// RUN: fovea-opt %s --fovea-plan-shared | FileCheck %s

// Of two branches only one runs. What a round reads before it writes it came from the round before.
// CHECK-LABEL: func.func private @branches
func.func private @branches(%x: !tile.view<?x32xf32>, %n: index, %one: index, %which: i1) {
  tile.kernel grid(%i) = (%n) {
    // CHECK: tile.shared at(0) : !tile.shared<16x32xf32>
    %a = tile.shared : !tile.shared<16x32xf32>
    // CHECK: tile.shared at(0) : !tile.shared<16x32xf32>
    %b = tile.shared : !tile.shared<16x32xf32>
    // CHECK: tile.shared at(2048) : !tile.shared<16x32xf32>
    %kept = tile.shared : !tile.shared<16x32xf32>
    scf.for %j = %i to %n step %one {
      %0 = tile.local_load %kept : !tile.shared<16x32xf32> -> !tile.tile<16x32xf32>
      scf.if %which {
        tile.copy %x[%j, %i] to %a : !tile.view<?x32xf32>, !tile.shared<16x32xf32>
        %1 = tile.local_load %a : !tile.shared<16x32xf32> -> !tile.tile<16x32xf32>
      } else {
        tile.copy %x[%j, %i] to %b : !tile.view<?x32xf32>, !tile.shared<16x32xf32>
        %1 = tile.local_load %b : !tile.shared<16x32xf32> -> !tile.tile<16x32xf32>
      }
      tile.local_store %0 to %kept : !tile.tile<16x32xf32>, !tile.shared<16x32xf32>
    }
  }
  return
}
