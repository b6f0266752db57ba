// RUN: fovea-opt %s --fovea-cast-caches=type=int8 | FileCheck %s
// RUN: fovea-opt %s --fovea-cast-caches=type=int8 | not fovea-opt - --fovea-cast-caches=type=bf16 2>&1 | FileCheck %s --check-prefix=AGAIN

// Behind each cache stand its scales, in signatures with a name, in calls, appends and attentions.

// AGAIN: error: has caches of integers already, which keep their type

// CHECK-LABEL: func.func @decode
// CHECK-SAME:      %[[X:[^:]*]]: tensor<?x?x2x16xf32>, %[[K:[^:]*]]: !fovea.cache<key, 2x16xi8> {fovea.name = "k"}, %[[S:[^:]*]]: !fovea.cache<key, 2x1xf32> {fovea.name = "k.scales"}
// CHECK-SAME:      %[[V:[^:]*]]: !fovea.cache<value, 2x16xi8> {fovea.name = "v"}, %[[T:[^:]*]]: !fovea.cache<value, 2x1xf32> {fovea.name = "v.scales"})
// CHECK-SAME:      -> (tensor<?x?x2x16xf32>, !fovea.cache<key, 2x16xi8> {fovea.name = "k"}, !fovea.cache<key, 2x1xf32> {fovea.name = "k.scales"}, !fovea.cache<value, 2x16xi8> {fovea.name = "v"}, !fovea.cache<value, 2x1xf32> {fovea.name = "v.scales"})
// CHECK:         %[[G:.*]]:4 = call @grow(%[[X]], %[[K]], %[[S]], %[[V]], %[[T]])
// CHECK:         fovea.cache_length %[[G]]#0 : <key, 2x16xi8>
// CHECK:         %[[O:.*]] = fovea.attention %[[X]], %[[G]]#0, %[[G]]#2 scales(%[[G]]#1, %[[G]]#3 : !fovea.cache<key, 2x1xf32>, !fovea.cache<value, 2x1xf32>)
// CHECK:         return %[[O]], %[[G]]#0, %[[G]]#1, %[[G]]#2, %[[G]]#3
func.func @decode(%x: tensor<?x?x2x16xf32>, %k: !fovea.cache<key, 2x16xf32> {fovea.name = "k"}, %v: !fovea.cache<value, 2x16xf32> {fovea.name = "v"})
    -> (tensor<?x?x2x16xf32>, !fovea.cache<key, 2x16xf32> {fovea.name = "k"}, !fovea.cache<value, 2x16xf32> {fovea.name = "v"}) {
  %g:2 = call @grow(%x, %k, %v) : (tensor<?x?x2x16xf32>, !fovea.cache<key, 2x16xf32>, !fovea.cache<value, 2x16xf32>) -> (!fovea.cache<key, 2x16xf32>, !fovea.cache<value, 2x16xf32>)
  %n = fovea.cache_length %g#0 : !fovea.cache<key, 2x16xf32>
  %o = fovea.attention %x, %g#0, %g#1 : tensor<?x?x2x16xf32>, !fovea.cache<key, 2x16xf32>, !fovea.cache<value, 2x16xf32> -> tensor<?x?x2x16xf32>
  return %o, %g#0, %g#1 : tensor<?x?x2x16xf32>, !fovea.cache<key, 2x16xf32>, !fovea.cache<value, 2x16xf32>
}

// CHECK-LABEL: func.func private @grow
// CHECK:         %[[D:.*]], %[[E:.*]] = fovea.cache_append %{{.*}}, %{{.*}} scales(%{{.*}} : !fovea.cache<key, 2x1xf32>) : <key, 2x16xi8>, tensor<?x?x2x16xf32>
// CHECK:         %[[F:.*]], %[[G:.*]] = fovea.cache_append %{{.*}} scales(%{{.*}} : !fovea.cache<value, 2x1xf32>)
// CHECK:         return %[[D]], %[[E]], %[[F]], %[[G]]
func.func private @grow(%x: tensor<?x?x2x16xf32>, %k: !fovea.cache<key, 2x16xf32>, %v: !fovea.cache<value, 2x16xf32>)
    -> (!fovea.cache<key, 2x16xf32>, !fovea.cache<value, 2x16xf32>) {
  %0 = fovea.cache_append %k, %x : !fovea.cache<key, 2x16xf32>, tensor<?x?x2x16xf32>
  %1 = fovea.cache_append %v, %x : !fovea.cache<value, 2x16xf32>, tensor<?x?x2x16xf32>
  return %0, %1 : !fovea.cache<key, 2x16xf32>, !fovea.cache<value, 2x16xf32>
}

// An empty cache has empty scales.
// CHECK-LABEL: func.func @empty
// CHECK:         %[[C:.*]] = fovea.cache_create %{{.*}} : <key, 2x16xi8>
// CHECK:         %[[Z:.*]] = fovea.cache_create %{{.*}} : <key, 2x1xf32>
// CHECK:         fovea.cache_append %[[C]], %{{.*}} scales(%[[Z]] : !fovea.cache<key, 2x1xf32>)
func.func @empty(%x: tensor<?x?x2x16xf32>, %b: index, %n: index) -> index {
  %c = fovea.cache_create %b, %n : !fovea.cache<key, 2x16xf32>
  %d = fovea.cache_append %c, %x : !fovea.cache<key, 2x16xf32>, tensor<?x?x2x16xf32>
  %l = fovea.cache_length %d : !fovea.cache<key, 2x16xf32>
  return %l : index
}
