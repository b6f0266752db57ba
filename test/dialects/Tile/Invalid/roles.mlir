// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// What tile.warp_specialize refuses, by the number of the constraint.

func.func private @roles_c1(%n: index) {
  tile.kernel grid(%i) = (%n) {
    // expected-error @below {{expects each region to yield as many rounds as it begins with, 1}}
    tile.warp_specialize producer(%p) registers(24) {
      tile.yield
    } consumer(%c) registers(240) {
      tile.yield %c : index
    }
  }
  return
}

// -----

func.func private @roles_c2(%n: index) {
  tile.kernel grid(%i) = (%n) {
    // expected-error @below {{expects a number of registers that is a multiple of 8 from 24 to 240, got 250}}
    tile.warp_specialize producer(%p) registers(24) {
      tile.yield %p : index
    } consumer(%c) registers(250) {
      tile.yield %c : index
    }
  }
  return
}
