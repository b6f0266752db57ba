// RUN: fovea-opt %s | fovea-opt | FileCheck %s

// Copies that are begun, and rings.
// CHECK-LABEL: func.func private @ring
func.func private @ring(%x: !tile.view<?x32xf32>, %i: index) {
  // CHECK: %[[RING:.*]] = tile.shared stages(3) at(128) : !tile.shared<16x32xf32>
  %ring = tile.shared stages(3) at(128) : !tile.shared<16x32xf32>
  // CHECK: %[[SLOT:.*]] = tile.slot %[[RING]][%{{.*}}] : !tile.shared<16x32xf32>
  %s = tile.slot %ring[%i] : !tile.shared<16x32xf32>
  // CHECK: tile.copy %{{.*}}[%{{.*}}, %{{.*}}] to %[[SLOT]] async : !tile.view<?x32xf32>, !tile.shared<16x32xf32>
  tile.copy %x[%i, %i] to %s async : !tile.view<?x32xf32>, !tile.shared<16x32xf32>
  // CHECK: tile.commit
  tile.commit
  // CHECK: tile.wait pending(1)
  tile.wait pending(1)
  return
}
