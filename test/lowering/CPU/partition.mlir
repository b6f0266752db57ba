// RUN: fovea-opt %s --pass-pipeline='builtin.module(func.func(fovea-partition))' | FileCheck %s

// Six iterations in all, of which a call runs those from 6 * part / parts to 6 * (part + 1) / parts.
// CHECK-LABEL: func.func private @kernel(
// CHECK-SAME: %[[N:[^:]*]]: index, %[[PART:[^:]*]]: index, %[[PARTS:[^:]*]]: index)
// CHECK: %[[TOTAL:.*]] = arith.muli %{{.*}}, %[[N]] : index
// CHECK: %[[LOW:.*]] = arith.muli %[[TOTAL]], %[[PART]] : index
// CHECK: %[[BEGIN:.*]] = arith.divui %[[LOW]], %[[PARTS]] : index
// CHECK: %[[HIGH:.*]] = arith.muli %[[TOTAL]], %{{.*}} : index
// CHECK: %[[END:.*]] = arith.divui %[[HIGH]], %[[PARTS]] : index
// CHECK: scf.for %[[I:.*]] = %[[BEGIN]] to %[[END]]
// CHECK: %[[COLUMN:.*]] = arith.remui %[[I]], %[[N]] : index
// CHECK: %[[ROW:.*]] = arith.divui %[[I]], %[[N]] : index
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
