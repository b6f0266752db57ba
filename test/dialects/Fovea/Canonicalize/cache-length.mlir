// RUN: fovea-opt %s -canonicalize -split-input-file | FileCheck %s

// CHECK-LABEL: @length_of_new_cache
// CHECK: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK: return %[[ZERO]]
func.func @length_of_new_cache(%b: index, %n: index) -> index {
  %c = fovea.cache_create %b, %n : !fovea.cache<key, 2x4xf32>
  %l = fovea.cache_length %c : !fovea.cache<key, 2x4xf32>
  return %l : index
}

// -----

// CHECK-LABEL: @length_of_grown_cache
// CHECK-SAME: %[[C:.*]]: !fovea.cache<key, 2x4xf32>, %[[X:.*]]: tensor<?x?x2x4xf32>
// CHECK-DAG: %[[L:.*]] = fovea.cache_length %[[C]]
// CHECK-DAG: %[[D:.*]] = tensor.dim %[[X]]
// CHECK: %[[S:.*]] = arith.addi %[[L]], %[[D]]
// CHECK: return %[[S]]
func.func @length_of_grown_cache(%c: !fovea.cache<key, 2x4xf32>, %x: tensor<?x?x2x4xf32>) -> index {
  %d = fovea.cache_append %c, %x : !fovea.cache<key, 2x4xf32>, tensor<?x?x2x4xf32>
  %l = fovea.cache_length %d : !fovea.cache<key, 2x4xf32>
  return %l : index
}

// -----

// CHECK-LABEL: @length_of_known_cache
// CHECK: %[[FIVE:.*]] = arith.constant 5 : index
// CHECK: return %[[FIVE]]
func.func @length_of_known_cache(%b: index, %n: index, %x: tensor<?x4x2x4xf32>, %y: tensor<?x1x2x4xf32>) -> index {
  %c = fovea.cache_create %b, %n : !fovea.cache<key, 2x4xf32>
  %d = fovea.cache_append %c, %x : !fovea.cache<key, 2x4xf32>, tensor<?x4x2x4xf32>
  %e = fovea.cache_append %d, %y : !fovea.cache<key, 2x4xf32>, tensor<?x1x2x4xf32>
  %l = fovea.cache_length %e : !fovea.cache<key, 2x4xf32>
  return %l : index
}

// -----

// CHECK-LABEL: @length_of_given_cache_stays
// CHECK: fovea.cache_length
func.func @length_of_given_cache_stays(%c: !fovea.cache<key, 2x4xf32>) -> index {
  %l = fovea.cache_length %c : !fovea.cache<key, 2x4xf32>
  return %l : index
}
