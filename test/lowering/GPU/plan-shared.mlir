// RUN: fovea-opt %s --fovea-plan-shared --split-input-file | FileCheck %s
// RUN: not fovea-opt %s --fovea-plan-shared=limit=8192 --split-input-file 2>&1 | FileCheck %s --check-prefix=LESS
// LESS: error: {{.*}}expects to need at most 8192 bytes of shared memory, needs 10240

// Two operands of one product live together; those of the next product come after them and take their place.
// CHECK-LABEL: func.func private @sequence
// CHECK-SAME: fovea.shared_bytes = 10240 : i64
func.func private @sequence(%x: !tile.view<?x32xf32>, %zero: !tile.tile<64x16xf32>, %n: index) {
  tile.kernel grid(%i) = (%n) {
    // CHECK: tile.shared at(8192) : !tile.shared<16x32xf32>
    %a = tile.shared : !tile.shared<16x32xf32>
    // CHECK: tile.shared at(0) : !tile.shared<64x32xf32>
    %b = tile.shared : !tile.shared<64x32xf32>
    // CHECK: tile.shared at(0) : !tile.shared<16x64xf32>
    %c = tile.shared : !tile.shared<16x64xf32>
    // CHECK: tile.shared at(4096) : !tile.shared<16x64xf32>
    %d = tile.shared : !tile.shared<16x64xf32>
    tile.copy %x[%i, %i] to %b : !tile.view<?x32xf32>, !tile.shared<64x32xf32>
    tile.copy %x[%i, %i] to %a : !tile.view<?x32xf32>, !tile.shared<16x32xf32>
    %0 = tile.mma %b, %a transpose_b into %zero : !tile.shared<64x32xf32>, !tile.shared<16x32xf32> -> !tile.tile<64x16xf32>
    tile.copy %x[%i, %i] to %c : !tile.view<?x32xf32>, !tile.shared<16x64xf32>
    tile.copy %x[%i, %i] to %d : !tile.view<?x32xf32>, !tile.shared<16x64xf32>
    %1 = tile.get %c : !tile.shared<16x64xf32> -> !tile.tile<16x64xf32>
    %2 = tile.get %d : !tile.shared<16x64xf32> -> !tile.tile<16x64xf32>
  }
  return
}

// -----

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
      %0 = tile.get %before : !tile.shared<16x32xf32> -> !tile.tile<16x32xf32>
      tile.copy %x[%j, %i] to %k : !tile.view<?x32xf32>, !tile.shared<16x32xf32>
      %1 = tile.get %k : !tile.shared<16x32xf32> -> !tile.tile<16x32xf32>
      tile.copy %x[%j, %i] to %v : !tile.view<?x32xf32>, !tile.shared<16x32xf32>
      %2 = tile.get %v : !tile.shared<16x32xf32> -> !tile.tile<16x32xf32>
    }
  }
  return
}

// -----

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
      %0 = tile.get %kept : !tile.shared<16x32xf32> -> !tile.tile<16x32xf32>
      scf.if %which {
        tile.copy %x[%j, %i] to %a : !tile.view<?x32xf32>, !tile.shared<16x32xf32>
        %1 = tile.get %a : !tile.shared<16x32xf32> -> !tile.tile<16x32xf32>
      } else {
        tile.copy %x[%j, %i] to %b : !tile.view<?x32xf32>, !tile.shared<16x32xf32>
        %1 = tile.get %b : !tile.shared<16x32xf32> -> !tile.tile<16x32xf32>
      }
      tile.put %0 to %kept : !tile.tile<16x32xf32>, !tile.shared<16x32xf32>
    }
  }
  return
}

// -----

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
      %first = tile.slot %a[%i] : !tile.shared<16x32xf32>
      tile.copy %x[%i, %i] to %first async : !tile.view<?x32xf32>, !tile.shared<16x32xf32>
      tile.copy %x[%i, %i] to %b : !tile.view<?x32xf32>, !tile.shared<16x32xf32>
      scf.for %j = %i to %n step %one {
        %next = tile.slot %a[%j] : !tile.shared<16x32xf32>
        %0 = tile.get %b : !tile.shared<16x32xf32> -> !tile.tile<16x32xf32>
      }
      scf.for %p = %i to %n step %one {
        %start = tile.slot %c[%p] : !tile.shared<16x32xf32>
        tile.copy %x[%i, %i] to %start async : !tile.view<?x32xf32>, !tile.shared<16x32xf32>
      }
      scf.for %j = %i to %n step %one {
        %next = tile.slot %c[%j] : !tile.shared<16x32xf32>
        %0 = tile.get %next : !tile.shared<16x32xf32> -> !tile.tile<16x32xf32>
      }
    }
  }
  return
}

// -----

// A guarded ring's mbarriers lie behind its slots, and its producer may be anywhere: it shares its bytes with nothing.
// CHECK-LABEL: func.func private @guarded
// CHECK-SAME: fovea.shared_bytes = 6272 : i64
func.func private @guarded(%n: index) {
  tile.kernel grid(%i) = (%n) {
    // CHECK: tile.shared stages(2) guarded at(0) : !tile.shared<16x32xf32>
    %ring = tile.shared stages(2) guarded : !tile.shared<16x32xf32>
    // CHECK: tile.shared at(4224) : !tile.shared<16x32xf32>
    %a = tile.shared : !tile.shared<16x32xf32>
    tile.roles producer(%p) registers(24) {
      %s = tile.acquire %ring[%p] : !tile.shared<16x32xf32>
      tile.publish %ring[%p] : !tile.shared<16x32xf32>
      tile.yield %p : index
    } consumer(%c) registers(240) {
      %s = tile.await %ring[%c] : !tile.shared<16x32xf32>
      tile.release %ring[%c] : !tile.shared<16x32xf32>
      %t = tile.get %a : !tile.shared<16x32xf32> -> !tile.tile<16x32xf32>
      tile.yield %c : index
    }
  }
  return
}
