// Attention under a given mask. Exporters that know all sizes write masks of places as tables of booleans, or of places: a test
// has a table for @attend and the same mask as a formula for @attend_open, and both become the same mask ops.

#q = affine_map<(b,i,j,d) -> (b,i,d)>
#k = affine_map<(b,i,j,d) -> (b,j,d)>
#s = affine_map<(b,i,j,d) -> (b,i,j)>
#p = affine_map<(b,i,d,j) -> (b,i,j)>
#v = affine_map<(b,i,d,j) -> (b,j,d)>
#o = affine_map<(b,i,d,j) -> (b,i,d)>
#id = affine_map<(a,b,c) -> (a,b,c)>
#table = affine_map<(b,i,j) -> (i,j)>
func.func private @attend(%x: tensor<2x8x4xf32>, %allowed: tensor<8x8xi1>) -> tensor<2x8x4xf32> {
  %low = arith.constant -1.0e+09 : f32
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty() : tensor<2x8x8xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<2x8x8xf32>) -> tensor<2x8x8xf32>
  %s = linalg.contract indexing_maps=[#q,#k,#s] ins(%x,%x : tensor<2x8x4xf32>,tensor<2x8x4xf32>) outs(%zs : tensor<2x8x8xf32>) -> tensor<2x8x8xf32>
  %m = linalg.generic {indexing_maps=[#table,#id,#id], iterator_types=["parallel","parallel","parallel"]} ins(%allowed,%s : tensor<8x8xi1>,tensor<2x8x8xf32>) outs(%es : tensor<2x8x8xf32>) {
  ^bb0(%c: i1, %a: f32, %o: f32):
    %r = arith.select %c, %a, %low : f32
    linalg.yield %r : f32
  } -> tensor<2x8x8xf32>
  %p = linalg.softmax dimension(2) ins(%m : tensor<2x8x8xf32>) outs(%es : tensor<2x8x8xf32>) -> tensor<2x8x8xf32>
  %ev = tensor.empty() : tensor<2x8x4xf32>
  %zv = linalg.fill ins(%zero : f32) outs(%ev : tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
  %y = linalg.contract indexing_maps=[#p,#v,#o] ins(%p,%x : tensor<2x8x8xf32>,tensor<2x8x4xf32>) outs(%zv : tensor<2x8x4xf32>) -> tensor<2x8x4xf32>
  return %y : tensor<2x8x4xf32>
}

func.func private @attend_open(%x: tensor<2x?x4xf32>, %allowed: tensor<?x?xi1>) -> tensor<2x?x4xf32> {
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c1 : tensor<2x?x4xf32>
  %low = arith.constant -1.0e+09 : f32
  %zero = arith.constant 0.0 : f32
  %es = tensor.empty(%n,%n) : tensor<2x?x?xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<2x?x?xf32>) -> tensor<2x?x?xf32>
  %s = linalg.contract indexing_maps=[#q,#k,#s] ins(%x,%x : tensor<2x?x4xf32>,tensor<2x?x4xf32>) outs(%zs : tensor<2x?x?xf32>) -> tensor<2x?x?xf32>
  %m = linalg.generic {indexing_maps=[#table,#id,#id], iterator_types=["parallel","parallel","parallel"]} ins(%allowed,%s : tensor<?x?xi1>,tensor<2x?x?xf32>) outs(%es : tensor<2x?x?xf32>) {
  ^bb0(%c: i1, %a: f32, %o: f32):
    %r = arith.select %c, %a, %low : f32
    linalg.yield %r : f32
  } -> tensor<2x?x?xf32>
  %p = linalg.softmax dimension(2) ins(%m : tensor<2x?x?xf32>) outs(%es : tensor<2x?x?xf32>) -> tensor<2x?x?xf32>
  %ev = tensor.empty(%n) : tensor<2x?x4xf32>
  %zv = linalg.fill ins(%zero : f32) outs(%ev : tensor<2x?x4xf32>) -> tensor<2x?x4xf32>
  %y = linalg.contract indexing_maps=[#p,#v,#o] ins(%p,%x : tensor<2x?x?xf32>,tensor<2x?x4xf32>) outs(%zv : tensor<2x?x4xf32>) -> tensor<2x?x4xf32>
  return %y : tensor<2x?x4xf32>
}
