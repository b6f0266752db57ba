// RUN: fovea-opt %s --fovea-raise-attention --canonicalize --cse | FileCheck %s

// Queries, keys and values come as heads side by side; the mask is a comparison of places; the
// scale stands under it. Nothing of the transposes is left but the one that the source undoes.

// CHECK-LABEL: @causal_by_a_comparison_of_places
// CHECK-SAME:    %[[Q:.*]]: tensor<?x?x32xf32>{{.*}}, %[[K:.*]]: tensor<?x?x32xf32>{{.*}}, %[[V:.*]]: tensor<?x?x32xf32>
// CHECK:         %[[Q4:.*]] = tensor.expand_shape %[[Q]] {{.*}} into tensor<?x?x4x8xf32>
// CHECK:         %[[K4:.*]] = tensor.expand_shape %[[K]] {{.*}} into tensor<?x?x4x8xf32>
// CHECK:         %[[V4:.*]] = tensor.expand_shape %[[V]] {{.*}} into tensor<?x?x4x8xf32>
// CHECK:         %[[M:.*]] = fovea.mask_causal
// CHECK:         fovea.attention %[[Q4]], %[[K4]], %[[V4]] mask(%[[M]]) scale(0.353553{{[0-9]*}}) fill(nan)
// CHECK-NOT:     linalg.softmax
#q = affine_map<(b,h,i,j,d) -> (b,h,i,d)>
#k = affine_map<(b,h,i,j,d) -> (b,h,j,d)>
#s = affine_map<(b,h,i,j,d) -> (b,h,i,j)>
#p = affine_map<(b,h,i,d,j) -> (b,h,i,j)>
#v = affine_map<(b,h,i,d,j) -> (b,h,j,d)>
#o = affine_map<(b,h,i,d,j) -> (b,h,i,d)>
#id4 = affine_map<(a,b,c,d)->(a,b,c,d)>
func.func @causal_by_a_comparison_of_places(%x: tensor<?x?x32xf32> {fovea.name="q", fovea.dims=["batch","sequence"]}, %y: tensor<?x?x32xf32> {fovea.name="k", fovea.dims=["batch","sequence"]}, %z: tensor<?x?x32xf32> {fovea.name="v", fovea.dims=["batch","sequence"]}) -> (tensor<?x?x32xf32> {fovea.name="o", fovea.dims=["batch","sequence"]}) attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %x, %c0 : tensor<?x?x32xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?x32xf32>
  %zero = arith.constant 0.0 : f32
  %q4 = tensor.expand_shape %x [[0],[1],[2,3]] output_shape [%b,%n,4,8] : tensor<?x?x32xf32> into tensor<?x?x4x8xf32>
  %k4 = tensor.expand_shape %y [[0],[1],[2,3]] output_shape [%b,%n,4,8] : tensor<?x?x32xf32> into tensor<?x?x4x8xf32>
  %v4 = tensor.expand_shape %z [[0],[1],[2,3]] output_shape [%b,%n,4,8] : tensor<?x?x32xf32> into tensor<?x?x4x8xf32>
  %e = tensor.empty(%b,%n) : tensor<?x4x?x8xf32>
  %q = linalg.transpose ins(%q4 : tensor<?x?x4x8xf32>) outs(%e : tensor<?x4x?x8xf32>) permutation = [0,2,1,3]
  %k = linalg.transpose ins(%k4 : tensor<?x?x4x8xf32>) outs(%e : tensor<?x4x?x8xf32>) permutation = [0,2,1,3]
  %v = linalg.transpose ins(%v4 : tensor<?x?x4x8xf32>) outs(%e : tensor<?x4x?x8xf32>) permutation = [0,2,1,3]
  %es = tensor.empty(%b,%n,%n) : tensor<?x4x?x?xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<?x4x?x?xf32>) -> tensor<?x4x?x?xf32>
  %s = linalg.contract indexing_maps=[#q,#k,#s] ins(%q,%k : tensor<?x4x?x8xf32>,tensor<?x4x?x8xf32>) outs(%zs : tensor<?x4x?x?xf32>) -> tensor<?x4x?x?xf32>
  %m = linalg.generic {indexing_maps=[#id4,#id4], iterator_types=["parallel","parallel","parallel","parallel"]} ins(%s : tensor<?x4x?x?xf32>) outs(%es : tensor<?x4x?x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %ninf = arith.constant 0xFF800000 : f32
    %sc = arith.constant 0.35355339 : f32
    %am = arith.mulf %a, %sc : f32
    %c = arith.cmpi sgt, %j, %i : index
    %r = arith.select %c, %ninf, %am : f32
    linalg.yield %r : f32
  } -> tensor<?x4x?x?xf32>
  %pr = linalg.softmax dimension(3) ins(%m : tensor<?x4x?x?xf32>) outs(%es : tensor<?x4x?x?xf32>) -> tensor<?x4x?x?xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%e : tensor<?x4x?x8xf32>) -> tensor<?x4x?x8xf32>
  %o = linalg.contract indexing_maps=[#p,#v,#o] ins(%pr,%v : tensor<?x4x?x?xf32>,tensor<?x4x?x8xf32>) outs(%zo : tensor<?x4x?x8xf32>) -> tensor<?x4x?x8xf32>
  %eo = tensor.empty(%b,%n) : tensor<?x?x4x8xf32>
  %ot = linalg.transpose ins(%o : tensor<?x4x?x8xf32>) outs(%eo : tensor<?x?x4x8xf32>) permutation = [0,2,1,3]
  %oc = tensor.collapse_shape %ot [[0],[1],[2,3]] : tensor<?x?x4x8xf32> into tensor<?x?x32xf32>
  return %oc : tensor<?x?x32xf32>
}

// The division by the sum comes behind the product with the values; there is no maximum, and the
// exponent has base two.

// CHECK-LABEL: @late_division_without_maximum
// CHECK:         fovea.attention %{{.*}} scale(0.693147{{[0-9]*}}) : tensor<1x?x1x8xf32>
// CHECK-NOT:     math.exp2
func.func @late_division_without_maximum(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>, %v: tensor<?x6xf32>) -> tensor<?x6xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %q, %c0 : tensor<?x8xf32>
  %m = tensor.dim %k, %c0 : tensor<?x8xf32>
  %es = tensor.empty(%n, %m) : tensor<?x?xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<?x?xf32>) -> tensor<?x?xf32>
  %s = linalg.contract indexing_maps = [affine_map<(i, j, d) -> (i, d)>, affine_map<(i, j, d) -> (j, d)>, affine_map<(i, j, d) -> (i, j)>]
      ins(%q, %k : tensor<?x8xf32>, tensor<?x8xf32>) outs(%zs : tensor<?x?xf32>) -> tensor<?x?xf32>
  %p = math.exp2 %s : tensor<?x?xf32>
  %e1 = tensor.empty(%n) : tensor<?xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.reduce { arith.addf } ins(%p : tensor<?x?xf32>) outs(%z1 : tensor<?xf32>) dimensions = [1]
  %eo = tensor.empty(%n) : tensor<?x6xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<?x6xf32>) -> tensor<?x6xf32>
  %o = linalg.contract indexing_maps = [affine_map<(i, d, j) -> (i, j)>, affine_map<(i, d, j) -> (j, d)>, affine_map<(i, d, j) -> (i, d)>]
      ins(%p, %v : tensor<?x?xf32>, tensor<?x6xf32>) outs(%zo : tensor<?x6xf32>) -> tensor<?x6xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, d) -> (i, d)>, affine_map<(i, d) -> (i)>, affine_map<(i, d) -> (i, d)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%o, %sum : tensor<?x6xf32>, tensor<?xf32>) outs(%eo : tensor<?x6xf32>) {
  ^bb0(%a: f32, %b: f32, %unused: f32):
    %y = arith.divf %a, %b : f32
    linalg.yield %y : f32
  } -> tensor<?x6xf32>
  return %r : tensor<?x6xf32>
}

// Softmax over the queries (slot attention) is another thing.

// CHECK-LABEL: @softmax_over_queries
// CHECK-NOT:     fovea.attention
// CHECK:         linalg.softmax dimension(0)
func.func @softmax_over_queries(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>, %v: tensor<?x6xf32>) -> tensor<?x6xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %q, %c0 : tensor<?x8xf32>
  %m = tensor.dim %k, %c0 : tensor<?x8xf32>
  %es = tensor.empty(%n, %m) : tensor<?x?xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<?x?xf32>) -> tensor<?x?xf32>
  %s = linalg.contract indexing_maps = [affine_map<(i, j, d) -> (i, d)>, affine_map<(i, j, d) -> (j, d)>, affine_map<(i, j, d) -> (i, j)>]
      ins(%q, %k : tensor<?x8xf32>, tensor<?x8xf32>) outs(%zs : tensor<?x?xf32>) -> tensor<?x?xf32>
  %p = linalg.softmax dimension(0) ins(%s : tensor<?x?xf32>) outs(%es : tensor<?x?xf32>) -> tensor<?x?xf32>
  %eo = tensor.empty(%n) : tensor<?x6xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<?x6xf32>) -> tensor<?x6xf32>
  %o = linalg.contract indexing_maps = [affine_map<(i, d, j) -> (i, j)>, affine_map<(i, d, j) -> (j, d)>, affine_map<(i, d, j) -> (i, d)>]
      ins(%p, %v : tensor<?x?xf32>, tensor<?x6xf32>) outs(%zo : tensor<?x6xf32>) -> tensor<?x6xf32>
  return %o : tensor<?x6xf32>
}

// A router: its logits come from no product of queries and keys.

// CHECK-LABEL: @mixture_of_values
// CHECK-NOT:     fovea.attention
// CHECK:         linalg.softmax dimension(1)
func.func @mixture_of_values(%logits: tensor<?x?xf32>, %v: tensor<?x6xf32>) -> tensor<?x6xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %logits, %c0 : tensor<?x?xf32>
  %m = tensor.dim %logits, %c1 : tensor<?x?xf32>
  %es = tensor.empty(%n, %m) : tensor<?x?xf32>
  %p = linalg.softmax dimension(1) ins(%logits : tensor<?x?xf32>) outs(%es : tensor<?x?xf32>) -> tensor<?x?xf32>
  %eo = tensor.empty(%n) : tensor<?x6xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<?x6xf32>) -> tensor<?x6xf32>
  %o = linalg.contract indexing_maps = [affine_map<(i, d, j) -> (i, j)>, affine_map<(i, d, j) -> (j, d)>, affine_map<(i, d, j) -> (i, d)>]
      ins(%p, %v : tensor<?x?xf32>, tensor<?x6xf32>) outs(%zo : tensor<?x6xf32>) -> tensor<?x6xf32>
  return %o : tensor<?x6xf32>
}

// What is added is a causal mask for short lengths, a bias for others. Drawn lengths are short, and
// the sum is a mask at each place that is looked at; it is none, and stays in the rule.

// CHECK-LABEL: @mask_at_short_lengths_else_bias
// CHECK-SAME:    %[[BIAS:[a-z0-9]*]]: tensor<8xf32>
// CHECK-NOT:     fovea.mask_
// CHECK:         fovea.attention
// CHECK-NOT:     mask(
// CHECK-SAME:    score({{.*}}%[[BIAS]] : tensor<8xf32> by
// CHECK:           %[[LONG:.*]] = arith.cmpi sgt
// CHECK:           %[[ADDED:.*]] = arith.select %[[LONG]]
// CHECK:           arith.addf %{{.*}}, %[[ADDED]]
// CHECK-NOT:     linalg.softmax
func.func @mask_at_short_lengths_else_bias(%q: tensor<4x8xf32>, %k: tensor<8x8xf32>, %v: tensor<8x6xf32>, %bias: tensor<8xf32>, %length: tensor<2xi64>) -> tensor<4x6xf32> {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %ninf = arith.constant 0xFF800000 : f32
  %c4 = arith.constant 4 : i64
  %es = tensor.empty() : tensor<4x8xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = linalg.contract indexing_maps=[affine_map<(i,j,d)->(i,d)>, affine_map<(i,j,d)->(j,d)>, affine_map<(i,j,d)->(i,j)>] ins(%q,%k : tensor<4x8xf32>,tensor<8x8xf32>) outs(%zs : tensor<4x8xf32>) -> tensor<4x8xf32>
  %n = tensor.extract %length[%c1] : tensor<2xi64>
  %long = arith.cmpi sgt, %n, %c4 : i64
  %added = linalg.generic {indexing_maps=[affine_map<(i,j)->(j)>, affine_map<(i,j)->(i,j)>], iterator_types=["parallel","parallel"]} ins(%bias : tensor<8xf32>) outs(%es : tensor<4x8xf32>) {
  ^bb0(%b: f32, %o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c = arith.cmpi sgt, %j, %i : index
    %m = arith.select %c, %ninf, %zero : f32
    %r = arith.select %long, %b, %m : f32
    linalg.yield %r : f32
  } -> tensor<4x8xf32>
  %sm = arith.addf %s, %added : tensor<4x8xf32>
  %pr = linalg.softmax dimension(1) ins(%sm : tensor<4x8xf32>) outs(%es : tensor<4x8xf32>) -> tensor<4x8xf32>
  %eo = tensor.empty() : tensor<4x6xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x6xf32>) -> tensor<4x6xf32>
  %o = linalg.contract indexing_maps=[affine_map<(i,d,j)->(i,j)>, affine_map<(i,d,j)->(j,d)>, affine_map<(i,d,j)->(i,d)>] ins(%pr,%v : tensor<4x8xf32>,tensor<8x6xf32>) outs(%zo : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %o : tensor<4x6xf32>
}

// The window's keys are dropped behind the softmax, whose sum saw them all: no mask, though at sizes
// below 256 it is one.

// CHECK-LABEL: @wide_window_behind_the_softmax(
// CHECK-NOT:     fovea.mask
// CHECK:         fovea.attention {{.*}} probability {
// CHECK:           %[[FAR:.*]] = arith.cmpi sge, %{{.*}}, %{{.*}} : index
// CHECK:           arith.select %[[FAR]], %{{.*}}, %{{.*}} : f32
func.func @wide_window_behind_the_softmax(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>, %v: tensor<?x6xf32>) -> tensor<?x6xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %q, %c0 : tensor<?x8xf32>
  %m = tensor.dim %k, %c0 : tensor<?x8xf32>
  %es = tensor.empty(%n, %m) : tensor<?x?xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<?x?xf32>) -> tensor<?x?xf32>
  %s = linalg.contract indexing_maps=[affine_map<(i,j,d)->(i,d)>, affine_map<(i,j,d)->(j,d)>, affine_map<(i,j,d)->(i,j)>] ins(%q,%k : tensor<?x8xf32>,tensor<?x8xf32>) outs(%zs : tensor<?x?xf32>) -> tensor<?x?xf32>
  %pr = linalg.softmax dimension(1) ins(%s : tensor<?x?xf32>) outs(%es : tensor<?x?xf32>) -> tensor<?x?xf32>
  %w = linalg.generic {indexing_maps=[affine_map<(i,j)->(i,j)>,affine_map<(i,j)->(i,j)>], iterator_types=["parallel","parallel"]} ins(%pr : tensor<?x?xf32>) outs(%es : tensor<?x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %z = arith.constant 0.0 : f32
    %width = arith.constant 256 : index
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %d = arith.subi %i, %j : index
    %c = arith.cmpi sge, %d, %width : index
    %r = arith.select %c, %z, %a : f32
    linalg.yield %r : f32
  } -> tensor<?x?xf32>
  %eo = tensor.empty(%n) : tensor<?x6xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<?x6xf32>) -> tensor<?x6xf32>
  %o = linalg.contract indexing_maps=[affine_map<(i,d,j)->(i,j)>, affine_map<(i,d,j)->(j,d)>, affine_map<(i,d,j)->(i,d)>] ins(%w,%v : tensor<?x?xf32>,tensor<?x6xf32>) outs(%zo : tensor<?x6xf32>) -> tensor<?x6xf32>
  return %o : tensor<?x6xf32>
}

// The same, normalised anew: those that are left are a softmax of their own.

// CHECK-LABEL: @wide_window_behind_the_softmax_normalised
// CHECK-NOT:     linalg.softmax
// CHECK:         %[[M:.*]] = fovea.mask_window left(255)
// CHECK:         fovea.attention {{.*}} mask(%[[M]])
func.func @wide_window_behind_the_softmax_normalised(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>, %v: tensor<?x6xf32>) -> tensor<?x6xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %q, %c0 : tensor<?x8xf32>
  %m = tensor.dim %k, %c0 : tensor<?x8xf32>
  %es = tensor.empty(%n, %m) : tensor<?x?xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<?x?xf32>) -> tensor<?x?xf32>
  %s = linalg.contract indexing_maps=[affine_map<(i,j,d)->(i,d)>, affine_map<(i,j,d)->(j,d)>, affine_map<(i,j,d)->(i,j)>] ins(%q,%k : tensor<?x8xf32>,tensor<?x8xf32>) outs(%zs : tensor<?x?xf32>) -> tensor<?x?xf32>
  %pr = linalg.softmax dimension(1) ins(%s : tensor<?x?xf32>) outs(%es : tensor<?x?xf32>) -> tensor<?x?xf32>
  %w = linalg.generic {indexing_maps=[affine_map<(i,j)->(i,j)>,affine_map<(i,j)->(i,j)>], iterator_types=["parallel","parallel"]} ins(%pr : tensor<?x?xf32>) outs(%es : tensor<?x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %z = arith.constant 0.0 : f32
    %width = arith.constant 256 : index
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %d = arith.subi %i, %j : index
    %c = arith.cmpi sge, %d, %width : index
    %r = arith.select %c, %z, %a : f32
    linalg.yield %r : f32
  } -> tensor<?x?xf32>
  %er = tensor.empty(%n) : tensor<?xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.reduce {arith.addf} ins(%w : tensor<?x?xf32>) outs(%zr : tensor<?xf32>) dimensions=[1]
  %w2 = linalg.generic {indexing_maps=[affine_map<(i,j)->(i,j)>,affine_map<(i,j)->(i)>,affine_map<(i,j)->(i,j)>], iterator_types=["parallel","parallel"]} ins(%w, %sum : tensor<?x?xf32>, tensor<?xf32>) outs(%es : tensor<?x?xf32>) {
  ^bb0(%a: f32, %t: f32, %o: f32):
    %r = arith.divf %a, %t : f32
    linalg.yield %r : f32
  } -> tensor<?x?xf32>
  %eo = tensor.empty(%n) : tensor<?x6xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<?x6xf32>) -> tensor<?x6xf32>
  %o = linalg.contract indexing_maps=[affine_map<(i,d,j)->(i,j)>, affine_map<(i,d,j)->(j,d)>, affine_map<(i,d,j)->(i,d)>] ins(%w2,%v : tensor<?x?xf32>,tensor<?x6xf32>) outs(%zo : tensor<?x6xf32>) -> tensor<?x6xf32>
  return %o : tensor<?x6xf32>
}

// Behind a window of 8192 places exponentials of a quarter of the distance are no numbers: what they
// make of the sum says nothing.
// CHECK-LABEL: @wide_window_of_growing_distances
// CHECK:         %[[M:.*]] = fovea.mask_window left(8191) right(0)
// CHECK:         fovea.attention {{.*}} mask(%[[M]]) score
func.func @wide_window_of_growing_distances(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>, %v: tensor<?x6xf32>) -> tensor<?x6xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %n = tensor.dim %q, %c0 : tensor<?x8xf32>
  %m = tensor.dim %k, %c0 : tensor<?x8xf32>
  %es = tensor.empty(%n, %m) : tensor<?x?xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<?x?xf32>) -> tensor<?x?xf32>
  %s = linalg.contract indexing_maps=[affine_map<(i,j,d)->(i,d)>, affine_map<(i,j,d)->(j,d)>, affine_map<(i,j,d)->(i,j)>] ins(%q,%k : tensor<?x8xf32>,tensor<?x8xf32>) outs(%zs : tensor<?x?xf32>) -> tensor<?x?xf32>
  %x = linalg.generic {indexing_maps=[affine_map<(i,j)->(i,j)>,affine_map<(i,j)->(i,j)>], iterator_types=["parallel","parallel"]} ins(%s : tensor<?x?xf32>) outs(%es : tensor<?x?xf32>) {
  ^bb0(%a: f32, %out: f32):
    %none = arith.constant 0 : index
    %width = arith.constant 8192 : index
    %quarter = arith.constant 0.25 : f32
    %low = arith.constant 0xFF800000 : f32
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %d = arith.subi %i, %j : index
    %d32 = arith.index_cast %d : index to i32
    %df = arith.sitofp %d32 : i32 to f32
    %slope = arith.mulf %df, %quarter : f32
    %more = arith.addf %a, %slope : f32
    %past = arith.cmpi sge, %d, %none : index
    %near = arith.cmpi slt, %d, %width : index
    %allowed = arith.andi %past, %near : i1
    %r = arith.select %allowed, %more, %low : f32
    %exp = math.exp %r : f32
    linalg.yield %exp : f32
  } -> tensor<?x?xf32>
  %er = tensor.empty(%n) : tensor<?xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.reduce {arith.addf} ins(%x : tensor<?x?xf32>) outs(%zr : tensor<?xf32>) dimensions=[1]
  %w = linalg.generic {indexing_maps=[affine_map<(i,j)->(i,j)>,affine_map<(i,j)->(i)>,affine_map<(i,j)->(i,j)>], iterator_types=["parallel","parallel"]} ins(%x, %sum : tensor<?x?xf32>, tensor<?xf32>) outs(%es : tensor<?x?xf32>) {
  ^bb0(%a: f32, %t: f32, %out: f32):
    %p = arith.divf %a, %t : f32
    %isNan = arith.cmpf une, %p, %p : f32
    %r = arith.select %isNan, %zero, %p : f32
    linalg.yield %r : f32
  } -> tensor<?x?xf32>
  %eo = tensor.empty(%n) : tensor<?x6xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<?x6xf32>) -> tensor<?x6xf32>
  %o = linalg.contract indexing_maps=[affine_map<(i,d,j)->(i,j)>, affine_map<(i,d,j)->(j,d)>, affine_map<(i,d,j)->(i,d)>] ins(%w,%v : tensor<?x?xf32>,tensor<?x6xf32>) outs(%zo : tensor<?x6xf32>) -> tensor<?x6xf32>
  return %o : tensor<?x6xf32>
}
