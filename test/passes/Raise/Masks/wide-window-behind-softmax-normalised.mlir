// RUN: fovea-opt %s --fovea-raise-attention --canonicalize --cse | FileCheck %s

// The window's keys are dropped behind the softmax, which is normalised anew: those that are left are a softmax
// of their own, under a window.

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
