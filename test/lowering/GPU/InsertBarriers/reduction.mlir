// RUN: fovea-opt %s --fovea-insert-barriers --verify-diagnostics | FileCheck %s

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
