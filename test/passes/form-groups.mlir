// RUN: fovea-opt %s --fovea-form-groups --canonicalize --split-input-file | FileCheck %s

fovea.weight @w : tensor<6x4xf32> = #fovea.stored<"f", "w", tensor<6x4xf32>>

// Weights, views and sizes stay outside.

// CHECK-LABEL: func.func @linear
// CHECK-SAME: (%[[X:.*]]: tensor<?x?x4xf32>)
// CHECK: %[[W:.*]] = fovea.weight_ref @w
// CHECK: %[[Y:.*]] = fovea.group(%[[A:.*]] = %[[X]], %[[B:.*]] = %[[W]]) : (tensor<?x?x4xf32>, tensor<6x4xf32>) -> tensor<?x?x6xf32> {
// CHECK-NEXT: %[[R:.*]] = fovea.linear %[[A]], %[[B]]
// CHECK-NEXT: fovea.yield %[[R]]
// CHECK: tensor.extract_slice %[[Y]]
// CHECK: tensor.expand_shape
// CHECK-NOT: fovea.group
func.func @linear(%x: tensor<?x?x4xf32>) -> tensor<?x?x1x2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %w = fovea.weight_ref @w : tensor<6x4xf32>
  %y = fovea.linear %x, %w : tensor<?x?x4xf32>, tensor<6x4xf32> -> tensor<?x?x6xf32>
  %b = tensor.dim %x, %c0 : tensor<?x?x4xf32>
  %s = tensor.dim %x, %c1 : tensor<?x?x4xf32>
  %v = tensor.extract_slice %y[0, 0, 2] [%b, %s, 2] [1, 1, 1] : tensor<?x?x6xf32> to tensor<?x?x2xf32>
  %e = tensor.expand_shape %v [[0], [1], [2, 3]] output_shape [%b, %s, 1, 2] : tensor<?x?x2xf32> into tensor<?x?x1x2xf32>
  return %e : tensor<?x?x1x2xf32>
}

// -----

// The masks of an attention go in, for each attention; their tensors become operands. Nothing is left outside.

// CHECK-LABEL: func.func @masks
// CHECK-SAME: (%[[Q:.*]]: tensor<?x?x2x4xf32>, %[[N:.*]]: tensor<?xi32>)
// CHECK-NOT: fovea.mask
// CHECK: fovea.group(%[[A:.*]] = %[[Q]], %[[B:.*]] = %[[N]])
// CHECK: %[[L:.*]] = fovea.mask_length %[[B]]
// CHECK: %[[C:.*]] = fovea.mask_causal
// CHECK: %[[M:.*]] = fovea.mask_and(%[[L]], %[[C]])
// CHECK: fovea.attention %[[A]], %[[A]], %[[A]] mask(%[[M]])
// CHECK: fovea.group
// CHECK: fovea.mask_length
// CHECK: fovea.attention
func.func @masks(%q: tensor<?x?x2x4xf32>, %n: tensor<?xi32>) -> tensor<?x?x2x4xf32> {
  %l = fovea.mask_length %n : tensor<?xi32>
  %c = fovea.mask_causal
  %m = fovea.mask_and(%l, %c)
  %o = fovea.attention %q, %q, %q mask(%m) : tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32> -> tensor<?x?x2x4xf32>
  %p = fovea.attention %o, %o, %o mask(%l) : tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32> -> tensor<?x?x2x4xf32>
  return %p : tensor<?x?x2x4xf32>
}

// -----

// Constants, empty tensors and scalar code go in, also what a region captures.

// CHECK-LABEL: func.func @scalars
// CHECK-SAME: (%[[X:.*]]: tensor<?xf32>, %[[N:.*]]: index, %[[T:.*]]: tensor<3xf32>)
// CHECK: fovea.group(%[[A:.*]] = %[[X]], %[[B:.*]] = %[[N]], %[[C:.*]] = %[[T]])
// CHECK-DAG: %[[E:.*]] = tensor.empty(%[[B]])
// CHECK-DAG: %[[S:.*]] = tensor.extract %[[C]]
// CHECK-DAG: %[[F:.*]] = math.sqrt %[[S]]
// CHECK: linalg.generic {{.*}} ins(%[[A]] : tensor<?xf32>) outs(%[[E]] : tensor<?xf32>)
// CHECK: arith.mulf %{{.*}}, %[[F]]
// CHECK: fovea.yield
func.func @scalars(%x: tensor<?xf32>, %n: index, %t: tensor<3xf32>) -> tensor<?xf32> {
  %c1 = arith.constant 1 : index
  %e = tensor.empty(%n) : tensor<?xf32>
  %s = tensor.extract %t[%c1] : tensor<3xf32>
  %f = math.sqrt %s : f32
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %z = arith.mulf %a, %f : f32
    linalg.yield %z : f32
  } -> tensor<?xf32>
  return %y : tensor<?xf32>
}

// -----

// Every kind of computation; inside branches; a cache that is made and measured outside.

// CHECK-LABEL: func.func @kinds
// CHECK: fovea.cache_create
// CHECK: fovea.group({{.*}}) : (!fovea.cache<key, 2x4xf32>, tensor<?x?x2x4xf32>) -> !fovea.cache<key, 2x4xf32> {
// CHECK-NEXT: fovea.cache_append
// CHECK: fovea.cache_length
// CHECK: fovea.group({{.*}}) : (index, index) -> tensor<1x?xi32> {
// CHECK-NEXT: fovea.positions
// CHECK: fovea.group({{.*}}) : (tensor<?x?x2x4xf32>, tensor<1x?xi32>)
// CHECK-NEXT: fovea.rope
// CHECK: scf.if
// CHECK: fovea.group
// CHECK-NEXT: arith.addf
// CHECK: fovea.group
// CHECK: tensor.pad
func.func @kinds(%x: tensor<?x?x2x4xf32>, %b: index, %n: index, %if: i1) -> (!fovea.cache<key, 2x4xf32>, tensor<?x?x2x5xf32>) {
  %c = fovea.cache_create %b, %n : !fovea.cache<key, 2x4xf32>
  %d = fovea.cache_append %c, %x : !fovea.cache<key, 2x4xf32>, tensor<?x?x2x4xf32>
  %l = fovea.cache_length %d : !fovea.cache<key, 2x4xf32>
  %p = fovea.positions from %l count %n : tensor<1x?xi32>
  %r = fovea.rope half %x at(%p : tensor<1x?xi32>) dim(4) theta(10000.0) : tensor<?x?x2x4xf32>
  %z = scf.if %if -> tensor<?x?x2x4xf32> {
    %y = arith.addf %r, %x : tensor<?x?x2x4xf32>
    scf.yield %y : tensor<?x?x2x4xf32>
  } else {
    scf.yield %r : tensor<?x?x2x4xf32>
  }
  %f = arith.constant 0.0 : f32
  %q = tensor.pad %z low[0, 0, 0, 0] high[0, 0, 0, 1] {
  ^bb0(%i: index, %j: index, %k: index, %m: index):
    tensor.yield %f : f32
  } : tensor<?x?x2x4xf32> to tensor<?x?x2x5xf32>
  return %d, %q : !fovea.cache<key, 2x4xf32>, tensor<?x?x2x5xf32>
}

// -----

// Groups that are there already stay.

// CHECK-LABEL: func.func @again
// CHECK: fovea.group
// CHECK-NEXT: fovea.activation
// CHECK-NOT: fovea.group
func.func @again(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = fovea.group(%a = %x) : (tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = fovea.activation gelu %a : tensor<2x3xf32>
    fovea.yield %0 : tensor<2x3xf32>
  }
  return %y : tensor<2x3xf32>
}

// -----

// What has no elements is memory like any other to a kernel that is not built of elements.

// CHECK-LABEL: @reads_nothing
// CHECK: %[[E:.*]] = tensor.empty() : tensor<4x0xf32>
// CHECK: fovea.group(%[[X:.*]] = %{{.*}}, %[[W:.*]] = %[[E]])
// CHECK-NEXT: fovea.linear %[[X]], %[[W]]
func.func @reads_nothing(%x: tensor<?x0xf32>) -> tensor<?x4xf32> {
  %w = tensor.empty() : tensor<4x0xf32>
  %y = fovea.linear %x, %w : tensor<?x0xf32>, tensor<4x0xf32> -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}
