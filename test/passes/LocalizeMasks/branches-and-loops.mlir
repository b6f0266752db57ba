// RUN: fovea-opt %s --fovea-localize-masks --fovea-verify-graph | FileCheck %s

// Calls that pass different lengths: an argument, not a copy. A shared mask is cloned for each user, into the branch
// and the loop too.

// CHECK-LABEL: func.func private @one(
// CHECK-SAME: %{{[^:]*}}: tensor<1x3x2x4xf32>, %[[N:[^:]*]]: tensor<1xi32>)
// CHECK: fovea.mask_length %[[N]]
func.func private @one(%q: tensor<1x3x2x4xf32>, %m: !fovea.mask) -> tensor<1x3x2x4xf32> {
  %o = fovea.attention %q, %q, %q mask(%m) : tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32> -> tensor<1x3x2x4xf32>
  return %o : tensor<1x3x2x4xf32>
}

// CHECK-LABEL: func.func @control
// CHECK-SAME: %[[N1:[^:]*]]: tensor<1xi32>, %[[N2:[^:]*]]: tensor<1xi32>
// CHECK: call @one(%{{.*}}, %[[N1]])
// CHECK: call @one(%{{.*}}, %[[N2]])
// CHECK: scf.if
// CHECK-NEXT: %[[A:.*]] = fovea.mask_length %[[N1]]
// CHECK-NEXT: fovea.attention {{.*}} mask(%[[A]])
// CHECK: scf.for
// CHECK-NEXT: %[[B:.*]] = fovea.mask_length %[[N1]]
// CHECK-NEXT: fovea.attention {{.*}} mask(%[[B]])
func.func @control(%q: tensor<1x3x2x4xf32>, %n1: tensor<1xi32>, %n2: tensor<1xi32>, %if: i1, %i: index) -> tensor<1x3x2x4xf32> {
  %m1 = fovea.mask_length %n1 : tensor<1xi32>
  %m2 = fovea.mask_length %n2 : tensor<1xi32>
  %0 = call @one(%q, %m1) : (tensor<1x3x2x4xf32>, !fovea.mask) -> tensor<1x3x2x4xf32>
  %1 = call @one(%0, %m2) : (tensor<1x3x2x4xf32>, !fovea.mask) -> tensor<1x3x2x4xf32>
  %2 = scf.if %if -> tensor<1x3x2x4xf32> {
    %o = fovea.attention %1, %1, %1 mask(%m1) : tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32> -> tensor<1x3x2x4xf32>
    scf.yield %o : tensor<1x3x2x4xf32>
  } else {
    scf.yield %1 : tensor<1x3x2x4xf32>
  }
  %3 = scf.for %k = %i to %i step %i iter_args(%x = %2) -> tensor<1x3x2x4xf32> {
    %o = fovea.attention %x, %x, %x mask(%m1) : tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32> -> tensor<1x3x2x4xf32>
    scf.yield %o : tensor<1x3x2x4xf32>
  }
  return %3 : tensor<1x3x2x4xf32>
}
