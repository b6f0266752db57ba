// RUN: fovea-opt %s --fovea-raise-attention --canonicalize --cse | FileCheck %s

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
