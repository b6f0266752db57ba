// RUN: fovea-opt %s --fovea-raise-attention --canonicalize --cse | FileCheck %s

// A learned table is read at the bucket of the distance from query to key (Raffel et al. 2020):
// exact up to 2, logarithmic up to 20, keys behind the query in a half of their own.

// CHECK-LABEL: @both_ways
// CHECK-SAME:    %[[T:[a-z0-9]*]]: tensor<8x2xf32>
// CHECK:         fovea.attention {{.*}} score(%[[T]] : tensor<8x2xf32> by
// CHECK-NEXT:    ^bb0(%[[S:.*]]: f32, %[[A:.*]]: tensor<8x2xf32>, %{{.*}}: index, %[[H:.*]]: index, %[[I:.*]]: i32, %[[J:.*]]: i32):
// CHECK-NEXT:      %[[B:.*]] = fovea.relative_bias %[[A]][%[[H]]] at(%[[I]], %[[J]]) {bidirectional, buckets = 8 : i64, max_distance = 20 : i64} : tensor<8x2xf32> -> f32
// CHECK-NEXT:      arith.addf %[[S]], %[[B]] : f32
// CHECK-NOT:     math.log
#q = affine_map<(b,h,i,j,d) -> (b,i,h,d)>
#k = affine_map<(b,h,i,j,d) -> (b,j,h,d)>
#s = affine_map<(b,h,i,j,d) -> (b,h,i,j)>
#s2 = affine_map<(b,i,h,d,j) -> (b,h,i,j)>
#v = affine_map<(b,i,h,d,j) -> (b,j,h,d)>
#o = affine_map<(b,i,h,d,j) -> (b,i,h,d)>
#id = affine_map<(a,b,c,d) -> (a,b,c,d)>
func.func @both_ways(%q: tensor<?x?x2x8xf32> {fovea.name="q", fovea.dims=["batch","queries"]}, %k: tensor<?x?x2x8xf32> {fovea.name="k", fovea.dims=["batch","keys"]}, %v: tensor<?x?x2x8xf32> {fovea.name="v", fovea.dims=["batch","keys"]}, %table: tensor<8x2xf32> {fovea.name="table"}) -> (tensor<?x?x2x8xf32> {fovea.name="o", fovea.dims=["batch","queries"]}) attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %b = tensor.dim %q, %c0 : tensor<?x?x2x8xf32>
  %n = tensor.dim %q, %c1 : tensor<?x?x2x8xf32>
  %m = tensor.dim %k, %c1 : tensor<?x?x2x8xf32>
  %es = tensor.empty(%b, %n, %m) : tensor<?x2x?x?xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<?x2x?x?xf32>) -> tensor<?x2x?x?xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>) outs(%zs : tensor<?x2x?x?xf32>) -> tensor<?x2x?x?xf32>
  %biased = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s : tensor<?x2x?x?xf32>) outs(%es : tensor<?x2x?x?xf32>) {
  ^bb0(%a: f32, %out: f32):
    %h = linalg.index 1 : index
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %ii = arith.index_cast %i : index to i64
    %ji = arith.index_cast %j : index to i64
    %rel = arith.subi %ji, %ii : i64
    %none = arith.constant 0 : i64
    %half = arith.constant 4 : i64
    %isbehind = arith.cmpi sgt, %rel, %none : i64
    %first = arith.select %isbehind, %half, %none : i64
    %dist = math.absi %rel : i64
    %exact = arith.constant 2 : i64
    %df = arith.sitofp %dist : i64 to f32
    %exactf = arith.constant 2.0 : f32
    %ratio = arith.divf %df, %exactf : f32
    %log = math.log %ratio : f32
    %range = arith.constant 2.302585092994046 : f32
    %part = arith.divf %log, %range : f32
    %count = arith.constant 2.0 : f32
    %far = arith.mulf %part, %count : f32
    %fari = arith.fptosi %far : f32 to i64
    %farb = arith.addi %fari, %exact : i64
    %last = arith.constant 3 : i64
    %large = arith.minsi %farb, %last : i64
    %isnear = arith.cmpi slt, %dist, %exact : i64
    %bucket = arith.select %isnear, %dist, %large : i64
    %whole = arith.addi %first, %bucket : i64
    %row = arith.index_cast %whole : i64 to index
    %bias = tensor.extract %table[%row, %h] : tensor<8x2xf32>
    %sum = arith.addf %a, %bias : f32
    linalg.yield %sum : f32
  } -> tensor<?x2x?x?xf32>
  %p = linalg.softmax dimension(3) ins(%biased : tensor<?x2x?x?xf32>) outs(%es : tensor<?x2x?x?xf32>) -> tensor<?x2x?x?xf32>
  %eo = tensor.empty(%b, %n) : tensor<?x?x2x8xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<?x?x2x8xf32>) -> tensor<?x?x2x8xf32>
  %o = linalg.contract indexing_maps = [#s2, #v, #o] ins(%p, %v : tensor<?x2x?x?xf32>, tensor<?x?x2x8xf32>) outs(%zo : tensor<?x?x2x8xf32>) -> tensor<?x?x2x8xf32>
  return %o : tensor<?x?x2x8xf32>
}
