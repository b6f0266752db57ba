// RUN: fovea-opt %s --pass-pipeline='builtin.module(func.func(fovea-partition))' | FileCheck %s

// Of 2 * n iterations a call runs those from 2 * n * part / parts to 2 * n * (part + 1) / parts: rows, and of the first and the
// last row only its share.
// CHECK-LABEL: func.func private @kernel(
// CHECK-SAME: %[[N:[^:]*]]: index, %[[PART:[^:]*]]: index, %[[PARTS:[^:]*]]: index)
// CHECK: %[[TOTAL:.*]] = arith.muli %{{.*}}, %[[N]] : index
// CHECK: %[[LOW:.*]] = arith.muli %[[TOTAL]], %[[PART]] : index
// CHECK: %[[BEGIN:.*]] = arith.divui %[[LOW]], %[[PARTS]] : index
// CHECK: %[[HIGH:.*]] = arith.muli %[[TOTAL]], %{{.*}} : index
// CHECK: %[[END:.*]] = arith.divui %[[HIGH]], %[[PARTS]] : index
// CHECK: %[[WIDTH:.*]] = arith.maxui %[[N]],
// CHECK-DAG: %[[LASTROW:.*]] = arith.ceildivui %[[END]], %[[WIDTH]] : index
// CHECK-DAG: %[[FIRSTROW:.*]] = arith.divui %[[BEGIN]], %[[WIDTH]] : index
// CHECK: scf.for %[[ROW:.*]] = %[[FIRSTROW]] to %[[LASTROW]]
// CHECK: %[[FIRST:.*]] = arith.muli %[[ROW]], %[[WIDTH]] : index
// CHECK: %[[SKIP:.*]] = arith.subi %[[BEGIN]], %[[FIRST]] : index
// CHECK: %[[FROM:.*]] = arith.maxsi %[[SKIP]],
// CHECK: %[[LEFT:.*]] = arith.subi %[[END]], %[[FIRST]] : index
// CHECK: %[[TO:.*]] = arith.minsi %[[LEFT]], %[[WIDTH]] : index
// CHECK: scf.for %[[COLUMN:.*]] = %[[FROM]] to %[[TO]]
// CHECK: memref.store %{{.*}}, %{{.*}}[%[[ROW]], %[[COLUMN]]]
// CHECK-NOT: scf.parallel
func.func private @kernel(%x: memref<2x?xf32>, %n: index, %part: index, %parts: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  scf.parallel (%i, %j) = (%c0, %c0) to (%c2, %n) step (%c1, %c1) {
    memref.store %zero, %x[%i, %j] : memref<2x?xf32>
  }
  return
}

// An entry has no part of its own.
// CHECK-LABEL: func.func @entry
// CHECK: scf.parallel
func.func @entry(%n: index) attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
  }
  return
}
