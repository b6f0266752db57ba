// RUN: fovea-opt %s | fovea-opt | FileCheck %s

// Copies that are begun, and rings.
// CHECK-LABEL: func.func private @ring
func.func private @ring(%x: !tile.view<?x32xf32>, %i: index) {
  // CHECK: %[[RING:.*]] = tile.shared stages(3) at(128) : !tile.shared<16x32xf32>
  %ring = tile.shared stages(3) at(128) : !tile.shared<16x32xf32>
  // CHECK: %[[SLOT:.*]] = tile.stage %[[RING]][%{{.*}}] : !tile.shared<16x32xf32>
  %s = tile.stage %ring[%i] : !tile.shared<16x32xf32>
  // CHECK: tile.copy %{{.*}}[%{{.*}}, %{{.*}}] to %[[SLOT]] async : !tile.view<?x32xf32>, !tile.shared<16x32xf32>
  tile.copy %x[%i, %i] to %s async : !tile.view<?x32xf32>, !tile.shared<16x32xf32>
  // CHECK: tile.async_commit
  tile.async_commit
  // CHECK: tile.async_wait pending(1)
  tile.async_wait pending(1)
  return
}
