// RUN: fovea-opt %s -resolve-ranked-shaped-type-result-dims -canonicalize -split-input-file | FileCheck %s

// Keys and values that are all of two caches' are the caches.
// CHECK-LABEL: @takes_caches
// CHECK-SAME: %[[K:.*]]: !fovea.cache<key, 2x4xf32>, %[[V:.*]]: !fovea.cache<value, 2x4xf32>,
// CHECK-NOT: cache_read
// CHECK: fovea.attention %{{.*}}, %[[K]], %[[V]] scale
func.func @takes_caches(%k: !fovea.cache<key, 2x4xf32>, %v: !fovea.cache<value, 2x4xf32>, %q: tensor<?x?x2x4xf32>, %b: index, %n: index) -> tensor<?x?x2x4xf32> {
  %keys = fovea.cache_read %k[%b, %n] : !fovea.cache<key, 2x4xf32> -> tensor<?x?x2x4xf32>
  %values = fovea.cache_read %v[%b, %n] : !fovea.cache<value, 2x4xf32> -> tensor<?x?x2x4xf32>
  %o = fovea.attention %q, %keys, %values scale(0.5) : tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32> -> tensor<?x?x2x4xf32>
  return %o : tensor<?x?x2x4xf32>
}

// -----

// A cache of values holds no keys.
// CHECK-LABEL: @other_kinds
// CHECK-COUNT-2: fovea.cache_read
func.func @other_kinds(%k: !fovea.cache<key, 2x4xf32>, %v: !fovea.cache<value, 2x4xf32>, %q: tensor<?x?x2x4xf32>, %b: index, %n: index) -> tensor<?x?x2x4xf32> {
  %keys = fovea.cache_read %v[%b, %n] : !fovea.cache<value, 2x4xf32> -> tensor<?x?x2x4xf32>
  %values = fovea.cache_read %k[%b, %n] : !fovea.cache<key, 2x4xf32> -> tensor<?x?x2x4xf32>
  %o = fovea.attention %q, %keys, %values scale(0.5) : tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32> -> tensor<?x?x2x4xf32>
  return %o : tensor<?x?x2x4xf32>
}

// -----

// Sizes are the operands'.
// CHECK-LABEL: @sizes
// CHECK-SAME: %[[B:[a-z0-9]*]]: index, %[[N:[a-z0-9]*]]: index
// CHECK: return %[[B]], %[[N]]
func.func @sizes(%k: !fovea.cache<key, 2x4xf32>, %b: index, %n: index) -> (index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %keys = fovea.cache_read %k[%b, %n] : !fovea.cache<key, 2x4xf32> -> tensor<?x?x2x4xf32>
  %d = tensor.dim %keys, %c0 : tensor<?x?x2x4xf32>
  %e = tensor.dim %keys, %c1 : tensor<?x?x2x4xf32>
  return %d, %e : index, index
}

// -----

// What is appended need not be of an open length.
// CHECK-LABEL: @append_one
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<?x1x2x4xf32>
// CHECK: fovea.cache_append %{{.*}}, %[[X]] : <key, 2x4xf32>, tensor<?x1x2x4xf32>
func.func @append_one(%k: !fovea.cache<key, 2x4xf32>, %x: tensor<?x1x2x4xf32>) -> !fovea.cache<key, 2x4xf32> {
  %open = tensor.cast %x : tensor<?x1x2x4xf32> to tensor<?x?x2x4xf32>
  %d = fovea.cache_append %k, %open : !fovea.cache<key, 2x4xf32>, tensor<?x?x2x4xf32>
  return %d : !fovea.cache<key, 2x4xf32>
}
