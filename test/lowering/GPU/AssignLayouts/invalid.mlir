// RUN: fovea-opt %s --split-input-file --verify-diagnostics --fovea-assign-layouts

// expected-error @below {{expects whole warps of up to 1024 threads, got 48}}
func.func private @no_whole_warps(%x: memref<?x64xf32>, %n: index) attributes {fovea.threads = 48 : i32} {
  tile.kernel grid(%i) = (%n) {
  }
  return
}

// -----

// Three warpgroups are for products by wgmma.
func.func private @no_atoms(%x: memref<?x64xf32>, %n: index) attributes {fovea.threads = 384 : i32} {
  // expected-error @below {{expects a power of two threads where no product has an atom, got 384}}
  tile.kernel grid(%i) = (%n) {
  }
  return
}
