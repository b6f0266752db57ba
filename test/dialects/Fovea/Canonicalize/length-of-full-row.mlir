// RUN: fovea-opt %s -canonicalize -split-input-file | FileCheck %s

// CHECK-LABEL: @length_of_full_row
// CHECK: %[[C:.*]] = fovea.mask_causal
// CHECK-NOT: fovea.mask
// CHECK: fovea.attention {{.*}} mask(%[[C]])
func.func @length_of_full_row(%q: tensor<2x?x2x4xf32>, %k: tensor<2x5x2x4xf32>) -> tensor<2x?x2x4xf32> {
  %n = arith.constant dense<[5, 7]> : tensor<2xi32>
  %l = fovea.mask_length %n : tensor<2xi32>
  %c = fovea.mask_causal
  %m = fovea.mask_and(%l, %c)
  %o = fovea.attention %q, %k, %k mask(%m) : tensor<2x?x2x4xf32>, tensor<2x5x2x4xf32>, tensor<2x5x2x4xf32> -> tensor<2x?x2x4xf32>
  return %o : tensor<2x?x2x4xf32>
}

// -----

// CHECK-LABEL: @length_of_full_row_alone
// CHECK-NOT: mask
// CHECK: return
func.func @length_of_full_row_alone(%q: tensor<2x?x2x4xf32>, %k: tensor<2x5x2x4xf32>) -> tensor<2x?x2x4xf32> {
  %n = arith.constant dense<5> : tensor<1xi32>
  %l = fovea.mask_length %n : tensor<1xi32>
  %o = fovea.attention %q, %k, %k mask(%l) : tensor<2x?x2x4xf32>, tensor<2x5x2x4xf32>, tensor<2x5x2x4xf32> -> tensor<2x?x2x4xf32>
  return %o : tensor<2x?x2x4xf32>
}

// -----

// Inside `not` the same rewrite leaves nothing allowed.
// CHECK-LABEL: @not_length_of_full_row
// CHECK: %[[M:.*]] = fovea.mask_or(){{$}}
// CHECK-NOT: fovea.mask
// CHECK: fovea.attention {{.*}} mask(%[[M]])
func.func @not_length_of_full_row(%q: tensor<2x?x2x4xf32>, %k: tensor<2x5x2x4xf32>) -> tensor<2x?x2x4xf32> {
  %n = arith.constant dense<5> : tensor<1xi32>
  %l = fovea.mask_length %n : tensor<1xi32>
  %m = fovea.mask_not %l
  %o = fovea.attention %q, %k, %k mask(%m) : tensor<2x?x2x4xf32>, tensor<2x5x2x4xf32>, tensor<2x5x2x4xf32> -> tensor<2x?x2x4xf32>
  return %o : tensor<2x?x2x4xf32>
}
