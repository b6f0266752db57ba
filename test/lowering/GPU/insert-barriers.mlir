// RUN: fovea-opt %s --fovea-insert-barriers --split-input-file --verify-diagnostics | FileCheck %s

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

// -----

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
    // CHECK-NEXT: tile.get
    %0 = tile.get %c : !tile.shared<16x32xf32> -> !tile.tile<16x32xf32>
    // CHECK-NEXT: tile.barrier
    tile.barrier
    // CHECK-NEXT: tile.get
    %1 = tile.get %b : !tile.shared<16x32xf32> -> !tile.tile<16x32xf32>
    // CHECK-NEXT: }
  }
  return
}

// -----

// Either branch may have run. A loop may have had no round.
// CHECK-LABEL: func.func private @paths
func.func private @paths(%x: !tile.view<?x32xf32>, %t: !tile.tile<16x32xf32>, %n: index, %which: i1) {
  tile.kernel grid(%i) = (%n) {
    %a = tile.shared at(0) : !tile.shared<16x32xf32>
    // CHECK: scf.if
    scf.if %which {
      // CHECK-NEXT: tile.put
      tile.put %t to %a : !tile.tile<16x32xf32>, !tile.shared<16x32xf32>
    }
    // CHECK: tile.barrier
    // CHECK-NEXT: tile.get
    %0 = tile.get %a : !tile.shared<16x32xf32> -> !tile.tile<16x32xf32>
    // CHECK: scf.for
    scf.for %j = %i to %n step %n {
      // CHECK-NEXT: tile.barrier
      tile.barrier
    }
    // CHECK: tile.barrier
    // CHECK-NEXT: tile.put
    tile.put %t to %a : !tile.tile<16x32xf32>, !tile.shared<16x32xf32>
  }
  return
}

// -----

// A reduction across warps has a barrier of its own between its writes and its reads.
// CHECK-LABEL: func.func private @reduction
func.func private @reduction(%t: !tile.tile<1x32xf32>, %n: index) {
  tile.kernel grid(%i) = (%n) {
    %s = tile.shared at(0) : !tile.shared<128x1xf32>
    // CHECK: tile.shared
    // CHECK-NEXT: tile.reduce
    %0 = tile.reduce sum %t axis(1) scratch(%s : !tile.shared<128x1xf32>) : !tile.tile<1x32xf32> -> !tile.tile<1x1xf32>
    // CHECK-NEXT: tile.barrier
    // CHECK-NEXT: tile.reduce
    %1 = tile.reduce sum %t axis(1) scratch(%s : !tile.shared<128x1xf32>) : !tile.tile<1x32xf32> -> !tile.tile<1x1xf32>
  }
  return
}

// -----

func.func private @nowhere(%t: !tile.tile<1x32xf32>, %n: index) {
  tile.kernel grid(%i) = (%n) {
    // expected-error @below {{expects a place: fovea-plan-shared comes before}}
    %s = tile.shared : !tile.shared<1x32xf32>
    tile.put %t to %s : !tile.tile<1x32xf32>, !tile.shared<1x32xf32>
  }
  return
}

// -----

// Copies that are only begun: their bytes are written when they were waited for. Other slots of their ring are used meanwhile, so
// the barrier that is there is enough.
// CHECK-LABEL: func.func private @ring
func.func private @ring(%x: !tile.view<?x32xf32>, %zero: !tile.tile<16x16xf32>, %n: index, %c0: index, %one: index, %some: i1) {
  tile.kernel grid(%i) = (%n) {
    %before = tile.shared at(0) : !tile.shared<16x32xf32>
    %ring = tile.shared stages(2) at(0) : !tile.shared<16x32xf32>
    %t = tile.get %before : !tile.shared<16x32xf32> -> !tile.tile<16x32xf32>
    // What was read there before was another piece: a barrier, whether or not there is a copy.
    // CHECK: tile.barrier
    // CHECK-NEXT: scf.if
    %first = tile.slot %ring[%c0] : !tile.shared<16x32xf32>
    scf.if %some {
      // CHECK-NEXT: tile.copy
      tile.copy %x[%i, %c0] to %first async : !tile.view<?x32xf32>, !tile.shared<16x32xf32>
    }
    // CHECK-NOT: tile.barrier
    // CHECK: scf.for
    tile.commit
    %s:2 = scf.for %k = %c0 to %n step %n iter_args(%sum = %zero, %slot = %c0) -> (!tile.tile<16x16xf32>, index) {
      // CHECK-NEXT: tile.wait
      tile.wait pending(0)
      // CHECK-NEXT: tile.barrier
      tile.barrier
      // CHECK-NOT: tile.barrier
      // CHECK: tile.wait
      %other = tile.slot %ring[%one] : !tile.shared<16x32xf32>
      tile.copy %x[%i, %k] to %other async : !tile.view<?x32xf32>, !tile.shared<16x32xf32>
      tile.commit
      %a = tile.slot %ring[%slot] : !tile.shared<16x32xf32>
      %next = tile.mma %a, %a transpose_b into %sum : !tile.shared<16x32xf32>, !tile.shared<16x32xf32> -> !tile.tile<16x16xf32>
      scf.yield %next, %slot : !tile.tile<16x16xf32>, index
    }
    tile.wait pending(0)
    // CHECK: tile.barrier
    // CHECK-NEXT: tile.put
    tile.put %t to %before : !tile.tile<16x32xf32>, !tile.shared<16x32xf32>
  }
  return
}

// -----

func.func private @in_flight(%x: !tile.view<?x32xf32>, %n: index) {
  tile.kernel grid(%i) = (%n) {
    %a = tile.shared at(0) : !tile.shared<16x32xf32>
    tile.copy %x[%i, %i] to %a async : !tile.view<?x32xf32>, !tile.shared<16x32xf32>
    tile.commit
    // expected-error @below {{expects copies to bytes 0 to 2048 to be waited for by tile.wait pending(0)}}
    %t = tile.get %a : !tile.shared<16x32xf32> -> !tile.tile<16x32xf32>
  }
  return
}

// -----

// What mbarriers hand over needs no barrier; what the consumers write for each other does, and so does writing anew for
// the next point of the grid.
// CHECK-LABEL: func.func private @handed
func.func private @handed(%k: !tile.view<?x32xf32>, %n: index, %t: !tile.tile<16x32xf32>) {
  tile.kernel grid(%i) = (%n) {
    %ring = tile.shared stages(2) guarded at(0) : !tile.shared<16x32xf32>
    %a = tile.shared at(4224) : !tile.shared<16x32xf32>
    // CHECK: consumer
    // CHECK-NEXT: tile.barrier
    // CHECK-NEXT: tile.put
    // CHECK-NEXT: tile.await
    // CHECK-NEXT: tile.get
    // CHECK-NEXT: tile.release
    // CHECK-NEXT: tile.barrier
    // CHECK-NEXT: tile.get
    // CHECK-NOT: tile.barrier
    // CHECK: tile.yield
    tile.roles producer(%p) registers(24) {
      %s = tile.acquire %ring[%p] : !tile.shared<16x32xf32>
      tile.copy %k[%i, %i] to %s async : !tile.view<?x32xf32>, !tile.shared<16x32xf32>
      tile.publish %ring[%p] : !tile.shared<16x32xf32>
      tile.yield %p : index
    } consumer(%c) registers(240) {
      tile.put %t to %a : !tile.tile<16x32xf32>, !tile.shared<16x32xf32>
      %s = tile.await %ring[%c] : !tile.shared<16x32xf32>
      %x = tile.get %s : !tile.shared<16x32xf32> -> !tile.tile<16x32xf32>
      tile.release %ring[%c] : !tile.shared<16x32xf32>
      %y = tile.get %a : !tile.shared<16x32xf32> -> !tile.tile<16x32xf32>
      tile.yield %c : index
    }
  }
  return
}
