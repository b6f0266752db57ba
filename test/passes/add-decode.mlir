// RUN: fovea-opt %s --fovea-add-decode -split-input-file -verify-diagnostics | FileCheck %s

// Beside the entry that reads many tokens stands its copy for one: all shapes say so, also of elementwise ops and behind slices
// that drop axes.
// CHECK-LABEL: func.func @forward
// CHECK-LABEL: func.func @prefill(%{{.*}}: tensor<?x?xi64> {
// CHECK: fovea.rope half %{{.*}} : tensor<?x?x2x4xf32>
// CHECK-LABEL: func.func @decode(
// CHECK-SAME: %{{.*}}: tensor<?x1xi64> {fovea.dims = ["batch"], fovea.name = "input_ids"}, %{{.*}}: !fovea.cache<key, 2x4xf32>
// CHECK-NOT: tensor<?x?x
// CHECK: %[[SUM:.*]] = arith.addf %{{.*}}, %{{.*}} : tensor<?x1x16xf32>
// CHECK: tensor.extract_slice {{.*}} to tensor<?x1x2x1x4xf32>
// CHECK: fovea.rope half %{{.*}} : tensor<?x1x2x4xf32>
// CHECK: fovea.cache_append %{{.*}} : <key, 2x4xf32>, tensor<?x1x2x4xf32>
func.func @forward(%x: tensor<?xf32>) -> tensor<?xf32> attributes {fovea.entry} {
  return %x : tensor<?xf32>
}
func.func @prefill(%ids: tensor<?x?xi64> {fovea.name = "input_ids", fovea.dims = ["batch", "sequence"]},
                   %c: !fovea.cache<key, 2x4xf32> {fovea.name = "key_cache.0", fovea.dims = ["batch", "capacity"]},
                   %table: tensor<32x16xf32>) -> !fovea.cache<key, 2x4xf32> attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %ids, %c0 : tensor<?x?xi64>
  %s = tensor.dim %ids, %c1 : tensor<?x?xi64>
  %n = fovea.cache_length %c : !fovea.cache<key, 2x4xf32>
  %at = fovea.positions from %n count %s : tensor<1x?xi32>
  %x = fovea.embedding %ids, %table : tensor<?x?xi64>, tensor<32x16xf32> -> tensor<?x?x16xf32>
  %y = arith.addf %x, %x : tensor<?x?x16xf32>
  %h = tensor.expand_shape %y [[0], [1], [2, 3, 4]] output_shape [%b, %s, 2, 2, 4] : tensor<?x?x16xf32> into tensor<?x?x2x2x4xf32>
  %k = tensor.extract_slice %h[0, 0, 0, 1, 0] [%b, %s, 2, 1, 4] [1, 1, 1, 1, 1] : tensor<?x?x2x2x4xf32> to tensor<?x?x2x4xf32>
  %r = fovea.rope half %k at(%at : tensor<1x?xi32>) dim(4) theta(1.0e+4) : tensor<?x?x2x4xf32>
  %d = fovea.cache_append %c, %r : !fovea.cache<key, 2x4xf32>, tensor<?x?x2x4xf32>
  return %d : !fovea.cache<key, 2x4xf32>
}

// -----

// An entry whose caches something else reads is none.
// CHECK-LABEL: module
// CHECK-NOT: func.func @prefill
// CHECK: func.func @forward
// CHECK-NOT: func.func @decode
func.func @forward(%x: tensor<?xf32>) -> tensor<?xf32> attributes {fovea.entry} {
  return %x : tensor<?xf32>
}
func.func @prefill(%ids: tensor<?x?xi64> {fovea.name = "input_ids", fovea.dims = ["batch", "sequence"]}, %c: !fovea.cache<key, 2x4xf32>, %b: index, %n: index) -> tensor<?x?x2x4xf32> attributes {fovea.entry} {
  // expected-warning @below {{generate, chat and bench of texts are not for this model: expects an attention that reads the past as keys or values, got one that is not recognised}}
  %r = fovea.cache_read %c[%b, %n] : !fovea.cache<key, 2x4xf32> -> tensor<?x?x2x4xf32>
  return %r : tensor<?x?x2x4xf32>
}

// -----

// CHECK-LABEL: func.func @prefill
// CHECK: func.func @decode(%{{.*}}: tensor<?x1xi64>, %{{.*}}: index)
// CHECK-NOT: func.func
func.func @prefill(%ids: tensor<?x?xi64> {fovea.name = "input_ids"}) attributes {fovea.entry} {
  return
}
func.func @decode(%ids: tensor<?x1xi64>, %own: index) attributes {fovea.entry} {
  return
}

// -----

// A program of its own has the entries that it says.
// CHECK-LABEL: func.func @prefill
// CHECK-NOT: func.func
func.func @prefill(%ids: tensor<?x?xi64> {fovea.name = "input_ids"}, %c: !fovea.cache<key, 2x4xf32>) attributes {fovea.entry} {
  return
}
