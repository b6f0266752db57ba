// RUN: fovea-opt %s --pass-pipeline="builtin.module(fovea-add-probes{kinds=attention,masks,positions},canonicalize,cse,symbol-dce)" -split-input-file | FileCheck %s

// Two layers of one function: it is copied once, and gives its probabilities behind its result.
// CHECK-LABEL: func.func private @layer(
// CHECK: fovea.attention
// CHECK-NOT: weights tensor
// CHECK: return %{{.*}} : tensor<?x?x8xf32>
// CHECK-LABEL: func.func private @layer_with_attention(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x8xf32>) -> (tensor<?x?x8xf32>, tensor<?x2x?x?xf32>)
// CHECK: %[[OUT:.*]], %[[WEIGHTS:.*]] = fovea.attention %{{.*}} mask(%{{.*}}) scale(5.000000e-01)
// CHECK-SAME: -> tensor<?x?x2x4xf32> weights tensor<?x2x?x?xf32>
// CHECK: return %{{.*}}, %[[WEIGHTS]] : tensor<?x?x8xf32>, tensor<?x2x?x?xf32>
// CHECK-LABEL: func.func @forward(
// CHECK: call @layer(
// CHECK: call @layer(

// Of positions: what is left depends on the length alone.
// CHECK-LABEL: func.func @position_encodings(
// CHECK-SAME: %[[IN:.*]]: tensor<?x?x8xf32> {fovea.dims = ["batch", "length"], fovea.name = "x"}
// CHECK-SAME: -> (tensor<1x?x8xf32> {fovea.name = "sinusoidal_0"}, tensor<1x?x1x4xf32> {fovea.name = "rotary_1"}, tensor<1x?x1x4xf32> {fovea.name = "rotary_2"})
// CHECK-SAME: fovea.kind = #fovea.entry_kind<generic>
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-DAG: %[[LENGTH:.*]] = tensor.dim %[[IN]], %c1
// CHECK-DAG: %[[AT:.*]] = fovea.positions from %c0 count %[[LENGTH]]
// CHECK-DAG: %[[SINES:.*]] = fovea.position_sinusoidal interleaved %[[AT]]
// CHECK: linalg.generic
// CHECK: %[[I:.*]] = linalg.index 3
// CHECK: %[[FIRST:.*]] = arith.cmpi ult, %[[I]], %c2
// CHECK: arith.select %[[FIRST]], %[[ONE]], %[[ZERO]]
// CHECK: %[[TURNED:.*]] = fovea.rope half %{{.*}} at(%[[AT]] : tensor<1x?xi32>) dim(4)
// CHECK-NOT: fovea.attention
// CHECK: return %[[SINES]], %[[TURNED]], %[[TURNED]]

// CHECK-LABEL: func.func @attention_masks(
// CHECK-SAME: %[[IN:.*]]: tensor<?x?x8xf32> {
// CHECK-SAME: -> (tensor<?x2x?x?xi1> {fovea.name = "mask_0"}, tensor<?x2x?x?xi1> {fovea.name = "mask_1"})
// CHECK-DAG: %[[BATCH:.*]] = tensor.dim %[[IN]], %c0
// CHECK-DAG: %[[LENGTH:.*]] = tensor.dim %[[IN]], %c1
// CHECK: %[[SEEN:.*]] = fovea.mask_materialize %{{.*}}[%[[BATCH]], %[[LENGTH]], %[[LENGTH]]] : tensor<?x2x?x?xi1>
// CHECK-NOT: fovea.attention
// CHECK: return %[[SEEN]], %[[SEEN]]

// CHECK-LABEL: func.func @attention_maps(
// CHECK-SAME: -> (tensor<?x2x?x?xf32> {fovea.name = "attention_0"}, tensor<?x2x?x?xf32> {fovea.name = "attention_1"})
// CHECK: %[[FIRST:.*]]:2 = call @layer_with_attention(
// CHECK: %[[SECOND:.*]]:2 = call @layer_with_attention(%[[FIRST]]#0)
// CHECK: return %[[FIRST]]#1, %[[SECOND]]#1
func.func private @layer(%x: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %x, %c0 : tensor<?x?x8xf32>
  %s = tensor.dim %x, %c1 : tensor<?x?x8xf32>
  %h = tensor.expand_shape %x [[0], [1], [2, 3]] output_shape [%b, %s, 2, 4] : tensor<?x?x8xf32> into tensor<?x?x2x4xf32>
  %p = fovea.positions from %c0 count %s : tensor<1x?xi32>
  %q = fovea.rope half %h at(%p : tensor<1x?xi32>) dim(4) theta(1.0e+4) : tensor<?x?x2x4xf32>
  %m = fovea.mask_causal
  %o = fovea.attention %q, %h, %h mask(%m) scale(0.5) : tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32> -> tensor<?x?x2x4xf32>
  %y = tensor.collapse_shape %o [[0], [1], [2, 3]] : tensor<?x?x2x4xf32> into tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}
func.func @forward(%x: tensor<?x?x8xf32> {fovea.name = "x", fovea.dims = ["batch", "length"]}) -> (tensor<?x?x8xf32> {fovea.name = "y"})
    attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = tensor.dim %x, %c1 : tensor<?x?x8xf32>
  %p = fovea.positions from %c0 count %s : tensor<1x?xi32>
  %e = fovea.position_sinusoidal interleaved %p theta(1.0e+4) : tensor<1x?xi32> -> tensor<1x?x8xf32>
  %0 = linalg.add ins(%x, %x : tensor<?x?x8xf32>, tensor<?x?x8xf32>) outs(%x : tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %1 = call @layer(%0) : (tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %2 = call @layer(%1) : (tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  return %2 : tensor<?x?x8xf32>
}

// -----

// The only entry, whatever its name; keys and values in caches; probabilities that it gives already, and an attention without a mask;
// a table that a slice reads from its start, and one that is read elsewhere.
// CHECK-LABEL: func.func @position_encodings(
// CHECK-SAME: -> (tensor<?x8xf32> {fovea.name = "table_0"})
// CHECK: tensor.extract_slice %{{.*}}[0, 0] [%{{.*}}, 8] [1, 1] : tensor<32x8xf32> to tensor<?x8xf32>
// CHECK-LABEL: func.func @attention_masks(
// CHECK-SAME: %[[Q:.*]]: tensor<?x?x2x4xf32>, %[[C:.*]]: !fovea.cache<key, 2x4xf32>
// CHECK-DAG: %[[LENGTH:.*]] = fovea.cache_length %[[C]]
// CHECK-DAG: %[[ALL:.*]] = fovea.mask_and()
// CHECK: fovea.mask_materialize %[[ALL]][%{{.*}}, %{{.*}}, %[[LENGTH]]]
// CHECK-LABEL: func.func @attention_maps(
// CHECK: %{{.*}}, %[[WEIGHTS:.*]] = fovea.attention
// CHECK-NOT: fovea.attention
// CHECK: return %[[WEIGHTS]]
fovea.weight @table : tensor<32x8xf32> = #fovea.stored<"w.safetensors", "table", tensor<32x8xf32>>
func.func @look(%q: tensor<?x?x2x4xf32>, %c: !fovea.cache<key, 2x4xf32>, %v: !fovea.cache<value, 2x4xf32>)
    -> (tensor<?x2x?x?xf32>, tensor<?x8xf32>, tensor<?x8xf32>) attributes {fovea.entry} {
  %c1 = arith.constant 1 : index
  %s = tensor.dim %q, %c1 : tensor<?x?x2x4xf32>
  %t = fovea.weight_ref @table : tensor<32x8xf32>
  %start = tensor.extract_slice %t[0, 0] [%s, 8] [1, 1] : tensor<32x8xf32> to tensor<?x8xf32>
  %other = tensor.extract_slice %t[1, 0] [%s, 8] [1, 1] : tensor<32x8xf32> to tensor<?x8xf32>
  %o, %w = fovea.attention %q, %c, %v scale(0.5) : tensor<?x?x2x4xf32>, !fovea.cache<key, 2x4xf32>, !fovea.cache<value, 2x4xf32> -> tensor<?x?x2x4xf32> weights tensor<?x2x?x?xf32>
  return %w, %start, %other : tensor<?x2x?x?xf32>, tensor<?x8xf32>, tensor<?x8xf32>
}

// -----

// A score's region where the product is 0: operands by their maps, whole, or numbers; positions that are given, of one row for all, and those that are the index.
// CHECK-DAG: #[[$ROW:.*]] = affine_map<(d0, d1, d2, d3) -> (d1, d3)>
// CHECK-DAG: #[[$NONE:.*]] = affine_map<(d0, d1, d2, d3) -> ()>
// CHECK-DAG: #[[$GIVEN:.*]] = affine_map<(d0, d1, d2, d3) -> (0, d2)>
// CHECK-LABEL: func.func @position_encodings(
// CHECK-SAME: %[[Q:.*]]: tensor<?x?x2x4xf32>, %[[P:.*]]: tensor<1x?xi32>, %[[TABLE:.*]]: tensor<16x2xf32>, %[[ADDED:.*]]: tensor<2x?xf32>
// CHECK-SAME: -> (tensor<?x2x?x?xf32> {fovea.name = "bias_0"})
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: linalg.generic {indexing_maps = [#[[$ROW]], #[[$NONE]], #[[$GIVEN]], #{{.*}}]
// CHECK-SAME: ins(%[[ADDED]], %[[ONE:.*]], %[[P]] : tensor<2x?xf32>, tensor<f32>, tensor<1x?xi32>)
// CHECK: ^bb0(%[[A:.*]]: f32, %[[N:.*]]: f32, %[[I:.*]]: i32, %{{.*}}: f32):
// CHECK-DAG: %[[H:.*]] = linalg.index 1
// CHECK-DAG: %[[KEY:.*]] = linalg.index 3
// CHECK-DAG: %[[J:.*]] = arith.index_cast %[[KEY]] : index to i32
// CHECK: %[[R:.*]] = fovea.relative_bias %[[TABLE]][%[[H]]] at(%[[I]], %[[J]])
// CHECK: %[[Y:.*]] = arith.addf %[[R]], %[[ZERO]] : f32
// CHECK: %[[Z:.*]] = arith.addf %[[Y]], %[[A]] : f32
// CHECK: %[[W:.*]] = arith.mulf %[[Z]], %[[N]] : f32
// CHECK: linalg.yield %[[W]]
func.func @look(%q: tensor<?x?x2x4xf32>, %p: tensor<1x?xi32>, %table: tensor<16x2xf32>, %added: tensor<2x?xf32>, %one: tensor<f32>) -> tensor<?x?x2x4xf32> attributes {fovea.entry} {
  %o = fovea.attention %q, %q, %q q_pos(%p : tensor<1x?xi32>) score(%table : tensor<16x2xf32> by (b, h, i, j) -> (), %added : tensor<2x?xf32> by (b, h, i, j) -> (h, j), %one : tensor<f32> by (b, h, i, j) -> ()) {
  ^bb0(%x: f32, %t: tensor<16x2xf32>, %a: f32, %n: f32, %b: index, %h: index, %i: i32, %j: i32):
    %r = fovea.relative_bias %t[%h] at(%i, %j) {buckets = 16 : i64, max_distance = 40 : i64} : tensor<16x2xf32> -> f32
    %y = arith.addf %r, %x : f32
    %z = arith.addf %y, %a : f32
    %w = arith.mulf %z, %n : f32
    fovea.yield %w : f32
  } : tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32> -> tensor<?x?x2x4xf32>
  return %o : tensor<?x?x2x4xf32>
}
