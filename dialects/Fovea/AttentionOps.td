// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FOVEA_ATTENTION_OPS_TD
#define FOVEA_ATTENTION_OPS_TD

include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "dialects/Fovea/FoveaAttrs.td"
include "dialects/Fovea/FoveaTypes.td"
include "dialects/Fovea/OperandInterfaces.td"
include "dialects/Fovea/SizeInterface.td"
include "dialects/Fovea/TileableInterface.td"

def AttentionOp : FoveaOp<"attention", [RecursiveMemoryEffects, IsolatedFromAbove, AttrSizedOperandSegments, AttrSizedResultSegments,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>, DeclareOpInterfaceMethods<SizeOpInterface>,
    DeclareOpInterfaceMethods<AxesOpInterface>, DeclareOpInterfaceMethods<IntegersOpInterface>, DeclareOpInterfaceMethods<ElementRegionsOpInterface>,
    DeclareOpInterfaceMethods<TileableOpInterface>, DeclareOpInterfaceMethods<RoundableOpInterface>]> {
  let summary = "Softmax of scores times values, with masks as predicates";
  let description = [{
    For batch row b, query head h with its key head `g = h / (Hq / Hk)`, query i and key j:

    ```
    x[i,j] = scale * sum_d q[b,i,h,d] * k[b,j,g,d]              (or, with additive(w): scale * sum_d w[d] * tanh(q + k))
    y[i,j] = score(x[i,j])                                       (absent: x itself)
    p[i,:] = softmax over the keys that the mask allows of y[i,:], and, in the denominator only, sinks[h]
    w[i,j] = probability(p[i,j])                                 (absent: p itself)
    o[b,i,h,:] = sum_j w[i,j] * v[b,j,g,:]                       over the keys that the mask allows
    ```

    `q [B,Sq,Hq,D]`, `k [B,Sk,Hk,D]`, `v [B,Sk,Hk,Dv]` are laid out as projections produce them. K and V may be
    caches: then Sk is the cache's length. Of caches of i8, k and v are their integers times `key_scales` and
    `value_scales`, one for each position and head. Scores, softmax and sums are in f32, in f64 if q is f64 ("the
    accumulation type" below). The dot-product form is Vaswani et al. 2017 (eq. 1); `additive` is Bahdanau et al. 2015.

    `q_pos [B|1,Sq]`, `k_pos [B|1,Sk]` are what masks and the score region call positions; absent means the index.

    `score` is scalar code with arguments `(x, operand elements..., b: index, h: index, q_pos: i32, k_pos: i32)`
    that yields the new score. An operand's indexing map takes `(b, h, i, j)` to its axes; a map without results
    hands the operand over whole, for data-dependent gathers by `tensor.extract`.

    `probability` is scalar code of the same form on the finished probability: thresholds, caps, dropout by a given
    mask. It yields what the value is multiplied with, which need not sum to one.

    `fill` says what a row gives in which no key is allowed: `zero`; `mean` of V over all keys; `raw`, softmax
    of the unmasked scores; `nan`. For `mean` and `raw` the probability region gets 1 / Sk or that softmax. Producers write `mean` when they replace scores by a large negative number,
    `raw` when they add one, `nan` when they write minus infinity. Where sinks are present they take all of an
    empty row's probability, so every fill gives zero. Key length zero gives zero.

    `lse` is log(sum_j exp(y[i,j]) + exp(sink)) over the allowed keys; minus infinity if there is nothing to sum.
    `weights` is p itself: it costs memory of Sq times Sk.

    * (C1) q has rank 4 and static heads and head size; k and v likewise, or are caches of kind key and value.
    * (C2) Hq is a multiple of Hk, and k and v have the same number of heads.
    * (C3) q and k agree in head size.
    * (C4) k and v agree in length, and q, k and v in batch, where static.
    * (C5) the result is `[B,Sq,Hq,Dv]` of q's element type.
    * (C6) `q_pos` is `[B|1,Sq]` and `k_pos` is `[B|1,Sk]`.
    * (C7) a region's arguments are as said, it yields the accumulation type, and its ops are pure.
    * (C8) a region that is absent has no operands. Each operand has a map of four dimensions whose results are distinct
      dimensions, as many as the operand has axes, or none; its sizes are theirs (B, Hq, Sq and Sk).
    * (C9) `sinks` has Hq elements.
    * (C10) `additive` has as many elements as the head size.
    * (C11) `lse` is `[B,Hq,Sq]` of the accumulation type; `weights` is `[B,Hq,Sq,Sk]` of q's element type.
    * (C12) the tensors of the mask's ops fit B, Hq, Sq and Sk.
    * (C13) caches of i8, and no others, have scales, keys and values both or neither: caches of f32, of their kinds, heads, batch and length, of size one.

    ```mlir
    %m = fovea.mask_causal
    %o = fovea.attention %q, %k, %v mask(%m) scale(0.125)
        score(%bias : tensor<8x?x?xf32> by (b, h, i, j) -> (h, i, j)) {
      ^bb0(%x: f32, %bv: f32, %b: index, %h: index, %qp: i32, %kp: i32):
        %y = arith.addf %x, %bv : f32
        fovea.yield %y : f32
    } : tensor<?x?x8x64xf32>, tensor<?x?x2x64xf32>, tensor<?x?x2x64xf32> -> tensor<?x?x8x64xf32>
    ```
  }];
  let arguments = (ins
    Fovea_FloatTensor4:$query, Fovea_KeyOrValue:$key, Fovea_KeyOrValue:$value,
    Optional<Fovea_Positions>:$query_positions, Optional<Fovea_Positions>:$key_positions,
    Optional<Fovea_MaskType>:$mask, Optional<Fovea_FloatTensor1>:$sinks,
    Optional<Fovea_FloatTensor1>:$additive,
    Optional<Fovea_CacheType>:$key_scales, Optional<Fovea_CacheType>:$value_scales,
    Variadic<AnyRankedTensor>:$score_operands, Variadic<AnyRankedTensor>:$probability_operands,
    DefaultValuedAttr<AffineMapArrayAttr, "{}">:$score_maps,
    DefaultValuedAttr<AffineMapArrayAttr, "{}">:$probability_maps,
    DefaultValuedAttr<F64Attr, "1.0">:$scale,
    DefaultValuedAttr<Fovea_Fill, "::mlir::fovea::Fill::Zero">:$fill);
  let results = (outs Fovea_FloatTensor4:$output,
                      Optional<TensorRankOf<[F32, F64], [3]>>:$lse,
                      Optional<Fovea_FloatTensor4>:$weights);
  let regions = (region MaxSizedRegion<1>:$score, MaxSizedRegion<1>:$probability);
  let assemblyFormat = [{
    $query `,` $key `,` $value
    (`q_pos` `(` $query_positions^ `:` type($query_positions) `)`)?
    (`k_pos` `(` $key_positions^ `:` type($key_positions) `)`)?
    (`mask` `(` $mask^ `)`)?
    (`sinks` `(` $sinks^ `:` type($sinks) `)`)?
    (`additive` `(` $additive^ `:` type($additive) `)`)?
    (`scales` `(` $key_scales^ `,` $value_scales `:` type($key_scales) `,` type($value_scales) `)`)?
    (`scale` `(` $scale^ `)`)?
    (`fill` `(` $fill^ `)`)?
    `` custom<Regions>($score_operands, type($score_operands), $score_maps, $score,
                    $probability_operands, type($probability_operands), $probability_maps, $probability)
    attr-dict `:` type($query) `,` type($key) `,` type($value) `->` type($output)
    (`lse` type($lse)^)? (`weights` type($weights)^)?
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    /// f64 for f64 queries, f32 for all others.
    ::mlir::FloatType getAccumulationType();
    int64_t getQueryHeads();
    int64_t getKeyHeads();
    int64_t getHeadSize();
    int64_t getValueSize();
    ElementRegion getScoreRegion();
    ElementRegion getProbabilityRegion();
    bool hasScore() { return !getScore().empty(); }
    bool hasProbability() { return !getProbability().empty(); }
    bool hasCache();
  }];
}

def AlibiSlopesOp : FoveaOp<"alibi_slopes", [Pure]> {
  let summary = "The slopes of attention with linear biases, one for each head";
  let description = [{
    Press et al. 2022: for n heads, a power of two, `slopes[h] = 2^(-8 (h+1) / n)`; for other n the slopes of the
    next lower power of two, then every other slope of the next higher.

    * (C1) the number of heads is static.

    ```mlir
    %s = fovea.alibi_slopes : tensor<8xf32>
    ```
  }];
  let results = (outs Fovea_FloatTensor1:$slopes);
  let assemblyFormat = "attr-dict `:` type($slopes)";
  let hasVerifier = 1;
}

def RelativeBiasOp : FoveaOp<"relative_bias", [Pure]> {
  let summary = "The bias of T5 for one head, query and key position";
  let description = [{
    Scalar, for use in a score region. With `n = k_pos - q_pos` (Raffel et al. 2020): the bucket of n is, of
    `buckets` (halved, the upper half for n > 0, if `bidirectional`; else n > 0 counts as 0), exact up to half
    of them and logarithmic up to `max_distance`; the result is `table[bucket, head]`.

    * (C1) `table` has `buckets` rows.
    * (C2) `buckets` is at least 2 (4 and even if bidirectional) and `max_distance` above the exact buckets.

    ```mlir
    %b = fovea.relative_bias %table[%h] at(%qp, %kp) {bidirectional, buckets = 32, max_distance = 128} : tensor<32x8xf32> -> f32
    ```
  }];
  let arguments = (ins Fovea_FloatTensor2:$table, Index:$head, I32:$query_position, I32:$key_position,
                       UnitAttr:$bidirectional, I64Attr:$buckets, I64Attr:$max_distance);
  let results = (outs Fovea_Float:$bias);
  let assemblyFormat = [{
    $table `[` $head `]` `at` `(` $query_position `,` $key_position `)` attr-dict `:` type($table) `->` type($bias)
  }];
  let hasVerifier = 1;
}

#endif // FOVEA_ATTENTION_OPS_TD
