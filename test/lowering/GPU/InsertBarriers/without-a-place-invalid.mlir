// RUN: fovea-opt %s --fovea-insert-barriers --verify-diagnostics

func.func private @nowhere(%t: !tile.tile<1x32xf32>, %n: index) {
  tile.kernel grid(%i) = (%n) {
    // expected-error @below {{expects a place: fovea-plan-shared comes before}}
    %s = tile.shared : !tile.shared<1x32xf32>
    tile.local_store %t to %s : !tile.tile<1x32xf32>, !tile.shared<1x32xf32>
  }
  return
}
