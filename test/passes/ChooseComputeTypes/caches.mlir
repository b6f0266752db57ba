// RUN: split-file %s %t
// RUN: fovea-opt %t/narrow.mlir --fovea-choose-compute-types=caches=true | FileCheck %t/narrow.mlir
// RUN: fovea-opt %t/wide.mlir --fovea-choose-compute-types=caches=true | FileCheck %t/wide.mlir
// RUN: fovea-opt %t/integers.mlir --fovea-choose-compute-types=caches=true | FileCheck %t/integers.mlir

//--- narrow.mlir
// Beside a linear that rounds its input caches of f32 become bf16, through calls, and attention multiplies it. Those of
// f16 and f64 are somebody's choice.
// CHECK-LABEL: func.func @decode
// CHECK-SAME:      %{{.*}}: !fovea.cache<key, 4x16xbf16>, %{{.*}}: !fovea.cache<value, 4x16xbf16>, %{{.*}}: !fovea.cache<key, 4x16xf16>
// CHECK:         %[[G:.*]] = call @grow({{.*}}) : (tensor<?x?x4x16xf32>, !fovea.cache<key, 4x16xbf16>) -> !fovea.cache<key, 4x16xbf16>
// CHECK:         fovea.attention %{{.*}}, %[[G]], %{{.*}} : tensor<?x?x4x16xbf16>, !fovea.cache<key, 4x16xbf16>, !fovea.cache<value, 4x16xbf16> -> tensor<?x?x4x16xbf16>
// CHECK:         return {{.*}}, !fovea.cache<key, 4x16xf16>
// CHECK-LABEL: func.func private @grow
// CHECK:         fovea.cache_append %{{.*}}, %{{.*}} : <key, 4x16xbf16>, tensor<?x?x4x16xf32>
func.func @decode(%q: tensor<?x?x4x16xf32>, %k: !fovea.cache<key, 4x16xf32>, %v: !fovea.cache<value, 4x16xf32>, %h: !fovea.cache<key, 4x16xf16>,
                  %w: tensor<32x64xbf16>) -> (tensor<?x?x32xf32>, !fovea.cache<key, 4x16xf32>, !fovea.cache<key, 4x16xf16>) {
  %g = call @grow(%q, %k) : (tensor<?x?x4x16xf32>, !fovea.cache<key, 4x16xf32>) -> !fovea.cache<key, 4x16xf32>
  %o = fovea.attention %q, %g, %v : tensor<?x?x4x16xf32>, !fovea.cache<key, 4x16xf32>, !fovea.cache<value, 4x16xf32> -> tensor<?x?x4x16xf32>
  %c = tensor.collapse_shape %o [[0], [1], [2, 3]] : tensor<?x?x4x16xf32> into tensor<?x?x64xf32>
  %y = fovea.linear %c, %w : tensor<?x?x64xf32>, tensor<32x64xbf16> -> tensor<?x?x32xf32>
  return %y, %g, %h : tensor<?x?x32xf32>, !fovea.cache<key, 4x16xf32>, !fovea.cache<key, 4x16xf16>
}
func.func private @grow(%x: tensor<?x?x4x16xf32>, %k: !fovea.cache<key, 4x16xf32>) -> !fovea.cache<key, 4x16xf32> {
  %0 = fovea.cache_append %k, %x : !fovea.cache<key, 4x16xf32>, tensor<?x?x4x16xf32>
  return %0 : !fovea.cache<key, 4x16xf32>
}

//--- wide.mlir
// No linear rounds, and nor do caches.
// CHECK-LABEL: func.func @decode
// CHECK-NOT:     bf16
func.func @decode(%x: tensor<?x?x4x16xf32>, %k: !fovea.cache<key, 4x16xf32>, %y: tensor<?x64xf32>, %w: tensor<32x64xf32>)
    -> (tensor<?x32xf32>, !fovea.cache<key, 4x16xf32>) {
  %g = fovea.cache_append %k, %x : !fovea.cache<key, 4x16xf32>, tensor<?x?x4x16xf32>
  %0 = fovea.linear %y, %w : tensor<?x64xf32>, tensor<32x64xf32> -> tensor<?x32xf32>
  return %0, %g : tensor<?x32xf32>, !fovea.cache<key, 4x16xf32>
}

//--- integers.mlir
// Scales of integers stay f32.
// CHECK-LABEL: func.func @decode
// CHECK:         fovea.cache_append %{{.*}}, %{{.*}} scales(%{{.*}} : !fovea.cache<key, 4x1xf32>) : <key, 4x16xi8>, tensor<?x?x4x16xf32>
func.func @decode(%x: tensor<?x?x4x16xf32>, %k: !fovea.cache<key, 4x16xi8>, %s: !fovea.cache<key, 4x1xf32>, %y: tensor<?x64xf32>, %w: tensor<32x64xbf16>)
    -> (tensor<?x32xf32>, !fovea.cache<key, 4x16xi8>, !fovea.cache<key, 4x1xf32>) {
  %g:2 = fovea.cache_append %k, %x scales(%s : !fovea.cache<key, 4x1xf32>) : !fovea.cache<key, 4x16xi8>, tensor<?x?x4x16xf32>
  %0 = fovea.linear %y, %w : tensor<?x64xf32>, tensor<32x64xbf16> -> tensor<?x32xf32>
  return %0, %g#0, %g#1 : tensor<?x32xf32>, !fovea.cache<key, 4x16xi8>, !fovea.cache<key, 4x1xf32>
}
