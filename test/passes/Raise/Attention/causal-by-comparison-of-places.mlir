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
