// RUN: fovea verify %s --quiet --dim width=5 | FileCheck %s
// RUN: fovea verify %s --quiet --dim width=5 --dim rows=3 | FileCheck %s --check-prefix=BOTH
// RUN: not fovea verify %s --quiet --dim wide=5 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not fovea verify %s --quiet --dim width=0 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: not fovea verify %s --quiet --dim width 2>&1 | FileCheck %s --check-prefix=SIZE

// A size that is given holds in all calls; the others vary.

// CHECK: main batch 1, length 1, width 5 z
// CHECK: main batch 2, length 33, width 5 z
// CHECK: main batch 2, length 7, width 5, scaled by 0.001 z
// CHECK: 11 outputs agree

// BOTH: main batch 1, rows 3, width 5 z
// BOTH: main batch 2, rows 3, width 5 z
// BOTH: 5 outputs agree

// NAME: --dim wide=5: expects an open dimension of the entries, which have rows, width
// SIZE: --dim width{{.*}}: expects NAME=SIZE, a size from 1 to 1048576
func.func @main(%x: tensor<?x?xf32> {fovea.name = "x", fovea.dims = ["rows", "width"]}, %y: tensor<?x?xf32> {fovea.name = "y", fovea.dims = ["rows", "width"]})
    -> (tensor<?x?xf32> {fovea.name = "z", fovea.dims = ["rows", "width"]}) attributes {fovea.entry} {
  %z = arith.addf %x, %y : tensor<?x?xf32>
  return %z : tensor<?x?xf32>
}
