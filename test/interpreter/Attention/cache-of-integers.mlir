// RUN: fovea-interpret %s | FileCheck %s

// Rows of integers with a scale each: the greatest is 127 of them, halves go to even, and what is no number has NaN.

// CHECK-LABEL: @quantized
// CHECK-NEXT: cache of 3 [127, 64, -127, 0, 0, 0]
// CHECK-NEXT: cache of 3 [0.00787402, 2, nan]
// CHECK-NEXT: 1x1x1x2 [-254, 0]
func.func @quantized() -> (!fovea.cache<value, 1x2xi8>, !fovea.cache<value, 1x1xf32>, tensor<1x1x1x2xf32>) {
  %one = arith.constant 1 : index
  %eight = arith.constant 8 : index
  %x = arith.constant dense<[[[[1.0, 0.5]], [[-254.0, 0.0]], [[0x7FC00000, 3.0]]]]> : tensor<1x3x1x2xf32>
  %c = fovea.cache_create %one, %eight : !fovea.cache<value, 1x2xi8>
  %s = fovea.cache_create %one, %eight : !fovea.cache<value, 1x1xf32>
  %d, %t = fovea.cache_append %c, %x scales(%s : !fovea.cache<value, 1x1xf32>) : !fovea.cache<value, 1x2xi8>, tensor<1x3x1x2xf32>
  // The second key alone is allowed.
  %k = arith.constant dense<[[[[1.0, 1.0]], [[1.0, 1.0]], [[1.0, 1.0]]]]> : tensor<1x3x1x2xf32>
  %ck = fovea.cache_create %one, %eight : !fovea.cache<key, 1x2xi8>
  %sk = fovea.cache_create %one, %eight : !fovea.cache<key, 1x1xf32>
  %dk, %tk = fovea.cache_append %ck, %k scales(%sk : !fovea.cache<key, 1x1xf32>) : !fovea.cache<key, 1x2xi8>, tensor<1x3x1x2xf32>
  %p = arith.constant dense<1> : tensor<1x1xi32>
  %m = fovea.mask_window left(0) right(0)
  %q = arith.constant dense<1.0> : tensor<1x1x1x2xf32>
  %o = fovea.attention %q, %dk, %d q_pos(%p : tensor<1x1xi32>) mask(%m) scales(%tk, %t : !fovea.cache<key, 1x1xf32>, !fovea.cache<value, 1x1xf32>)
      : tensor<1x1x1x2xf32>, !fovea.cache<key, 1x2xi8>, !fovea.cache<value, 1x2xi8> -> tensor<1x1x1x2xf32>
  return %d, %t, %o : !fovea.cache<value, 1x2xi8>, !fovea.cache<value, 1x1xf32>, tensor<1x1x1x2xf32>
}
