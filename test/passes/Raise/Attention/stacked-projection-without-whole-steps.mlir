// RUN: fovea-opt %s --fovea-raise-attention --canonicalize --cse | FileCheck %s

// An axis of 98 places holds no whole steps of 24: what is read of it is gathered.

// CHECK-LABEL: @no_whole_steps
// CHECK:         linalg.generic
// CHECK:         fovea.attention
#q = affine_map<(b,h,i,j,d) -> (b,i,h,d)>
#k = affine_map<(b,h,i,j,d) -> (b,j,h,d)>
#s = affine_map<(b,h,i,j,d) -> (b,h,i,j)>
#s2 = affine_map<(b,i,h,d,j) -> (b,h,i,j)>
#v = affine_map<(b,i,h,d,j) -> (b,j,h,d)>
#o = affine_map<(b,i,h,d,j) -> (b,i,h,d)>
#id = affine_map<(a,b,c,d) -> (a,b,c,d)>
func.func @no_whole_steps(%x: tensor<?x?x98xf32> {fovea.name="x", fovea.dims=["batch","sequence"]}, %k: tensor<?x?x4x8xf32> {fovea.name="k", fovea.dims=["batch","sequence"]}) -> (tensor<?x?x4x8xf32> {fovea.name="o", fovea.dims=["batch","sequence"]}) attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %b = tensor.dim %x, %c0 : tensor<?x?x98xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?x98xf32>
  %e = tensor.empty(%b, %n) : tensor<?x?x4x8xf32>
  %q = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%e : tensor<?x?x4x8xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %h = linalg.index 2 : index
    %d = linalg.index 3 : index
    %c24 = arith.constant 24 : index
    %step = arith.muli %h, %c24 : index
    %place = arith.addi %step, %d : index
    %element = tensor.extract %x[%i, %j, %place] : tensor<?x?x98xf32>
    linalg.yield %element : f32
  } -> tensor<?x?x4x8xf32>
  %es = tensor.empty(%b, %n, %n) : tensor<?x4x?x?xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<?x4x?x?xf32>) -> tensor<?x4x?x?xf32>
  %s = linalg.contract indexing_maps = [#q, #k, #s] ins(%q, %k : tensor<?x?x4x8xf32>, tensor<?x?x4x8xf32>) outs(%zs : tensor<?x4x?x?xf32>) -> tensor<?x4x?x?xf32>
  %p = linalg.softmax dimension(3) ins(%s : tensor<?x4x?x?xf32>) outs(%es : tensor<?x4x?x?xf32>) -> tensor<?x4x?x?xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?x4x8xf32>) -> tensor<?x?x4x8xf32>
  %o = linalg.contract indexing_maps = [#s2, #v, #o] ins(%p, %k : tensor<?x4x?x?xf32>, tensor<?x?x4x8xf32>) outs(%zo : tensor<?x?x4x8xf32>) -> tensor<?x?x4x8xf32>
  return %o : tensor<?x?x4x8xf32>
}
