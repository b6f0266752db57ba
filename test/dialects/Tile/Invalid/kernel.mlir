// RUN: fovea-opt %s --split-input-file --verify-diagnostics

// What tile.kernel refuses, by the number of the constraint.

func.func private @kernel_c1_no_extent() {
  // expected-error @below {{expects a grid of at least one extent}}
  tile.kernel grid() = () {
  }
  return
}

// -----

func.func private @kernel_c1_extent_without_argument(%n: index) {
  // expected-error @below {{expects one index argument for each of 2 extents, got 1 arguments}}
  tile.kernel grid(%i) = (%n, %n) {
  }
  return
}

// -----

func.func private @kernel_c2_value(%n: index) {
  // expected-error @below {{expects to end with no value, got 1}}
  tile.kernel grid(%i) = (%n) {
    tile.yield %i : index
  }
  return
}
