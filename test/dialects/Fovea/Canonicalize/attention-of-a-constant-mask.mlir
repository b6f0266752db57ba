// RUN: fovea-opt %s -canonicalize -split-input-file | FileCheck %s

// CHECK-LABEL: @everything_allowed
// CHECK-NOT: fovea.mask
// CHECK-NOT: mask(
func.func @everything_allowed(%q: tensor<?x?x2x4xf32>) -> tensor<?x?x2x4xf32> {
  %m = fovea.mask_and()
  %o = fovea.attention %q, %q, %q mask(%m) : tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32> -> tensor<?x?x2x4xf32>
  return %o : tensor<?x?x2x4xf32>
}

// -----

// CHECK-LABEL: @nothing_allowed_keeps_fill
// CHECK: %[[M:.*]] = fovea.mask_or(){{$}}
// CHECK: fovea.attention {{.*}} mask(%[[M]]) fill(mean)
func.func @nothing_allowed_keeps_fill(%q: tensor<?x3x2x4xf32>) -> tensor<?x3x2x4xf32> {
  %t = arith.constant dense<0> : tensor<3x3xi32>
  %d = fovea.mask_dense %t : tensor<3x3xi32>
  %o = fovea.attention %q, %q, %q mask(%d) fill(mean) : tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32> -> tensor<?x3x2x4xf32>
  return %o : tensor<?x3x2x4xf32>
}
