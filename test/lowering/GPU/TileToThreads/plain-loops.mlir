// RUN: fovea-opt %s --fovea-tile-to-threads --canonicalize --cse | FileCheck %s

// Plain loops: an iteration a thread.

gpu.module @gpu {
  // CHECK-LABEL: func.func private @loops
  // CHECK: %[[NUMBER:.*]] = arith.addi
  // CHECK: %[[EXISTS:.*]] = arith.cmpi ult, %[[NUMBER]]
  // CHECK: scf.if %[[EXISTS]] {
  // CHECK-DAG: arith.remui %[[NUMBER]]
  // CHECK-DAG: arith.divui %[[NUMBER]]
  // CHECK: memref.store
  func.func private @loops(%x: memref<?x5xf32>, %part: index, %parts: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c5 = arith.constant 5 : index
    %one = arith.constant 1.0 : f32
    %rows = memref.dim %x, %c0 : memref<?x5xf32>
    scf.parallel (%i, %j) = (%c0, %c0) to (%rows, %c5) step (%c1, %c1) {
      memref.store %one, %x[%i, %j] : memref<?x5xf32>
    }
    return
  }
}
