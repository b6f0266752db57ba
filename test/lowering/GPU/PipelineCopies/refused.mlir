// RUN: fovea-opt %s --fovea-pipeline-copies | FileCheck %s

// What a loop stores another round may copy. A place that depends on what the round before has found is not known
// ahead. A single round has none before it.
// CHECK-LABEL: func.func private @none
// CHECK-NOT: stages
// CHECK-NOT: async
func.func private @none(%x: memref<?x192xf32>, %t: !tile.tile<64x32xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %xv = tile.view %x axes(0, 1) : memref<?x192xf32> -> !tile.view<?x192xf32>
  tile.kernel grid(%i) = (%n) {
    %a = tile.shared : !tile.shared<64x32xf32>
    %b = tile.shared : !tile.shared<64x32xf32>
    %c = tile.shared : !tile.shared<64x32xf32>
    scf.for %k = %c0 to %n step %c32 {
      tile.copy %xv[%i, %k] to %a : !tile.view<?x192xf32>, !tile.shared<64x32xf32>
      tile.store %t, %xv[%i, %k] : !tile.tile<64x32xf32>, !tile.view<?x192xf32>
    }
    %r = scf.for %k = %c0 to %n step %c32 iter_args(%at = %c0) -> (index) {
      tile.copy %xv[%i, %at] to %b : !tile.view<?x192xf32>, !tile.shared<64x32xf32>
      %next = arith.addi %at, %k : index
      scf.yield %next : index
    }
    scf.for %k = %c0 to %c1 step %c1 {
      tile.copy %xv[%i, %c0] to %c : !tile.view<?x192xf32>, !tile.shared<64x32xf32>
    }
  }
  return
}
