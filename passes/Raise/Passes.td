// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FOVEA_PASSES_RAISE_PASSES_TD
#define FOVEA_PASSES_RAISE_PASSES_TD

include "mlir/Pass/PassBase.td"

class RaisePass<string argument, string operation = ""> : Pass<argument, operation> {
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::fovea::FoveaDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"];
}

def RaiseViewsPass : RaisePass<"fovea-raise-views"> {
  let summary = "Canonicalize data movement";
  let description = [{
    Exporters write views in many ways, and the passes behind this one see few of them:

    - a `linalg.generic` that yields one input as it is becomes `linalg.transpose` and `linalg.broadcast`, one whose body
      is a single op on inputs that all are read in place becomes that op on tensors;
    - chains of transposes, of `tensor.expand_shape` and `tensor.collapse_shape`, and of casts become one, or nothing;
    - what gives its input is its input: slices of everything, a concatenation of one part, a broadcast that adds no axis.

    Where it must be known that dynamic sizes are equal, they are followed to where they come from; if that does not show
    it, the op stays.

    ```mlir
    %0 = tensor.empty(%s, %b) : tensor<?x?x8xf32>
    %1 = linalg.generic {indexing_maps = [affine_map<(s, b, d) -> (b, s, d)>, affine_map<(s, b, d) -> (s, b, d)>],
                         iterator_types = ["parallel", "parallel", "parallel"]}
         ins(%x : tensor<?x?x8xf32>) outs(%0 : tensor<?x?x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x?x8xf32>
    // becomes
    %transposed = linalg.transpose ins(%x : tensor<?x?x8xf32>) outs(%0 : tensor<?x?x8xf32>) permutation = [1, 0, 2]
    ```
  }];
  let statistics = [
    Statistic<"numCopies", "num-copies", "generics that only moved data">,
    Statistic<"numOps", "num-ops", "generics that became one op on tensors">,
    Statistic<"numIdentities", "num-identities", "ops that gave their input">];
}

def RaiseAttentionPass : RaisePass<"fovea-raise-attention"> {
  let summary = "Raise products around softmax to fovea.attention";
  let description = [{
    A tensor is an attention if its elements are: `sum_j softmax_j(y[.., i, j]) * v[.., j, d]`, and y comes from a product
    of two tensors, one of them without j. How that is written does not matter: the pass asks what one element is, through
    views, elementwise code and reductions (`passes/Elements/Expression.h`), guesses y from where an exponential
    depends on the summed index, and tests the guess with y and v as unknowns: what stands between y and the result must
    be a softmax, whatever y is. A randomised test decides that of smooth functions; each choice, comparison, maximum and
    rounding in the source is accounted for by itself (`passes/Elements/Equivalence.h`) or the attention is not raised, and
    the report names what is in the way.

    - Axes find their roles by what depends on them: what queries alone have is the query's place, or heads that share keys;
      what values alone have is their size; the others are heads where their size is static, else batch. Merged axes
      (`n floordiv 8`, `n mod 8`) are split.
    - Of y, what selects or adds a very negative number (below -5000) is the mask, and says the `fill`; the rest is scale and
      score region. Comparisons of the places of query and key become `mask_causal` and `mask_window`, of a key's place and a
      number `mask_length`, of two ids `mask_segment`; constant triangles and bands likewise. An offset of the
      diagonal that depends on sizes becomes query positions. Other predicates become `mask_dense`.
    - In the score region, a table's element at the bucket of the distance from query to key becomes `relative_bias`
      (T5), however the bucket is computed: all distances up to its last one are evaluated and compared with the formula.
    - An integer tensor m in `(1 - m) * -10000` is taken as zeros and ones.
    - Probabilities that others read become the result `weights`.

    Stays as it is: a softmax over another axis than the one that is summed, a product whose scores come from no product,
    head sizes that are not static.

    ```mlir
    %s = linalg.contract ... ins(%q, %k) ...                    : tensor<?x4x?x?xf32>     // b h i j
    %p = linalg.softmax dimension(3) ins(%s) ...
    %o = linalg.contract ... ins(%p, %v) ...                    : tensor<?x4x?x8xf32>
    // becomes
    %a = fovea.attention %q1, %k1, %v1 : tensor<?x?x4x8xf32>, tensor<?x?x4x8xf32>, tensor<?x?x4x8xf32> -> tensor<?x?x4x8xf32>
    %o = linalg.transpose ins(%a) ... permutation = [0, 2, 1, 3]
    ```
  }];
  let statistics = [Statistic<"numAttentions", "num-attentions", "attentions raised">];
}

def GatherWindowsPass : RaisePass<"fovea-gather-windows", "::mlir::ModuleOp"> {
  let summary = "Make the windows that convolutions read a tensor (im2col)";
  let description = [{
    A convolution, `linalg.generic` that sums products of a weight and of an input at `place * stride + element * dilation`
    along some of its axes, becomes a contraction without such indices, of which `fovea-raise-linear` makes a linear
    (im2col: Chellapilla, Puri, Simard 2006). Windows that lie beside each other without gaps - patch embeddings, kernels
    of one - are a view of the input. Others are copied: at most four times the input's elements, or
    2^24 elements of each text or image of a batch.

    Refused: groups, whose weights differ from each other, and operands of which none is a weight.

    ```mlir
    // before: a patch embedding, (b, f, i, j, c, p, q) -> (b, c, i * 16 + p, j * 16 + q)
    %y = linalg.generic ... ins(%x, %w : tensor<?x3x224x224xf32>, tensor<768x3x16x16xf32>) outs(%zero : tensor<?x768x14x14xf32>)
    // after: (b, f, i, j, c, p, q) -> (b, c, i, p, j, q)
    %v = tensor.expand_shape %x [[0], [1], [2, 3], [4, 5]] : tensor<?x3x224x224xf32> into tensor<?x3x14x16x14x16xf32>
    %y = linalg.generic ... ins(%v, %w : tensor<?x3x14x16x14x16xf32>, tensor<768x3x16x16xf32>) outs(%zero : tensor<?x768x14x14xf32>)
    ```
  }];
  let statistics = [Statistic<"numConvolutions", "num-convolutions", "convolutions that became contractions">];
}

def RaiseLinearPass : RaisePass<"fovea-raise-linear", "::mlir::ModuleOp"> {
  let summary = "Raise products with weights to fovea.linear";
  let description = [{
    A contraction (`linalg.contract`, `linalg.matmul` and its like, a `linalg.generic` that sums products) with a weight on
    either side, whatever its indices, is `fovea.linear` with the weight as `[N, K]`: axes that only the weight and the
    result have are N, axes that are summed are K. What the graph did to the weight before (transpose, reshape, slice,
    concatenate, cast) becomes part of its recipe. A sum with a weight over exactly the axes N that follows becomes the
    bias. A sum of halves in f32 that is only rounded to their type is that linear's; a bias behind it is added before
    it is rounded, which is one rounding less. Views that collapse the other axes around a linear move behind it, where
    they meet their opposites.

    A matrix `[N, K]` of fixed sizes that is an entry's argument, as that of a caller who keeps the weights, is such a
    weight too, through transposes; so is a vector as the bias behind it. It is read where it is. One that is `[K, N]` stays
    a contraction, or all of it would be turned with each call.

    Refused: a contraction in which the weight shares an axis with both the other operand and the result (a weight for
    each batch), one that sums an axis that not both have, integers, and a result of another element type than the other
    operand's. Such a product stays what it is.

    ```mlir
    %w = fovea.weight_ref @w : tensor<192x320xf32>
    %0 = linalg.fill ins(%zero : f32) outs(%init : tensor<?x?x320xf32>) -> tensor<?x?x320xf32>
    %y = linalg.contract indexing_maps = [affine_map<(b, s, n, k) -> (b, s, k)>, affine_map<(b, s, n, k) -> (k, n)>,
                                          affine_map<(b, s, n, k) -> (b, s, n)>]
         ins(%x, %w : tensor<?x?x192xf32>, tensor<192x320xf32>) outs(%0 : tensor<?x?x320xf32>) -> tensor<?x?x320xf32>
    // becomes, with fovea.weight @w_0 : tensor<320x192xf32> = #fovea.transpose<...>
    %w = fovea.weight_ref @w_0 : tensor<320x192xf32>
    %y = fovea.linear %x, %w : tensor<?x?x192xf32>, tensor<320x192xf32> -> tensor<?x?x320xf32>
    ```
  }];
  let statistics = [
    Statistic<"numLinears", "num-linears", "products that became linears">,
    Statistic<"numBiases", "num-biases", "sums that became a linear's bias">];
}

def RaiseEmbeddingPass : RaisePass<"fovea-raise-embedding"> {
  let summary = "Raise gathers of table rows to fovea.embedding and fovea.position_learned";
  let description = [{
    A `linalg.generic` whose element is `table[id, column]`, with an id that does not depend on the column, is
    `fovea.embedding`. If ids are consecutive along the last of their axes and the same along all others - computed from
    the index, or read from a constant that holds 0, 1, 2, ... - the rows are `fovea.position_learned` of
    `fovea.positions`, broadcast over the batch; so also for a `fovea.embedding` of such ids. A sum with rows `[1,S,D]`
    becomes one with their broadcast.

    Refused: tables of another rank or of dynamic shape.

    ```mlir
    %ids = arith.constant dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>
    %y = fovea.embedding %ids, %table : tensor<1x4xi64>, tensor<16x8xf32> -> tensor<1x4x8xf32>
    // becomes
    %p = fovea.positions from %c0 : tensor<1x4xi32>
    %y = fovea.position_learned %p, %table : tensor<1x4xi32>, tensor<16x8xf32> -> tensor<1x4x8xf32>
    ```
  }];
  let statistics = [
    Statistic<"numEmbeddings", "num-embeddings", "embeddings found">,
    Statistic<"numPositions", "num-positions", "tables found that are read by position">];
}

def RaiseRopePass : RaisePass<"fovea-raise-rope"> {
  let summary = "Raise rotations by position to fovea.rope";
  let description = [{
    Rotary embeddings are found by what they do to a pair of elements, as halves or interleaved: evaluated at a position,
    the pair (1, 0) and the pair (0, 1) must give a rotation, of no other size than one. The angles at position 1 are the
    frequencies; theta, and a factor by which all are divided (a linear scaling), are read off them. Then every pair is
    compared with the formula at drawn positions, each choice and rounding of the angle accounted for
    (`passes/Elements/Equivalence.h`), and constant tables row by row. So it is the same whether halves are sliced, negated and
    concatenated, pairs sliced with strides, stacked or multiplied as complex numbers, whether cosines and sines are
    computed from positions or read from constant tables, and whether elements past some number stay as they are.

    Refused: other frequencies (they stay elementwise code), scaled rotations, tables that are weights, positions that are
    neither consecutive nor given as a tensor.

    ```mlir
    // x [B,S,H,D] with angles [S,D] = position * 10000^(-2i/D), twice side by side
    %y = linalg.generic ... { x * cos(angle) + concat(-x[D/2:], x[:D/2]) * sin(angle) }
    // becomes
    %p = fovea.positions from %c0 count %s : tensor<1x?xi32>
    %y = fovea.rope half %x at(%p : tensor<1x?xi32>) dim(64) theta(1.000000e+04) : tensor<?x?x8x64xf32>
    ```
  }];
  let statistics = [Statistic<"numRopes", "num-ropes", "rotary embeddings found">];
}

def RaiseNormsPass : RaisePass<"fovea-raise-norms", "::mlir::ModuleOp"> {
  let summary = "Raise reductions and elementwise code to norms";
  let description = [{
    `fovea.layer_norm`, `fovea.rms_norm` and `fovea.l2_norm` in any spelling, found by what is computed: the expression of
    an element is evaluated in f64 on rows of all magnitudes and compared with the formulas, with each constant in it (and
    0) as eps, on rows where each eps counts; choices, bounds and roundings are accounted for
    (`passes/Elements/Equivalence.h`), so that `clamp(rms_norm(x), max=2.5)` is no norm. Vectors along the last axis are tried as weight and bias, for an RMSNorm also as
    the weight's distance from one. They must agree as in `fovea-raise-activations`.

    So it is the same whether a mean is a sum divided or multiplied, a square a product or a power, a root is divided by or
    its reciprocal multiplied with, the variance is that of differences or mean of squares minus square of mean, and
    whether f16 is widened inside.

    Refused: norms over another axis than the last, of dynamic size, and variance with Bessel's correction.

    ```mlir
    %0 = arith.mulf %x, %x : tensor<4x8xf32>
    %1 = linalg.fill ins(%zero : f32) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
    %sum = linalg.reduce { arith.addf } ins(%0 : tensor<4x8xf32>) outs(%1 : tensor<4xf32>) dimensions = [1]
    %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
                         iterator_types = ["parallel", "parallel"]}
         ins(%x, %sum : tensor<4x8xf32>, tensor<4xf32>) outs(%init : tensor<4x8xf32>) {
    ^bb0(%a: f32, %s: f32, %out: f32):
      %2 = arith.divf %s, %eight : f32
      %3 = arith.addf %2, %eps : f32
      %4 = math.rsqrt %3 : f32
      %5 = arith.mulf %a, %4 : f32
      linalg.yield %5 : f32
    } -> tensor<4x8xf32>
    // becomes
    %y = fovea.rms_norm %x eps(1.0e-5) : tensor<4x8xf32>
    ```
  }];
  let statistics = [
    Statistic<"numLayerNorms", "num-layer-norms", "layer norms found">,
    Statistic<"numRmsNorms", "num-rms-norms", "RMS norms found">,
    Statistic<"numL2Norms", "num-l2-norms", "L2 norms found">];
}

def RaiseActivationsPass : RaisePass<"fovea-raise-activations"> {
  let summary = "Raise elementwise code to fovea.activation and fovea.glu";
  let description = [{
    Whether code is an activation is decided by what it computes. For each elementwise op, the expression of its element
    is seen as a function of one tensor's element, evaluated in f64 closely where formulas bend, at all magnitudes that
    floats have and on both sides of each constant in it, and compared with the formulas of `fovea.activation`; choices and
    bounds are accounted for (`passes/Elements/Equivalence.h`). They must agree to 1e-6; where the expression has f16 or
    bf16, whose constants are rounded more, to 2e-3 or 1e-2, and the nearest formula is taken. So every spelling
    is one: `x * 0.5 * (1 + erf(x / sqrt 2))` in each association, x cubed by `math.powf` or by products, widened inside
    half precision.

    Then `activation(gate) * up` becomes `fovea.glu` where both are projections of one input: results of linears that read
    it, or slices of one linear's.

    Refused: functions of two tensors, and code between different element types.

    ```mlir
    %half = arith.constant dense<0.5> : tensor<4x8xf32>
    %0 = math.absf %x : tensor<4x8xf32>
    %1 = arith.addf %0, %x : tensor<4x8xf32>
    %y = arith.mulf %1, %half : tensor<4x8xf32>
    // becomes
    %y = fovea.activation relu %x : tensor<4x8xf32>
    ```
  }];
  let statistics = [
    Statistic<"numActivations", "num-activations", "activations found">,
    Statistic<"numGates", "num-gates", "activations joined with the product behind them">];
}

#endif // FOVEA_PASSES_RAISE_PASSES_TD
