// RUN: fovea-opt %s --fovea-insert-barriers --verify-diagnostics

func.func private @in_flight(%x: !tile.view<?x32xf32>, %n: index) {
  tile.kernel grid(%i) = (%n) {
    %a = tile.shared at(0) : !tile.shared<16x32xf32>
    tile.copy %x[%i, %i] to %a async : !tile.view<?x32xf32>, !tile.shared<16x32xf32>
    tile.async_commit
    // expected-error @below {{expects copies to bytes 0 to 2048 to be waited for by tile.async_wait pending(0)}}
    %t = tile.local_load %a : !tile.shared<16x32xf32> -> !tile.tile<16x32xf32>
  }
  return
}
