// RUN: fovea-opt %s --fovea-to-kernels | FileCheck %s

// Two layers that start from one empty cache value grow two memories.
// CHECK-LABEL: func.func @empty_cache_serves_two_appends(
// CHECK: %[[FIRST:.*]] = memref.cast {{.*}} to memref<?x1x?x2xf32>
// CHECK: fovea.launch @cache_append_0 {{.*}}outs(%[[FIRST]] :
// CHECK: %[[SECOND:.*]] = memref.cast {{.*}} to memref<?x1x?x2xf32>
// CHECK: fovea.launch @cache_append_0 {{.*}}outs(%[[SECOND]] :
func.func @empty_cache_serves_two_appends(%x: tensor<?x4x1x2xf32> {fovea.name = "x"}, %y: tensor<?x4x1x2xf32> {fovea.name = "y"}) -> (tensor<?x4x1x2xf32> {fovea.name = "z"}) attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %b = tensor.dim %x, %c0 : tensor<?x4x1x2xf32>
  %c = fovea.cache_create %b, %c4 : !fovea.cache<key, 1x2xf32>
  %v = fovea.cache_create %b, %c4 : !fovea.cache<value, 1x2xf32>
  %0 = fovea.group(%a = %c, %i = %x) schedule(#fovea.rows<rows = 4>) : (!fovea.cache<key, 1x2xf32>, tensor<?x4x1x2xf32>) -> !fovea.cache<key, 1x2xf32> {
    %r = fovea.cache_append %a, %i : !fovea.cache<key, 1x2xf32>, tensor<?x4x1x2xf32>
    fovea.yield %r : !fovea.cache<key, 1x2xf32>
  }
  %1 = fovea.group(%a = %c, %i = %y) schedule(#fovea.rows<rows = 4>) : (!fovea.cache<key, 1x2xf32>, tensor<?x4x1x2xf32>) -> !fovea.cache<key, 1x2xf32> {
    %r = fovea.cache_append %a, %i : !fovea.cache<key, 1x2xf32>, tensor<?x4x1x2xf32>
    fovea.yield %r : !fovea.cache<key, 1x2xf32>
  }
  %2 = fovea.group(%a = %v, %i = %y) schedule(#fovea.rows<rows = 4>) : (!fovea.cache<value, 1x2xf32>, tensor<?x4x1x2xf32>) -> !fovea.cache<value, 1x2xf32> {
    %r = fovea.cache_append %a, %i : !fovea.cache<value, 1x2xf32>, tensor<?x4x1x2xf32>
    fovea.yield %r : !fovea.cache<value, 1x2xf32>
  }
  %3 = fovea.group(%q = %x, %k = %0, %w = %2) schedule(#fovea.attention_tiles<queries = 16, keys = 32, axis = queries, scores = [4, 16], values = [4, 16]>) : (tensor<?x4x1x2xf32>, !fovea.cache<key, 1x2xf32>, !fovea.cache<value, 1x2xf32>) -> tensor<?x4x1x2xf32> {
    %r = fovea.attention %q, %k, %w : tensor<?x4x1x2xf32>, !fovea.cache<key, 1x2xf32>, !fovea.cache<value, 1x2xf32> -> tensor<?x4x1x2xf32>
    fovea.yield %r : tensor<?x4x1x2xf32>
  }
  %4 = fovea.group(%q = %3, %k = %1, %w = %2) schedule(#fovea.attention_tiles<queries = 16, keys = 32, axis = queries, scores = [4, 16], values = [4, 16]>) : (tensor<?x4x1x2xf32>, !fovea.cache<key, 1x2xf32>, !fovea.cache<value, 1x2xf32>) -> tensor<?x4x1x2xf32> {
    %r = fovea.attention %q, %k, %w : tensor<?x4x1x2xf32>, !fovea.cache<key, 1x2xf32>, !fovea.cache<value, 1x2xf32> -> tensor<?x4x1x2xf32>
    fovea.yield %r : tensor<?x4x1x2xf32>
  }
  return %4 : tensor<?x4x1x2xf32>
}
