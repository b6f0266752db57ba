// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FOVEA_LAYER_OPS_TD
#define FOVEA_LAYER_OPS_TD

include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "dialects/Fovea/FoveaAttrs.td"
include "dialects/Fovea/FoveaTypes.td"
include "dialects/Fovea/OperandInterfaces.td"
include "dialects/Fovea/SizeInterface.td"
include "dialects/Fovea/TileableInterface.td"
include "dialects/Fovea/WeightsInterface.td"

/// An op whose result has the axes of the operand that `axes` gets.
class LayerOp<string mnemonic, string axes, list<Trait> traits = []>
    : FoveaOp<mnemonic, !listconcat([Pure, DeclareOpInterfaceMethods<AxesOpInterface, ["isOfAllResults"]>,
                                     DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>], traits)> {
  let extraClassDefinition = AxesOf<axes>.definition;
}

def LinearOp : LayerOp<"linear", "getInput", [AttrSizedOperandSegments, DeclareOpInterfaceMethods<TileableOpInterface>, DeclareOpInterfaceMethods<WeightsOpInterface>]> {
  let summary = "Product with a weight matrix, and a bias";
  let description = [{
    `result[..., n] = sum_k x[..., k] * w[n, k] + bias[n]`. The weight lies as checkpoints store it, `[N, K]`. Sums in f32, in
    f64 if x is f64; a narrower weight is widened first.

    A weight of i8 or i4 is quantised: its elements are numbers of two's complement, and each stands for
    `w[n, k] * scale`, with the scale of its output (`scales[n]`: Dettmers et al. 2022, LLM.int8(), section 2, for
    weights) or of its group of `K / G` neighbours in k (`scales[n, k / (K / G)]`: as Q4_0 of GGUF and GPTQ, Frantar et
    al. 2023, group them). Two neighbours in k of i4 share a byte in memory, the even one in its low four bits.

    A weight of `!fovea.blocks` is quantised, too, and has its scales in its blocks.

    With `quantize_rows` each row of x is rounded to integers on the way, too (dynamic quantisation by token: Dettmers et
    al. 2022, section 2, vector-wise; Yao et al. 2022, ZeroQuant, section 4.2): with `s = max_k |x[..., k]| / 127` it is
    `s * round(x / s)`, halves to even. So products are those of integers of eight bits, which are exact, and each input
    is off by at most s / 2. A row whose greatest magnitude is below 2^-100 is zero, and one with an element that is
    not finite gives NaN. Without it activations are as they are.

    * (C1) the weight's shape is static, and the last axis of x is the weight's.
    * (C2) the result has x's element type, or f32 where x is f16 or bf16, and its shape but for the last axis, which
      is N.
    * (C3) the bias has N elements.
    * (C4) a weight of integers has scales, and one of floats has none.
    * (C5) scales are f32 and `[N]`, or f16 or f32 and `[N, G]`, and G divides K.
    * (C6) of i4 there is an even number in each row and in each group, of blocks a whole number in each row.
    With `experts` the weight holds a matrix for each of E experts, one below the other, and each row of x is multiplied
    by that of its own: those from `experts[e]` to `experts[e + 1] - 1` by e's, where rows are counted through all axes of
    x but the last (grouped products: Gale et al. 2022, MegaBlocks). N is then what one expert gives, and bias and scales
    have E times as many. Numbers that do not begin with 0, descend, or do not end with the number of rows are a fault of the call.

    * (C7) rows that are quantised are of f32 and have at most 65536 elements, and the weight is of integers or blocks.
    * (C8) `experts` are `[E + 1]`, static, E is positive and divides the weight's rows, and x has two axes or more.

    ```mlir
    %y = fovea.linear %x, %w bias(%b : tensor<320xf32>) : tensor<?x?x192xf32>, tensor<320x192xbf16> -> tensor<?x?x320xf32>
    %z = fovea.linear %x, %q scales(%s : tensor<320x6xf16>) : tensor<?x?x192xf32>, tensor<320x192xi4> -> tensor<?x?x320xf32>
    %v = fovea.linear %x, %i quantize_rows scales(%t : tensor<320xf32>) : tensor<?x?x192xf32>, tensor<320x192xi8> -> tensor<?x?x320xf32>
    %u = fovea.linear %x, %m experts(%offsets : tensor<9xi64>) : tensor<?x?x192xf32>, tensor<2560x192xbf16> -> tensor<?x?x320xf32>
    ```
  }];
  let arguments = (ins Fovea_AnyFloatTensor:$input, Fovea_LinearWeight:$weight, Optional<Fovea_FloatTensor1>:$bias,
                       Optional<Fovea_LinearScales>:$scales, Optional<RankedTensorOf<[I64]>>:$experts,
                       UnitAttr:$quantize_rows);
  let results = (outs Fovea_AnyFloatTensor:$result);
  let assemblyFormat = [{
    $input `,` $weight (`quantize_rows` $quantize_rows^)? (`scales` `(` $scales^ `:` type($scales) `)`)? (`bias` `(` $bias^ `:` type($bias) `)`)?
    (`experts` `(` $experts^ `:` type($experts) `)`)? attr-dict `:` type($input) `,` type($weight) `->` type($result)
  }];
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$input, "::mlir::Value":$weight,
                                 "::mlir::Value":$bias), [{
    build($_builder, $_state, result, input, weight, bias, /*scales=*/::mlir::Value(), /*experts=*/::mlir::Value());
  }]>];
  let extraClassDeclaration = [{
    /// Of rows that are quantised, so that sums of products fit 32 bits.
    static constexpr int64_t kMostQuantizedInputs = 1 << 16;
    /// A row of a smaller greatest magnitude is zero where rows are quantised.
    static constexpr double kLeastMagnitude = 0x1p-100;
    /// Matrices that the weight holds: 1 without experts.
    int64_t getNumExperts() { return getExperts() ? getExperts().getType().getDimSize(0) - 1 : 1; }
    /// Elements of a row of the result.
    int64_t getOutputs() { return getWeight().getType().getDimSize(0) / getNumExperts(); }
    /// Whether the weight is of integers with scales, beside it or in its blocks.
    bool isQuantized();
    /// Neighbours in k that share a scale: all of a row where it has one.
    int64_t getScaledInputs();
    /// Whether there is more than one scale in a row.
    bool hasGroups();
    /// Whether experts are chosen by the result: rounding is a small error of what is summed, but the
    /// choice of another expert none.
    bool isRouter();
    /// The norm without weight that the input is, where its factor can be applied to the result's rows
    /// instead, or null.
    RmsNormOp getRowFactor();
  }];
  let hasVerifier = 1;
}

def EmbeddingOp : LayerOp<"embedding", "getIds", [DeclareOpInterfaceMethods<IntegersOpInterface>, DeclareOpInterfaceMethods<TileableOpInterface>, DeclareOpInterfaceMethods<WeightsOpInterface>]> {
  let summary = "Rows of a table";
  let description = [{
    `result[..., :] = table[ids[...], :]`, widened to the result's element type. An id outside the table is a fault of the call.
    A table of i8 is quantised as a linear's weight: each element stands for `table[n, k] * scales[n]`.

    * (C1) the table's shape is static and it has rows, and the result has the shape of `ids` and the table's width behind it.
    * (C2) the result's element type holds every value of the table's, of i8 and blocks it is f32.
    * (C3) a table of i8 has a scale for each row, and one of floats or blocks has none; of blocks rows hold whole ones.

    ```mlir
    %x = fovea.embedding %ids, %table : tensor<?x?xi64>, tensor<2048x192xbf16> -> tensor<?x?x192xf32>
    %y = fovea.embedding %ids, %q scales(%s : tensor<2048xf32>) : tensor<?x?xi64>, tensor<2048x192xi8> -> tensor<?x?x192xf32>
    ```
  }];
  let arguments = (ins Fovea_IdTensor:$ids, Fovea_Table:$table, Optional<RankedTensorOf<[F32]>>:$scales);
  let results = (outs Fovea_AnyFloatTensor:$result);
  let assemblyFormat = [{
    $ids `,` $table (`scales` `(` $scales^ `:` type($scales) `)`)? attr-dict `:` type($ids) `,` type($table) `->` type($result)
  }];
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$ids, "::mlir::Value":$table), [{
    build($_builder, $_state, result, ids, table, /*scales=*/::mlir::Value());
  }]>];
  let hasVerifier = 1;
}

def LayerNormOp : LayerOp<"layer_norm", "getInput", [AttrSizedOperandSegments, AllTypesMatch<["input", "result"]>, DeclareOpInterfaceMethods<TileableOpInterface>, DeclareOpInterfaceMethods<WeightsOpInterface>]> {
  let summary = "Normalisation to mean zero and variance one";
  let description = [{
    Ba et al. 2016, over the last axis: `(x - mean) / sqrt(variance + eps) * weight + bias`, the variance without Bessel's
    correction, all in f32 (f64 for f64).

    * (C1) the last axis is static; weight and bias have as many elements.
    * (C2) `eps` is not negative and finite.
    * (C3) the result has the input's type.

    ```mlir
    %y = fovea.layer_norm %x weight(%w : tensor<384xf32>) bias(%b : tensor<384xf32>) eps(1.0e-12) : tensor<?x?x384xf32>
    ```
  }];
  let arguments = (ins Fovea_AnyFloatTensor:$input, Optional<Fovea_FloatTensor1>:$weight,
                       Optional<Fovea_FloatTensor1>:$bias, F64Attr:$eps);
  let results = (outs Fovea_AnyFloatTensor:$result);
  let assemblyFormat = [{
    $input (`weight` `(` $weight^ `:` type($weight) `)`)? (`bias` `(` $bias^ `:` type($bias) `)`)? `eps` `(` $eps `)`
    attr-dict `:` type($input)
  }];
  let hasVerifier = 1;
}

def RmsNormOp : LayerOp<"rms_norm", "getInput", [AllTypesMatch<["input", "result"]>, DeclareOpInterfaceMethods<TileableOpInterface>, DeclareOpInterfaceMethods<WeightsOpInterface>]> {
  let summary = "Normalisation to root mean square one";
  let description = [{
    Zhang and Sennrich 2019, over the last axis: `x / sqrt(mean(x^2) + eps) * (weight + weight_offset)`, in f32 (f64 for f64).
    The offset is 1 in models that store the weight's distance from one.

    * (C1) the last axis is static; the weight has as many elements.
    * (C2) `eps` is not negative and finite.
    * (C3) the result has the input's type.

    ```mlir
    %y = fovea.rms_norm %x weight(%w : tensor<192xbf16>) eps(1.0e-5) : tensor<?x?x192xf32>
    ```
  }];
  let arguments = (ins Fovea_AnyFloatTensor:$input, Optional<Fovea_FloatTensor1>:$weight, F64Attr:$eps,
                       DefaultValuedAttr<F64Attr, "0.0">:$weight_offset);
  let results = (outs Fovea_AnyFloatTensor:$result);
  let assemblyFormat = [{
    $input (`weight` `(` $weight^ `:` type($weight) `)`)? (`offset` `(` $weight_offset^ `)`)? `eps` `(` $eps `)`
    attr-dict `:` type($input)
  }];
  let hasVerifier = 1;
}

def GatedNormOp : LayerOp<"gated_norm", "getInput",
    [AllTypesMatch<["input", "gate", "result"]>, DeclareOpInterfaceMethods<TileableOpInterface>,
     DeclareOpInterfaceMethods<WeightsOpInterface>, DeclareOpInterfaceMethods<SizeOpInterface>]> {
  let summary = "Normalisation to root mean square one, times a gate";
  let description = [{
    Over the last axis: `x / sqrt(mean(x^2) + eps) * weight * silu(gate)`, in f32 (f64 for f64): what stands before the last
    projection of Gated DeltaNet (Yang et al. 2024, section 3.4) and of Qwen3-Next's linear attention.

    * (C1) the last axis is static; the weight has as many elements.
    * (C2) `eps` is not negative and finite.
    * (C3) gate and result have the input's type.

    ```mlir
    %y = fovea.gated_norm %x gate(%z) weight(%w : tensor<128xf32>) eps(1.0e-6) : tensor<?x?x128xf32>
    ```
  }];
  let arguments = (ins Fovea_AnyFloatTensor:$input, Fovea_AnyFloatTensor:$gate, Fovea_FloatTensor1:$weight,
                       F64Attr:$eps);
  let results = (outs Fovea_AnyFloatTensor:$result);
  let assemblyFormat = [{
    $input `gate` `(` $gate `)` `weight` `(` $weight `:` type($weight) `)` `eps` `(` $eps `)` attr-dict `:` type($input)
  }];
  let hasVerifier = 1;
}

def L2NormOp : LayerOp<"l2_norm", "getInput", [AllTypesMatch<["input", "result"]>, DeclareOpInterfaceMethods<TileableOpInterface>]> {
  let summary = "Scaling to length one";
  let description = [{
    Over the last axis: `x / max(sqrt(sum x^2), eps)`.

    * (C1) the last axis is static.
    * (C2) `eps` is not negative and finite.
    * (C3) the result has the input's type.

    ```mlir
    %y = fovea.l2_norm %x eps(1.0e-12) : tensor<?x384xf32>
    ```
  }];
  let arguments = (ins Fovea_AnyFloatTensor:$input, F64Attr:$eps);
  let results = (outs Fovea_AnyFloatTensor:$result);
  let assemblyFormat = "$input `eps` `(` $eps `)` attr-dict `:` type($input)";
  let hasVerifier = 1;
}

def ActivationOp : LayerOp<"activation", "getInput", [SameOperandsAndResultType, DeclareOpInterfaceMethods<TileableOpInterface>]> {
  let summary = "Elementwise non-linearity";
  let description = [{
    - `gelu`: `x/2 (1 + erf(x / sqrt 2))`; `gelu_tanh`: `x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))`;
      `gelu_quick`: `x sigmoid(1.702 x)` (Hendrycks and Gimpel 2016).
    - `relu`: `max(x, 0)`; `relu_squared` its square; `silu`: `x sigmoid(x)`; `tanh`; `sigmoid`.

    ```mlir
    %y = fovea.activation gelu %x : tensor<?x?x1536xf32>
    ```
  }];
  let arguments = (ins Fovea_ActivationKind:$kind, Fovea_AnyFloatTensor:$input);
  let results = (outs Fovea_AnyFloatTensor:$result);
  let assemblyFormat = "$kind $input attr-dict `:` type($input)";
}

def GluOp : LayerOp<"glu", "getGate", [SameOperandsAndResultType, DeclareOpInterfaceMethods<TileableOpInterface>]> {
  let summary = "Gated linear unit";
  let description = [{
    `activation(gate) * up` (Shazeer 2020), with the activations of `fovea.activation`.

    ```mlir
    %y = fovea.glu silu %gate, %up : tensor<?x?x512xf32>
    ```
  }];
  let arguments = (ins Fovea_ActivationKind:$kind, Fovea_AnyFloatTensor:$gate, Fovea_AnyFloatTensor:$up);
  let results = (outs Fovea_AnyFloatTensor:$result);
  let assemblyFormat = "$kind $gate `,` $up attr-dict `:` type($gate)";
}

def PoolOp : LayerOp<"pool", "getInput", [DeclareOpInterfaceMethods<TileableOpInterface>, DeclareOpInterfaceMethods<SizeOpInterface>]> {
  let summary = "One vector for a sequence";
  let description = [{
    `x [B,S,D] -> [B,D]` over the places where `keep [B,S]` is not zero (absent: everywhere): their `mean`
    (divided by at least 1e-9), `max`, `first` or `last`. A row that keeps nothing gives zeros, and for `max` minus infinity.

    * (C1) the result is `[B,D]` of x's element type, with static D.
    * (C2) `keep` is `[B,S]`.

    ```mlir
    %e = fovea.pool mean %x keep(%m : tensor<?x?xi64>) : tensor<?x?x384xf32> -> tensor<?x384xf32>
    ```
  }];
  let arguments = (ins Fovea_PoolKind:$kind, TensorRankOf<[F16, BF16, F32, F64], [3]>:$input,
                       Optional<TensorRankOf<[I1, I32, I64], [2]>>:$keep);
  let results = (outs Fovea_FloatTensor2:$result);
  let assemblyFormat = "$kind $input (`keep` `(` $keep^ `:` type($keep) `)`)? attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def ArgmaxOp : LayerOp<"argmax", "getInput"> {
  let summary = "Where a row's greatest element stands";
  let description = [{
    `result[...] = the i with x[..., i] >= x[..., j] for all j`, the least of several: greedy sampling's choice. A row that
    holds NaN has no such i and gives -1, so that who takes the choice knows without reading the row.

    * (C1) the last axis is static and not empty.
    * (C2) the result has x's shape without the last axis.

    ```mlir
    %token = fovea.argmax %logits : tensor<?x2048xf32> -> tensor<?xi64>
    ```
  }];
  let arguments = (ins Fovea_AnyFloatTensor:$input);
  let results = (outs RankedTensorOf<[I64]>:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def DropoutOp : LayerOp<"dropout", "getInput", [SameOperandsAndResultType, DeclareOpInterfaceMethods<TileableOpInterface>]> {
  let summary = "Zeroing at random while training";
  let description = [{
    Srivastava et al. 2014. Inference folds it away; training is not built yet.

    * (C1) `rate` is at least 0 and below 1.

    ```mlir
    %y = fovea.dropout %x rate(0.1) : tensor<?x?x384xf32>
    ```
  }];
  let arguments = (ins Fovea_AnyFloatTensor:$input, F64Attr:$rate);
  let results = (outs Fovea_AnyFloatTensor:$result);
  let assemblyFormat = "$input `rate` `(` $rate `)` attr-dict `:` type($input)";
  let hasVerifier = 1;
}

#endif // FOVEA_LAYER_OPS_TD
