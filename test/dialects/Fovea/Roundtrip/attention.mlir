// RUN: fovea-opt %s --verify-roundtrip

func.func @plain(%q: tensor<?x?x8x64xf32>, %k: tensor<?x?x2x64xf32>, %v: tensor<?x?x2x48xf32>) -> tensor<?x?x8x48xf32> {
  %o = fovea.attention %q, %k, %v : tensor<?x?x8x64xf32>, tensor<?x?x2x64xf32>, tensor<?x?x2x48xf32> -> tensor<?x?x8x48xf32>
  return %o : tensor<?x?x8x48xf32>
}

func.func @all_clauses(%q: tensor<?x?x8x64xf32>, %k: tensor<?x?x2x64xf32>, %v: tensor<?x?x2x64xf32>, %qp: tensor<1x?xi32>, %kp: tensor<?x?xi32>,
                       %sinks: tensor<8xf32>, %w: tensor<64xf32>, %bias: tensor<8x?x?xf32>, %table: tensor<32x8xf32>) -> tensor<?x8x?x?xf32> {
  %m = fovea.mask_causal
  %o, %l, %p = fovea.attention %q, %k, %v q_pos(%qp : tensor<1x?xi32>) k_pos(%kp : tensor<?x?xi32>) mask(%m) sinks(%sinks : tensor<8xf32>)
      additive(%w : tensor<64xf32>) scale(0.125) fill(mean)
      score(%bias : tensor<8x?x?xf32> by (b, h, i, j) -> (h, i, j), %table : tensor<32x8xf32> by (b, h, i, j) -> ()) {
    ^bb0(%x: f32, %bv: f32, %t: tensor<32x8xf32>, %b: index, %h: index, %i: i32, %j: i32):
      %r = fovea.relative_bias %t[%h] at(%i, %j) {bidirectional, buckets = 32 : i64, max_distance = 128 : i64} : tensor<32x8xf32> -> f32
      %y = arith.addf %x, %bv : f32
      %z = arith.addf %y, %r : f32
      fovea.yield %z : f32
  } : tensor<?x?x8x64xf32>, tensor<?x?x2x64xf32>, tensor<?x?x2x64xf32> -> tensor<?x?x8x64xf32> lse tensor<?x8x?xf32> weights tensor<?x8x?x?xf32>
  return %p : tensor<?x8x?x?xf32>
}
