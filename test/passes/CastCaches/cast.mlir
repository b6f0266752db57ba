// RUN: fovea-opt %s --fovea-cast-caches=type=bf16 | FileCheck %s
// RUN: not fovea-opt %s --fovea-cast-caches=type=i8 2>&1 | FileCheck %s --check-prefix=REFUSED

// All caches, through calls; what is appended and attention's queries stay as they are.

// REFUSED: expects the type f32, f16, bf16 or int8, got 'i8'

// CHECK-LABEL: func.func @decode
// CHECK-SAME:      %{{.*}}: !fovea.cache<key, 2x16xbf16>, %{{.*}}: !fovea.cache<value, 2x16xbf16>
// CHECK:         %[[G:.*]]:2 = call @grow({{.*}}) : (tensor<?x?x2x16xf32>, !fovea.cache<key, 2x16xbf16>, !fovea.cache<value, 2x16xbf16>) -> (!fovea.cache<key, 2x16xbf16>, !fovea.cache<value, 2x16xbf16>)
// CHECK:         fovea.attention %{{.*}}, %[[G]]#0, %[[G]]#1 : tensor<?x?x2x16xf32>, !fovea.cache<key, 2x16xbf16>, !fovea.cache<value, 2x16xbf16> -> tensor<?x?x2x16xf32>
func.func @decode(%x: tensor<?x?x2x16xf32>, %k: !fovea.cache<key, 2x16xf32>, %v: !fovea.cache<value, 2x16xf32>)
    -> (tensor<?x?x2x16xf32>, !fovea.cache<key, 2x16xf32>, !fovea.cache<value, 2x16xf32>) {
  %g:2 = call @grow(%x, %k, %v) : (tensor<?x?x2x16xf32>, !fovea.cache<key, 2x16xf32>, !fovea.cache<value, 2x16xf32>) -> (!fovea.cache<key, 2x16xf32>, !fovea.cache<value, 2x16xf32>)
  %o = fovea.attention %x, %g#0, %g#1 : tensor<?x?x2x16xf32>, !fovea.cache<key, 2x16xf32>, !fovea.cache<value, 2x16xf32> -> tensor<?x?x2x16xf32>
  return %o, %g#0, %g#1 : tensor<?x?x2x16xf32>, !fovea.cache<key, 2x16xf32>, !fovea.cache<value, 2x16xf32>
}

// CHECK-LABEL: func.func private @grow
// CHECK-COUNT-2: fovea.cache_append %{{.*}}, %{{.*}} : <{{key|value}}, 2x16xbf16>, tensor<?x?x2x16xf32>
func.func private @grow(%x: tensor<?x?x2x16xf32>, %k: !fovea.cache<key, 2x16xf32>, %v: !fovea.cache<value, 2x16xf32>)
    -> (!fovea.cache<key, 2x16xf32>, !fovea.cache<value, 2x16xf32>) {
  %0 = fovea.cache_append %k, %x : !fovea.cache<key, 2x16xf32>, tensor<?x?x2x16xf32>
  %1 = fovea.cache_append %v, %x : !fovea.cache<value, 2x16xf32>, tensor<?x?x2x16xf32>
  return %0, %1 : !fovea.cache<key, 2x16xf32>, !fovea.cache<value, 2x16xf32>
}
