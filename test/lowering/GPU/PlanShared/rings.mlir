// RUN: fovea-opt %s --fovea-plan-shared | FileCheck %s

// A ring has all its slots, as long as the loop that reads it and what fills it before; another one behind it takes its place.
// CHECK-LABEL: func.func private @rings
// CHECK-SAME: fovea.shared_bytes = 8192 : i64
func.func private @rings(%x: !tile.view<?x32xf32>, %n: index, %one: index) {
  tile.kernel grid(%i) = (%n) {
    // CHECK: tile.shared stages(3) at(0) : !tile.shared<16x32xf32>
    %a = tile.shared stages(3) : !tile.shared<16x32xf32>
    // CHECK: tile.shared at(6144) : !tile.shared<16x32xf32>
    %b = tile.shared : !tile.shared<16x32xf32>
    // CHECK: tile.shared stages(3) at(0) : !tile.shared<16x32xf32>
    %c = tile.shared stages(3) : !tile.shared<16x32xf32>
    scf.for %l = %i to %n step %one {
      %first = tile.stage %a[%i] : !tile.shared<16x32xf32>
      tile.copy %x[%i, %i] to %first async : !tile.view<?x32xf32>, !tile.shared<16x32xf32>
      tile.copy %x[%i, %i] to %b : !tile.view<?x32xf32>, !tile.shared<16x32xf32>
      scf.for %j = %i to %n step %one {
        %next = tile.stage %a[%j] : !tile.shared<16x32xf32>
        %0 = tile.local_load %b : !tile.shared<16x32xf32> -> !tile.tile<16x32xf32>
      }
      scf.for %p = %i to %n step %one {
        %start = tile.stage %c[%p] : !tile.shared<16x32xf32>
        tile.copy %x[%i, %i] to %start async : !tile.view<?x32xf32>, !tile.shared<16x32xf32>
      }
      scf.for %j = %i to %n step %one {
        %next = tile.stage %c[%j] : !tile.shared<16x32xf32>
        %0 = tile.local_load %next : !tile.shared<16x32xf32> -> !tile.tile<16x32xf32>
      }
    }
  }
  return
}
