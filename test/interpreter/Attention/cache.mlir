// RUN: fovea-interpret %s | FileCheck %s

// CHECK-LABEL: @cache
// CHECK-NEXT: 1x1x1x1 [3]
// CHECK-NEXT: 2
// CHECK-NEXT: cache of 2 [2, 4]
func.func @cache() -> (tensor<1x1x1x1xf32>, index, !fovea.cache<value, 1x1xf32>) {
  %one = arith.constant 1 : index
  %eight = arith.constant 8 : index
  %q = arith.constant dense<0.0> : tensor<1x1x1x1xf32>
  %k = arith.constant dense<1.0> : tensor<1x1x1x1xf32>
  %v0 = arith.constant dense<2.0> : tensor<1x1x1x1xf32>
  %v1 = arith.constant dense<4.0> : tensor<1x1x1x1xf32>
  %ck = fovea.cache_create %one, %eight : !fovea.cache<key, 1x1xf32>
  %cv = fovea.cache_create %one, %eight : !fovea.cache<value, 1x1xf32>
  %ck1 = fovea.cache_append %ck, %k : !fovea.cache<key, 1x1xf32>, tensor<1x1x1x1xf32>
  %cv1 = fovea.cache_append %cv, %v0 : !fovea.cache<value, 1x1xf32>, tensor<1x1x1x1xf32>
  %ck2 = fovea.cache_append %ck1, %k : !fovea.cache<key, 1x1xf32>, tensor<1x1x1x1xf32>
  %cv2 = fovea.cache_append %cv1, %v1 : !fovea.cache<value, 1x1xf32>, tensor<1x1x1x1xf32>
  %o = fovea.attention %q, %ck2, %cv2 : tensor<1x1x1x1xf32>, !fovea.cache<key, 1x1xf32>, !fovea.cache<value, 1x1xf32> -> tensor<1x1x1x1xf32>
  %n = fovea.cache_length %ck2 : !fovea.cache<key, 1x1xf32>
  return %o, %n, %cv2 : tensor<1x1x1x1xf32>, index, !fovea.cache<value, 1x1xf32>
}
