// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FOVEA_ATTRS_TD
#define FOVEA_ATTRS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/TensorEncoding.td"
include "dialects/Fovea/FoveaDialect.td"
include "dialects/Fovea/RecipeInterface.td"

class FoveaAttr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<FoveaDialect, name, traits> {
  let mnemonic = attrMnemonic;
}

class FoveaEnum<string name, string text, list<I32EnumAttrCase> cases> : I32EnumAttr<name, text, cases> {
  let cppNamespace = "::mlir::fovea";
  let genSpecializedAttr = 1;
}

//===-- Enumerations ----------------------------------------------------------------------------------------===//

def Fovea_Fill : FoveaEnum<"Fill", "What a query without an allowed key gives", [
    I32EnumAttrCase<"Zero", 0, "zero">, I32EnumAttrCase<"Mean", 1, "mean">,
    I32EnumAttrCase<"Raw", 2, "raw">, I32EnumAttrCase<"Nan", 3, "nan">]>;

def Fovea_ActivationKind : FoveaEnum<"ActivationKind", "Elementwise non-linearity", [
    I32EnumAttrCase<"Gelu", 0, "gelu">, I32EnumAttrCase<"GeluTanh", 1, "gelu_tanh">,
    I32EnumAttrCase<"GeluQuick", 2, "gelu_quick">, I32EnumAttrCase<"Relu", 3, "relu">,
    I32EnumAttrCase<"Silu", 4, "silu">, I32EnumAttrCase<"Tanh", 5, "tanh">,
    I32EnumAttrCase<"Sigmoid", 6, "sigmoid">, I32EnumAttrCase<"ReluSquared", 7, "relu_squared">]>;

def Fovea_PoolKind : FoveaEnum<"PoolKind", "How a sequence becomes one vector", [
    I32EnumAttrCase<"Mean", 0, "mean">, I32EnumAttrCase<"Max", 1, "max">,
    I32EnumAttrCase<"First", 2, "first">, I32EnumAttrCase<"Last", 3, "last">]>;

def Fovea_RopePairing : FoveaEnum<"RopePairing", "Which elements rotate together", [
    I32EnumAttrCase<"Half", 0, "half">, I32EnumAttrCase<"Interleaved", 1, "interleaved">]>;

def Fovea_SinusoidLayout : FoveaEnum<"SinusoidLayout", "Where sines and cosines stand", [
    I32EnumAttrCase<"Interleaved", 0, "interleaved">, I32EnumAttrCase<"Halves", 1, "halves">]>;

def Fovea_RopeScalingKind : FoveaEnum<"RopeScalingKind", "How rotary frequencies are stretched", [
    I32EnumAttrCase<"Default", 0, "default">, I32EnumAttrCase<"Linear", 1, "linear">,
    I32EnumAttrCase<"Dynamic", 2, "dynamic">, I32EnumAttrCase<"Yarn", 3, "yarn">,
    I32EnumAttrCase<"LongRope", 4, "longrope">, I32EnumAttrCase<"Llama3", 5, "llama3">]>;

//===-- Rotary scaling --------------------------------------------------------------------------------------===//

def Fovea_RopeScalingAttr : FoveaAttr<"RopeScaling", "rope_scaling"> {
  let summary = "How rotary frequencies are stretched for longer contexts";
  let description = [{
    With `f_i = theta^(-2i/dim)` the frequency of pair `i` and `L` the `original` context:

    - `linear`: `f_i / factor` (Chen et al. 2023, position interpolation).
    - `dynamic`: theta becomes `theta * (factor * n / L - (factor - 1))^(dim / (dim - 2))` where `n` is the
      longest position of the call plus one and at least L.
    - `yarn`: Peng et al. 2023, section 3: per-pair blend of `f_i` and `f_i / factor` between `low` (beta_slow)
      and `high` (beta_fast) rotations over L; sines and cosines times `attentionFactor`;
      `truncate` rounds the blend's ends to whole pairs.
    - `longrope`: `f_i / shortFactors[i]` while `n <= L`, else `f_i / longFactors[i]` (Ding et al. 2024); sines and
      cosines times `attentionFactor`.
    - `llama3`: `f_i` for wavelengths below `L / high`, `f_i / factor` above `L / low`, a blend between.

    * (C1) every kind but `default` and `longrope` has a positive finite `factor`.
    * (C2) `dynamic`, `yarn`, `longrope` and `llama3` have a positive `original`.
    * (C3) `yarn` and `llama3` have positive finite `low` and `high`; `low` is not above `high`, and for `llama3` below it.
    * (C4) `longrope` has `shortFactors` and `longFactors` of equal number, all positive and finite.
    * (C5) `attentionFactor`, where given, is positive and finite.
  }];
  let parameters = (ins
    "RopeScalingKind":$kind,
    OptionalParameter<"::mlir::FloatAttr">:$factor,
    DefaultValuedParameter<"int64_t", "0">:$original,
    OptionalParameter<"::mlir::FloatAttr">:$low,
    OptionalParameter<"::mlir::FloatAttr">:$high,
    OptionalParameter<"::mlir::FloatAttr">:$attentionFactor,
    DefaultValuedParameter<"bool", "true">:$truncate,
    OptionalParameter<"::mlir::DenseF64ArrayAttr">:$shortFactors,
    OptionalParameter<"::mlir::DenseF64ArrayAttr">:$longFactors);
  let assemblyFormat = [{
    `<` $kind (`,` struct($factor, $original, $low, $high, $attentionFactor, $truncate, $shortFactors,
                          $longFactors)^)? `>`
  }];
  let genVerifyDecl = 1;
}

//===-- Weight recipes --------------------------------------------------------------------------------------===//

class RecipeAttr<string name, string attrMnemonic>
    : FoveaAttr<name, attrMnemonic, [DeclareAttrInterfaceMethods<RecipeAttrInterface>]>;

def Fovea_StoredAttr : RecipeAttr<"Stored", "stored"> {
  let summary = "A tensor as it lies in a file";
  let description = [{
    `#fovea.stored<"model.safetensors", "lm_head.weight", tensor<2048x192xbf16>>`. The file is named below the
    model's folder.

    * (C1) the shape is static and its bytes can be counted in 63 bits.
    * (C2) the elements are integers, floating-point numbers or blocks; rows of a matrix of i4, which lie two to the
      byte, hold an even number, and those of blocks whole ones.
    * (C3) the type has no encoding: files are row-major.
  }];
  let parameters = (ins StringRefParameter<>:$file, StringRefParameter<>:$tensor, "::mlir::RankedTensorType":$type);
  let assemblyFormat = "`<` $file `,` $tensor `,` $type `>`";
}

def Fovea_ConcatAttr : RecipeAttr<"Concat", "concat"> {
  let summary = "Recipes one after the other along an axis";
  let description = [{
    * (C1) there is at least one part, and `axis` is one of its axes.
    * (C2) the parts agree in element type and in every other axis.
    * (C3) the bytes of the result can be counted in 63 bits.
  }];
  let parameters = (ins "int64_t":$axis, ArrayRefParameter<"::mlir::Attribute">:$parts);
  let assemblyFormat = "`<` $axis `,` $parts `>`";
}

def Fovea_TransposeAttr : RecipeAttr<"Transpose", "transpose"> {
  let summary = "A matrix with its two axes exchanged";
  let description = [{
    * (C1) `input` has rank 2.
  }];
  let parameters = (ins "::mlir::Attribute":$input);
  let assemblyFormat = "`<` $input `>`";
}

def Fovea_PermuteAttr : RecipeAttr<"Permute", "permute"> {
  let summary = "A tensor with its axes in another order";
  let description = [{
    Axis i of the result is axis `axes[i]` of the input: `#fovea.permute<RECIPE, [0, 2, 1]>` exchanges the inner two
    axes. One that keeps the outermost axis streams; any other holds its whole input while it is evaluated, so a
    matrix is better transposed.

    * (C1) `axes` are all axes of `input`, each once.
    * (C2) of blocks the last axis stays the last.
  }];
  let parameters = (ins "::mlir::Attribute":$input, ArrayRefParameter<"int64_t">:$axes);
  let assemblyFormat = "`<` $input `,` `[` $axes `]` `>`";
}

def Fovea_ReshapeAttr : RecipeAttr<"Reshape", "reshape"> {
  let summary = "The same elements in another shape";
  let description = [{
    In row-major order: `#fovea.reshape<RECIPE, [8, 64, 512]>`.

    * (C1) no size is negative, and the shape has as many elements as `input`.
    * (C2) of blocks the last axis stays as it is.
  }];
  let parameters = (ins "::mlir::Attribute":$input, OptionalArrayRefParameter<"int64_t">:$shape);
  let assemblyFormat = "`<` $input `,` `[` (`]`) : ($shape^ `]`)? `>`";
}

def Fovea_SliceAttr : RecipeAttr<"Slice", "slice"> {
  let summary = "A range along one axis";
  let description = [{
    `#fovea.slice<RECIPE, 0 from 64 count 32>`: `count` consecutive places of the axis, from `first` on. Where a file
    holds stacked projections and the model takes them apart.

    * (C1) `axis` is one of `input`.
    * (C2) `first` is not negative, `count` positive, and the range ends within the axis.
    * (C3) of blocks `axis` is not the last.
  }];
  let parameters = (ins "::mlir::Attribute":$input, "int64_t":$axis, "int64_t":$first, "int64_t":$count);
  let assemblyFormat = "`<` $input `,` $axis `from` $first `count` $count `>`";
}

def Fovea_CastAttr : RecipeAttr<"Cast", "cast"> {
  let summary = "Another element type, rounding to nearest even";
  let description = [{
    * (C1) both element types are f16, bf16, f32 or f64; of blocks, whose numbers are f32, the input's is theirs.
    * (C2) the bytes of the result can be counted in 63 bits.
  }];
  let parameters = (ins "::mlir::Attribute":$input, "::mlir::Type":$elementType);
  let assemblyFormat = "`<` $input `,` $elementType `>`";
}

def Fovea_ScaleColumnsAttr : RecipeAttr<"ScaleColumns", "scale_columns"> {
  let summary = "A matrix whose columns are multiplied by a vector";
  let description = [{
    `result[n, k] = input[n, k] * (scale[k] + offset)` rounded to the input's element type: how a norm's weight
    is folded into the next projection.

    * (C1) `input` has rank 2 and `scale` rank 1, and their last axes agree.
    * (C2) their element types are f16, bf16, f32 or f64.
  }];
  let parameters = (ins "::mlir::Attribute":$input, "::mlir::Attribute":$scale, "::mlir::FloatAttr":$offset);
  let assemblyFormat = "`<` $input `,` $scale `,` $offset `>`";
}

def Fovea_Packing : FoveaEnum<"Packing", "How a checkpoint packs small integers", [
    I32EnumAttrCase<"Gptq", 0, "gptq">, I32EnumAttrCase<"GptqV2", 1, "gptq_v2">, I32EnumAttrCase<"Awq", 2, "awq">,
    I32EnumAttrCase<"Rows", 3, "rows">, I32EnumAttrCase<"Bytes", 4, "bytes">, I32EnumAttrCase<"Mxfp4", 5, "mxfp4">]>;

def Fovea_UnpackAttr : RecipeAttr<"Unpack", "unpack"> {
  let summary = "A matrix of blocks from the tensors that a checkpoint keeps its parts in";
  let description = [{
    `#fovea.unpack<gptq, CODES, SCALES, !fovea.blocks<int4_offset, 128>, zeros = ZEROS>`: N outputs by K inputs, of
    which `G` share a scale. Without loss: `(code - zero) * scale` is kept as `code * scale + offset`, in f32.

    | packing | codes | scales | zeros |
    |---|---|---|---|
    | `gptq` (Frantar et al. 2022) | i32 `[K / each, N]` | `[K / G, N]` | i32 `[K / G, N / each]`, each less by one |
    | `gptq_v2` | i32 `[K / each, N]` | `[K / G, N]` | i32 `[K / G, N / each]` |
    | `awq` (Lin et al. 2023) | i32 `[K, N / 8]` | `[K / G, N]` | i32 `[K / G, N / 8]` |
    | `rows` (compressed-tensors' pack-quantized) | i32 `[N, K / each]` | `[N, K / G]` | i32 `[ceil(N / each), K / G]` |
    | `bytes` (its int-quantized) | i8 `[N, K]` | `[N, K / G]` | i8 `[N, K / G]` |
    | `mxfp4` (GPT-OSS) | i8 `[..., K / 32, 16]` | i8 `[..., K / 32]` | none |

    An i32 has `each` = 32 / bits codes or zeros, the first in its lowest bits, along the axis that is shorter for it;
    those of `awq` in the order 0, 2, 4, 6, 1, 3, 5, 7. They are unsigned, and without zeros, or in `rows`, half the
    range stands for nothing. Of `bytes` codes and zeros have signs. The axes of `mxfp4` before the last are outputs.

    With `order`, i32 `[K]`, input k belongs to the group `order[k]`, and inputs stand sorted by it
    (`#fovea.group_order`).

    * (C1) `elementType` is blocks of the packing: `mxfp4`; of int8 for `bytes`; of int4, or, but for `awq`, int8 for
      the others; with offsets exactly if there are zeros.
    * (C2) `codes` and `zeros` are integers of the shapes above, and rows whole blocks.
    * (C3) `scales` are f16, bf16 or f32 of the shape above, of `mxfp4` i8.
    * (C4) `order` is i32 `[K]`; not for `awq` and `mxfp4`. A group that has not G inputs fails the evaluation.
  }];
  let parameters = (ins "Packing":$packing, "::mlir::Attribute":$codes, "::mlir::Attribute":$scales,
                        "::mlir::Type":$elementType, OptionalParameter<"::mlir::Attribute">:$zeros,
                        OptionalParameter<"::mlir::Attribute">:$order);
  let assemblyFormat = "`<` $packing `,` $codes `,` $scales `,` $elementType (`,` struct($zeros, $order)^)? `>`";
}

def Fovea_GroupOrderAttr : RecipeAttr<"GroupOrder", "group_order"> {
  let summary = "The places of inputs, sorted by their groups";
  let description = [{
    `#fovea.group_order<RECIPE>`: of the group of each input the places in which inputs stand one group after the
    other, in a group in their own order. What a linear's input is gathered by where the matrix was quantised in
    another order than that of its columns (GPTQ's act-order).

    * (C1) `input` is i32 of rank 1.
  }];
  let parameters = (ins "::mlir::Attribute":$input);
  let assemblyFormat = "`<` $input `>`";
}

def Fovea_ScaleBlocksAttr : RecipeAttr<"ScaleBlocks", "scale_blocks"> {
  let summary = "A matrix of narrow floats times a scale for each of its blocks";
  let description = [{
    `result[n, k] = input[n, k] * scales[n / rows, k / columns]`, rounded once to `elementType`:
    `#fovea.scale_blocks<RECIPE, SCALES, 128, 128, f32>`.

    * (C1) `input` is a matrix of f8E4M3FN.
    * (C2) `rows` and `columns` are positive, and `scales`, of f16, bf16 or f32, a matrix with one for each block, of
      which the last of an axis may be smaller.
    * (C3) `elementType` is f16, bf16, f32 or f64.
    * (C4) the bytes of the result can be counted in 63 bits.
  }];
  let parameters = (ins "::mlir::Attribute":$input, "::mlir::Attribute":$scales, "int64_t":$rows, "int64_t":$columns,
                        "::mlir::Type":$elementType);
  let assemblyFormat = "`<` $input `,` $scales `,` $rows `,` $columns `,` $elementType `>`";
}

/// What the recipes of a quantised weight and of its scales have in common: one rule gives both.
class QuantizationAttr<string name, string attrMnemonic> : RecipeAttr<name, attrMnemonic> {
  let parameters = (ins "::mlir::Attribute":$input, "::mlir::Type":$elementType, "::mlir::Type":$scaleType,
                        DefaultValuedParameter<"int64_t", "0">:$group);
  let assemblyFormat = "`<` $input `,` $elementType `,` $scaleType (`,` struct($group)^)? `>`";
}

def Fovea_QuantizeAttr : QuantizationAttr<"Quantize", "quantize"> {
  let summary = "A matrix rounded to small integers, each of a scale's size";
  let description = [{
    `#fovea.quantize<RECIPE, i8, f32>`: the numbers q of `w ~ q * scale`, one scale for each row, or, by
    `#fovea.quantize<RECIPE, i4, f16, group = 32>`, one for each `group` neighbours of a row. Symmetric: zero is zero.
    Whatever is rounded is rounded to nearest even, and by the scale as it is stored, in `scaleType`.

    - i8: `scale = max |w| / 127`, q in [-127, 127] (Dettmers et al. 2022).
    - i4: q in [-8, 7], and of a few scales the one of the least squared error: the extreme over -8, which spends the
      range's longer side on it (Q4_0 of GGUF), `max |w| / 7`, and steps between and below.

    Of nothing but zeros the scale is zero. A weight that is no number, or not finite, fails the evaluation.

    * (C1) `input` is a matrix of f16, bf16, f32 or f64.
    * (C2) `elementType` is i8 or i4; of i4 there is an even number in each row and in each group.
    * (C3) `scaleType` is f32, or f16 with groups.
    * (C4) `group`, where given, is positive and divides the matrix's second axis.
    * (C5) no step but `pack` stands around one that gives i4: its elements have no bytes of their own.
  }];
}

def Fovea_QuantizationScalesAttr : QuantizationAttr<"QuantizationScales", "quantization_scales"> {
  let summary = "The scales of a quantised matrix";
  let description = [{
    Those that `#fovea.quantize` with the same parameters has rounded by: of rank 1, `[N]`, or with a group of rank 2,
    `[N, K / group]`.

    * (C1) as of `#fovea.quantize`, (C1) to (C4).
  }];
}

def Fovea_PanelsAttr : FoveaAttr<"Panels", "panels",
    [DeclareAttrInterfaceMethods<VerifiableTensorEncoding, ["verifyEncoding"]>]> {
  let summary = "A matrix whose rows lie in panels of equal width";
  let description = [{
    An encoding of weights `[N, K]`, N outputs by K inputs: `tensor<1536x384xf32, #fovea.panels<16>>` has the shape
    `[1536, 384]` and lies in memory as `[ceil(N/width)][ceil(K/interleave)][width][interleave]`, without the last
    axis if `interleave` is 1. What is past N or K is zero. So the same input of `width` neighbouring outputs is one
    contiguous piece; `interleave` inputs of one output are side by side for instructions that multiply and add
    several narrow numbers at once, or that move 16 bytes.

    Elements of i4 lie two neighbours of a row to the byte, the even one in the low four bits, and panels hold these
    bytes: `interleave` counts them, and K in the sizes above is their number. `tensor<768x768xi4, #fovea.panels<16>>`
    lies as `48 x 384 x 16` bytes. Of `!fovea.blocks`, whose panels are sixteen wide, a panel has the codes of its rows
    so, and their scales behind them.

    * (C1) `width` is a positive multiple of 8, of at most 1024.
    * (C2) `interleave` is 1, 2, 4, 8 or 16.
    * (C3) the tensor has rank 2 and a static shape, and its elements are integers, floating-point numbers or, in
      panels of 16 that interleave 4, blocks.
    * (C4) the bytes in memory can be counted in 63 bits.
  }];
  let parameters = (ins "int64_t":$width, DefaultValuedParameter<"int64_t", "1">:$interleave);
  let assemblyFormat = "`<` $width (`,` struct($interleave)^)? `>`";
  let genVerifyDecl = 1;
}

/// Written in full, as where it stands in a type.
def Fovea_OptionalPanels : OptionalParameter<"::mlir::fovea::PanelsAttr"> {
  let printer = "$_printer << $_self";
}

def Fovea_PackAttr : RecipeAttr<"Pack", "pack"> {
  let summary = "The layout in which a weight is written to the artifact";
  let description = [{
    The outermost step of every recipe after the `scheduled` stage. `#fovea.pack<RECIPE>` leaves the elements as they
    are, row-major; `#fovea.pack<RECIPE, #fovea.panels<16>>` lays them out in panels and gives the input's type with
    that encoding.

    * (C1) an input of panels has rank 2, and its elements are what panels hold.
    * (C2) the bytes of the result can be counted in 63 bits.
    * (C3) no step stands around one that gives panels.
  }];
  let parameters = (ins "::mlir::Attribute":$input, Fovea_OptionalPanels:$panels);
  let assemblyFormat = "`<` $input (`,` $panels^)? `>`";
}

//===-- Entries ---------------------------------------------------------------------------------------------===//

def Fovea_PortRole : I32EnumAttr<"PortRole", "What an argument or result of an entry is to its caller", [
    I32EnumAttrCase<"None", 0, "none">, I32EnumAttrCase<"TokenIds", 1, "token_ids">,
    I32EnumAttrCase<"AttentionMask", 2, "attention_mask">, I32EnumAttrCase<"TokenTypes", 3, "token_types">,
    I32EnumAttrCase<"Positions", 4, "positions">, I32EnumAttrCase<"Logits", 5, "logits">,
    I32EnumAttrCase<"NextToken", 6, "next_token">, I32EnumAttrCase<"HiddenState", 7, "hidden_state">,
    I32EnumAttrCase<"Embedding", 8, "embedding">]> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::mlir::fovea";
}

def Fovea_PortRoleAttr : EnumAttr<FoveaDialect, Fovea_PortRole, "role"> {
  let assemblyFormat = "`<` $value `>`";
}

def Fovea_EntryKind : I32EnumAttr<"EntryKind", "What an entry does for those who run a model", [
    I32EnumAttrCase<"Generic", 0, "generic">, I32EnumAttrCase<"Forward", 1, "forward">,
    I32EnumAttrCase<"Prefill", 2, "prefill">, I32EnumAttrCase<"Decode", 3, "decode">,
    I32EnumAttrCase<"Embed", 4, "embed">, I32EnumAttrCase<"Encode", 5, "encode">]> {
  let genSpecializedAttr = 0;
  let cppNamespace = "::mlir::fovea";
}

def Fovea_EntryKindAttr : EnumAttr<FoveaDialect, Fovea_EntryKind, "entry_kind"> {
  let assemblyFormat = "`<` $value `>`";
}

def Fovea_PortAttr : FoveaAttr<"Port", "port"> {
  let summary = "An argument or result of an entry, as the caller sees it";
  let description = [{
    `#fovea.port<"input_ids", tensor<?x?xi64>, dims = ["batch", "sequence"], role = token_ids>`. A cache that an entry
    returns says with `continues` which argument it grows from.
  }];
  let parameters = (ins StringRefParameter<>:$name, "::mlir::Type":$type,
                        OptionalParameter<"::mlir::ArrayAttr">:$dims,
                        DefaultValuedParameter<"int64_t", "-1">:$continues,
                        DefaultValuedParameter<"::mlir::fovea::PortRole", "::mlir::fovea::PortRole::None">:$role);
  let assemblyFormat = "`<` $name `,` $type (`,` struct($dims, $continues, $role)^)? `>`";
}

def Fovea_SignatureAttr : FoveaAttr<"Signature", "signature"> {
  let summary = "What an entry takes and gives, kept while its body turns to buffers";
  let description = [{
    The `fovea.signature` of an entry from the `kernels` stage on, where the function itself takes buffers and
    returns sizes, with the entry's kind behind them: `#fovea.signature<[...], [...], prefill>`.
  }];
  let parameters = (ins OptionalArrayRefParameter<"::mlir::fovea::PortAttr">:$arguments,
                        OptionalArrayRefParameter<"::mlir::fovea::PortAttr">:$results,
                        DefaultValuedParameter<"::mlir::fovea::EntryKind", "::mlir::fovea::EntryKind::Generic">:$kind);
  let assemblyFormat = "`<` `[` (`]`) : ($arguments^ `]`)? `,` `[` (`]`) : ($results^ `]`)? (`,` $kind^)? `>`";
}

#endif // FOVEA_ATTRS_TD
