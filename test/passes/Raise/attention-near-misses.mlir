// RUN: fovea-opt %s --fovea-raise-attention --canonicalize --cse | FileCheck %s

// What stands between softmax and product is dropped only if it changes nothing, whatever the inputs are. A function of
// the one probability and its place is kept as the op's probability region; what sees other keys too is no attention.

#q = affine_map<(i, j, d) -> (i, d)>
#k = affine_map<(i, j, d) -> (j, d)>
#s = affine_map<(i, j, d) -> (i, j)>
#p = affine_map<(i, d, j) -> (i, j)>
#v = affine_map<(i, d, j) -> (j, d)>
#o = affine_map<(i, d, j) -> (i, d)>
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// With a thousand keys most probabilities are below the threshold.

// CHECK-LABEL: @threshold
// CHECK-NOT:     linalg.softmax
// CHECK:         fovea.attention {{.*}} probability {
// CHECK-NEXT:    ^bb0(%[[P:.*]]: f32, %{{.*}}: index, %{{.*}}: index, %{{.*}}: i32, %{{.*}}: i32):
// CHECK:           %[[C:.*]] = arith.cmpf olt, %[[P]], %{{.*}}
// CHECK:           %[[W:.*]] = arith.select %[[C]], %{{.*}}, %[[P]]
// CHECK:           fovea.yield %[[W]]
func.func @threshold(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>, %v: tensor<?x6xf32>) -> tensor<?x6xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %q, %c0 : tensor<?x8xf32>
  %m = tensor.dim %k, %c0 : tensor<?x8xf32>
  %es = tensor.empty(%n, %m) : tensor<?x?xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<?x?xf32>) -> tensor<?x?xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<?x8xf32>, tensor<?x8xf32>) outs(%zs : tensor<?x?xf32>) -> tensor<?x?xf32>
  %p = linalg.softmax dimension(1) ins(%s : tensor<?x?xf32>) outs(%es : tensor<?x?xf32>) -> tensor<?x?xf32>
  %w = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<?x?xf32>) outs(%es : tensor<?x?xf32>) {
  ^bb0(%a: f32, %unused: f32):
    %none = arith.constant 0.0 : f32
    %least = arith.constant 0.001 : f32
    %c = arith.cmpf olt, %a, %least : f32
    %r = arith.select %c, %none, %a : f32
    linalg.yield %r : f32
  } -> tensor<?x?xf32>
  %eo = tensor.empty(%n) : tensor<?x6xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<?x6xf32>) -> tensor<?x6xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o] ins(%w, %v : tensor<?x?xf32>, tensor<?x6xf32>) outs(%zo : tensor<?x6xf32>) -> tensor<?x6xf32>
  return %o : tensor<?x6xf32>
}

// The sum that is divided by anew is of all that pass.

// CHECK-LABEL: @threshold_renormalised
// CHECK-NOT:     fovea.attention
// CHECK:         linalg.softmax
func.func @threshold_renormalised(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>, %v: tensor<?x6xf32>) -> tensor<?x6xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %q, %c0 : tensor<?x8xf32>
  %m = tensor.dim %k, %c0 : tensor<?x8xf32>
  %es = tensor.empty(%n, %m) : tensor<?x?xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<?x?xf32>) -> tensor<?x?xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<?x8xf32>, tensor<?x8xf32>) outs(%zs : tensor<?x?xf32>) -> tensor<?x?xf32>
  %p = linalg.softmax dimension(1) ins(%s : tensor<?x?xf32>) outs(%es : tensor<?x?xf32>) -> tensor<?x?xf32>
  %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<?x?xf32>) outs(%es : tensor<?x?xf32>) {
  ^bb0(%a: f32, %unused: f32):
    %none = arith.constant 0.0 : f32
    %least = arith.constant 0.001 : f32
    %c = arith.cmpf olt, %a, %least : f32
    %r = arith.select %c, %none, %a : f32
    linalg.yield %r : f32
  } -> tensor<?x?xf32>
  %esum = tensor.empty(%n) : tensor<?xf32>
  %startsum = arith.constant 0.0 : f32
  %fsum = linalg.fill ins(%startsum : f32) outs(%esum : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.reduce { arith.addf } ins(%t : tensor<?x?xf32>) outs(%fsum : tensor<?xf32>) dimensions = [1]
  %w = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%t, %sum : tensor<?x?xf32>, tensor<?xf32>) outs(%es : tensor<?x?xf32>) {
  ^bb0(%a: f32, %total: f32, %unused: f32):
    %r = arith.divf %a, %total : f32
    linalg.yield %r : f32
  } -> tensor<?x?xf32>
  %eo = tensor.empty(%n) : tensor<?x6xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<?x6xf32>) -> tensor<?x6xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o] ins(%w, %v : tensor<?x?xf32>, tensor<?x6xf32>) outs(%zo : tensor<?x6xf32>) -> tensor<?x6xf32>
  return %o : tensor<?x6xf32>
}

// Sums to more than one.

// CHECK-LABEL: @least_probability
// CHECK-NOT:     linalg.softmax
// CHECK:         fovea.attention {{.*}} probability {
// CHECK-NEXT:    ^bb0(%[[P:.*]]: f32, %{{.*}}: index, %{{.*}}: index, %{{.*}}: i32, %{{.*}}: i32):
// CHECK:           arith.maximumf %[[P]], %{{.*}}
func.func @least_probability(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>, %v: tensor<?x6xf32>) -> tensor<?x6xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %q, %c0 : tensor<?x8xf32>
  %m = tensor.dim %k, %c0 : tensor<?x8xf32>
  %es = tensor.empty(%n, %m) : tensor<?x?xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<?x?xf32>) -> tensor<?x?xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<?x8xf32>, tensor<?x8xf32>) outs(%zs : tensor<?x?xf32>) -> tensor<?x?xf32>
  %p = linalg.softmax dimension(1) ins(%s : tensor<?x?xf32>) outs(%es : tensor<?x?xf32>) -> tensor<?x?xf32>
  %w = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<?x?xf32>) outs(%es : tensor<?x?xf32>) {
  ^bb0(%a: f32, %unused: f32):
    %least = arith.constant 0.001 : f32
    %r = arith.maximumf %a, %least : f32
    linalg.yield %r : f32
  } -> tensor<?x?xf32>
  %eo = tensor.empty(%n) : tensor<?x6xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<?x6xf32>) -> tensor<?x6xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o] ins(%w, %v : tensor<?x?xf32>, tensor<?x6xf32>) outs(%zo : tensor<?x6xf32>) -> tensor<?x6xf32>
  return %o : tensor<?x6xf32>
}

// Sums to less than one where a key has nearly all.

// CHECK-LABEL: @greatest_probability
// CHECK-NOT:     linalg.softmax
// CHECK:         fovea.attention {{.*}} probability {
// CHECK-NEXT:    ^bb0(%[[P:.*]]: f32, %{{.*}}: index, %{{.*}}: index, %{{.*}}: i32, %{{.*}}: i32):
// CHECK:           arith.minimumf %[[P]], %{{.*}}
func.func @greatest_probability(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>, %v: tensor<?x6xf32>) -> tensor<?x6xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %q, %c0 : tensor<?x8xf32>
  %m = tensor.dim %k, %c0 : tensor<?x8xf32>
  %es = tensor.empty(%n, %m) : tensor<?x?xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<?x?xf32>) -> tensor<?x?xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<?x8xf32>, tensor<?x8xf32>) outs(%zs : tensor<?x?xf32>) -> tensor<?x?xf32>
  %p = linalg.softmax dimension(1) ins(%s : tensor<?x?xf32>) outs(%es : tensor<?x?xf32>) -> tensor<?x?xf32>
  %w = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<?x?xf32>) outs(%es : tensor<?x?xf32>) {
  ^bb0(%a: f32, %unused: f32):
    %most = arith.constant 0.9 : f32
    %r = arith.minimumf %a, %most : f32
    linalg.yield %r : f32
  } -> tensor<?x?xf32>
  %eo = tensor.empty(%n) : tensor<?x6xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<?x6xf32>) -> tensor<?x6xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o] ins(%w, %v : tensor<?x?xf32>, tensor<?x6xf32>) outs(%zo : tensor<?x6xf32>) -> tensor<?x6xf32>
  return %o : tensor<?x6xf32>
}

// As above, with nothing in its place.

// CHECK-LABEL: @no_key_has_nearly_all
// CHECK-NOT:     linalg.softmax
// CHECK:         fovea.attention {{.*}} probability {
// CHECK-NEXT:    ^bb0(%[[P:.*]]: f32, %{{.*}}: index, %{{.*}}: index, %{{.*}}: i32, %{{.*}}: i32):
// CHECK:           %[[C:.*]] = arith.cmpf ogt, %[[P]], %{{.*}}
// CHECK:           arith.select %[[C]], %{{.*}}, %[[P]]
func.func @no_key_has_nearly_all(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>, %v: tensor<?x6xf32>) -> tensor<?x6xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %q, %c0 : tensor<?x8xf32>
  %m = tensor.dim %k, %c0 : tensor<?x8xf32>
  %es = tensor.empty(%n, %m) : tensor<?x?xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<?x?xf32>) -> tensor<?x?xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<?x8xf32>, tensor<?x8xf32>) outs(%zs : tensor<?x?xf32>) -> tensor<?x?xf32>
  %p = linalg.softmax dimension(1) ins(%s : tensor<?x?xf32>) outs(%es : tensor<?x?xf32>) -> tensor<?x?xf32>
  %w = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<?x?xf32>) outs(%es : tensor<?x?xf32>) {
  ^bb0(%a: f32, %unused: f32):
    %none = arith.constant 0.0 : f32
    %most = arith.constant 0.9 : f32
    %c = arith.cmpf ogt, %a, %most : f32
    %r = arith.select %c, %none, %a : f32
    linalg.yield %r : f32
  } -> tensor<?x?xf32>
  %eo = tensor.empty(%n) : tensor<?x6xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<?x6xf32>) -> tensor<?x6xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o] ins(%w, %v : tensor<?x?xf32>, tensor<?x6xf32>) outs(%zo : tensor<?x6xf32>) -> tensor<?x6xf32>
  return %o : tensor<?x6xf32>
}

// Which is chosen depends on the row's greatest probability.

// CHECK-LABEL: @square_of_sure_rows
// CHECK-NOT:     fovea.attention
// CHECK:         linalg.softmax
func.func @square_of_sure_rows(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>, %v: tensor<?x6xf32>) -> tensor<?x6xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %q, %c0 : tensor<?x8xf32>
  %m = tensor.dim %k, %c0 : tensor<?x8xf32>
  %es = tensor.empty(%n, %m) : tensor<?x?xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<?x?xf32>) -> tensor<?x?xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<?x8xf32>, tensor<?x8xf32>) outs(%zs : tensor<?x?xf32>) -> tensor<?x?xf32>
  %p = linalg.softmax dimension(1) ins(%s : tensor<?x?xf32>) outs(%es : tensor<?x?xf32>) -> tensor<?x?xf32>
  %etop = tensor.empty(%n) : tensor<?xf32>
  %starttop = arith.constant 0xFF800000 : f32
  %ftop = linalg.fill ins(%starttop : f32) outs(%etop : tensor<?xf32>) -> tensor<?xf32>
  %top = linalg.reduce { arith.maximumf } ins(%p : tensor<?x?xf32>) outs(%ftop : tensor<?xf32>) dimensions = [1]
  %w = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%p, %top : tensor<?x?xf32>, tensor<?xf32>) outs(%es : tensor<?x?xf32>) {
  ^bb0(%a: f32, %high: f32, %unused: f32):
    %most = arith.constant 0.95 : f32
    %c = arith.cmpf ogt, %high, %most : f32
    %square = arith.mulf %a, %a : f32
    %r = arith.select %c, %square, %a : f32
    linalg.yield %r : f32
  } -> tensor<?x?xf32>
  %eo = tensor.empty(%n) : tensor<?x6xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<?x6xf32>) -> tensor<?x6xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o] ins(%w, %v : tensor<?x?xf32>, tensor<?x6xf32>) outs(%zo : tensor<?x6xf32>) -> tensor<?x6xf32>
  return %o : tensor<?x6xf32>
}

// A forbidden key has a probability of zero, which stays zero: none of its values is read.

// CHECK-LABEL: @threshold_of_masked
// CHECK-NOT:     linalg.softmax
// CHECK:         %[[M:.*]] = fovea.mask_dense
// CHECK:         fovea.attention {{.*}} mask(%[[M]]) fill(nan) probability {
// CHECK-NEXT:    ^bb0(%[[P:.*]]: f32, %{{.*}}: index, %{{.*}}: index, %{{.*}}: i32, %{{.*}}: i32):
// CHECK:           arith.cmpf olt, %[[P]], %{{.*}}
func.func @threshold_of_masked(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>, %v: tensor<?x6xf32>, %keep: tensor<?x?xi1>) -> tensor<?x6xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %q, %c0 : tensor<?x8xf32>
  %m = tensor.dim %k, %c0 : tensor<?x8xf32>
  %es = tensor.empty(%n, %m) : tensor<?x?xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<?x?xf32>) -> tensor<?x?xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<?x8xf32>, tensor<?x8xf32>) outs(%zs : tensor<?x?xf32>) -> tensor<?x?xf32>
  %x = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%s, %keep : tensor<?x?xf32>, tensor<?x?xi1>) outs(%es : tensor<?x?xf32>) {
  ^bb0(%a: f32, %kept: i1, %unused: f32):
    %low = arith.constant 0xFF800000 : f32
    %r = arith.select %kept, %a, %low : f32
    linalg.yield %r : f32
  } -> tensor<?x?xf32>
  %p = linalg.softmax dimension(1) ins(%x : tensor<?x?xf32>) outs(%es : tensor<?x?xf32>) -> tensor<?x?xf32>
  %w = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<?x?xf32>) outs(%es : tensor<?x?xf32>) {
  ^bb0(%a: f32, %unused: f32):
    %none = arith.constant 0.0 : f32
    %least = arith.constant 0.001 : f32
    %c = arith.cmpf olt, %a, %least : f32
    %r = arith.select %c, %none, %a : f32
    linalg.yield %r : f32
  } -> tensor<?x?xf32>
  %eo = tensor.empty(%n) : tensor<?x6xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<?x6xf32>) -> tensor<?x6xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o] ins(%w, %v : tensor<?x?xf32>, tensor<?x6xf32>) outs(%zo : tensor<?x6xf32>) -> tensor<?x6xf32>
  return %o : tensor<?x6xf32>
}

// Here forbidden keys have weight.

// CHECK-LABEL: @least_probability_of_masked
// CHECK-NOT:     fovea.attention
// CHECK:         linalg.softmax
func.func @least_probability_of_masked(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>, %v: tensor<?x6xf32>, %keep: tensor<?x?xi1>) -> tensor<?x6xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %q, %c0 : tensor<?x8xf32>
  %m = tensor.dim %k, %c0 : tensor<?x8xf32>
  %es = tensor.empty(%n, %m) : tensor<?x?xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<?x?xf32>) -> tensor<?x?xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<?x8xf32>, tensor<?x8xf32>) outs(%zs : tensor<?x?xf32>) -> tensor<?x?xf32>
  %x = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%s, %keep : tensor<?x?xf32>, tensor<?x?xi1>) outs(%es : tensor<?x?xf32>) {
  ^bb0(%a: f32, %kept: i1, %unused: f32):
    %low = arith.constant 0xFF800000 : f32
    %r = arith.select %kept, %a, %low : f32
    linalg.yield %r : f32
  } -> tensor<?x?xf32>
  %p = linalg.softmax dimension(1) ins(%x : tensor<?x?xf32>) outs(%es : tensor<?x?xf32>) -> tensor<?x?xf32>
  %w = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<?x?xf32>) outs(%es : tensor<?x?xf32>) {
  ^bb0(%a: f32, %unused: f32):
    %least = arith.constant 0.001 : f32
    %r = arith.maximumf %a, %least : f32
    linalg.yield %r : f32
  } -> tensor<?x?xf32>
  %eo = tensor.empty(%n) : tensor<?x6xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<?x6xf32>) -> tensor<?x6xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o] ins(%w, %v : tensor<?x?xf32>, tensor<?x6xf32>) outs(%zo : tensor<?x6xf32>) -> tensor<?x6xf32>
  return %o : tensor<?x6xf32>
}

// A mask of the caller, as dropout in training has one.

// CHECK-LABEL: @dropout
// CHECK-NOT:     linalg.softmax
// CHECK:         fovea.attention {{.*}} probability(%{{.*}} : tensor<?x?xf32> by (d0, d1, d2, d3) -> (d2, d3)) {
// CHECK-NEXT:    ^bb0(%[[P:.*]]: f32, %[[M:.*]]: f32, %{{.*}}: index, %{{.*}}: index, %{{.*}}: i32, %{{.*}}: i32):
// CHECK:           arith.mulf %[[P]], %[[M]]
func.func @dropout(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>, %v: tensor<?x6xf32>, %drop: tensor<?x?xf32>) -> tensor<?x6xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %q, %c0 : tensor<?x8xf32>
  %m = tensor.dim %k, %c0 : tensor<?x8xf32>
  %es = tensor.empty(%n, %m) : tensor<?x?xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<?x?xf32>) -> tensor<?x?xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<?x8xf32>, tensor<?x8xf32>) outs(%zs : tensor<?x?xf32>) -> tensor<?x?xf32>
  %p = linalg.softmax dimension(1) ins(%s : tensor<?x?xf32>) outs(%es : tensor<?x?xf32>) -> tensor<?x?xf32>
  %w = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%p, %drop : tensor<?x?xf32>, tensor<?x?xf32>) outs(%es : tensor<?x?xf32>) {
  ^bb0(%a: f32, %d: f32, %unused: f32):
    %scale = arith.constant 1.25 : f32
    %z = arith.mulf %a, %d : f32
    %r = arith.mulf %z, %scale : f32
    linalg.yield %r : f32
  } -> tensor<?x?xf32>
  %eo = tensor.empty(%n) : tensor<?x6xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<?x6xf32>) -> tensor<?x6xf32>
  %o = linalg.contract indexing_maps = [#p, #v, #o] ins(%w, %v : tensor<?x?xf32>, tensor<?x6xf32>) outs(%zo : tensor<?x6xf32>) -> tensor<?x6xf32>
  return %o : tensor<?x6xf32>
}
