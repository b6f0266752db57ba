// RUN: fovea-opt %s -canonicalize -split-input-file | FileCheck %s

// CHECK-LABEL: @length_shorter_than_row_stays
// CHECK: fovea.mask_length
// CHECK: fovea.attention {{.*}} mask(
func.func @length_shorter_than_row_stays(%q: tensor<2x?x2x4xf32>, %k: tensor<2x5x2x4xf32>) -> tensor<2x?x2x4xf32> {
  %n = arith.constant dense<[5, 4]> : tensor<2xi32>
  %l = fovea.mask_length %n : tensor<2xi32>
  %o = fovea.attention %q, %k, %k mask(%l) : tensor<2x?x2x4xf32>, tensor<2x5x2x4xf32>, tensor<2x5x2x4xf32> -> tensor<2x?x2x4xf32>
  return %o : tensor<2x?x2x4xf32>
}

// -----

// CHECK-LABEL: @length_of_dynamic_row_stays
// CHECK: fovea.mask_length
// CHECK: fovea.attention {{.*}} mask(
func.func @length_of_dynamic_row_stays(%q: tensor<2x?x2x4xf32>) -> tensor<2x?x2x4xf32> {
  %n = arith.constant dense<5> : tensor<2xi32>
  %l = fovea.mask_length %n : tensor<2xi32>
  %o = fovea.attention %q, %q, %q mask(%l) : tensor<2x?x2x4xf32>, tensor<2x?x2x4xf32>, tensor<2x?x2x4xf32> -> tensor<2x?x2x4xf32>
  return %o : tensor<2x?x2x4xf32>
}

// -----

// CHECK-LABEL: @length_with_key_positions_stays
// CHECK: fovea.mask_length
// CHECK: fovea.attention {{.*}} mask(
func.func @length_with_key_positions_stays(%q: tensor<2x?x2x4xf32>, %k: tensor<2x5x2x4xf32>, %p: tensor<1x5xi32>) -> tensor<2x?x2x4xf32> {
  %n = arith.constant dense<5> : tensor<2xi32>
  %l = fovea.mask_length %n : tensor<2xi32>
  %o = fovea.attention %q, %k, %k k_pos(%p : tensor<1x5xi32>) mask(%l) : tensor<2x?x2x4xf32>, tensor<2x5x2x4xf32>, tensor<2x5x2x4xf32> -> tensor<2x?x2x4xf32>
  return %o : tensor<2x?x2x4xf32>
}

// -----

// CHECK-LABEL: @length_of_cache_stays
// CHECK: fovea.mask_length
// CHECK: fovea.attention {{.*}} mask(
func.func @length_of_cache_stays(%q: tensor<2x?x2x4xf32>, %k: !fovea.cache<key, 2x4xf32>, %v: !fovea.cache<value, 2x4xf32>) -> tensor<2x?x2x4xf32> {
  %n = arith.constant dense<5> : tensor<2xi32>
  %l = fovea.mask_length %n : tensor<2xi32>
  %o = fovea.attention %q, %k, %v mask(%l) : tensor<2x?x2x4xf32>, !fovea.cache<key, 2x4xf32>, !fovea.cache<value, 2x4xf32> -> tensor<2x?x2x4xf32>
  return %o : tensor<2x?x2x4xf32>
}
