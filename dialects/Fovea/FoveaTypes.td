// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FOVEA_TYPES_TD
#define FOVEA_TYPES_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinTypeInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "dialects/Fovea/FoveaDialect.td"

class FoveaType<string name, string typeMnemonic, list<Trait> traits = []>
    : TypeDef<FoveaDialect, name, traits> {
  let mnemonic = typeMnemonic;
}

def Fovea_MaskType : FoveaType<"Mask", "mask"> {
  let summary = "Which keys a query may attend to";
  let description = [{
    A predicate on (batch, head, query, key), built by the `mask_*` ops. It is never a tensor; it speaks of
    positions, not of places in a buffer. After the `graph` stage no mask value crosses a function, branch or loop.
  }];
}

def Fovea_CacheKind : I32EnumAttr<"CacheKind", "What a cache holds", [
    I32EnumAttrCase<"Key", 0, "key">, I32EnumAttrCase<"Value", 1, "value">]> {
  let cppNamespace = "::mlir::fovea";
}

def Fovea_CacheType : FoveaType<"Cache", "cache"> {
  let summary = "Keys or values of past positions, growing at the end";
  let description = [{
    For each batch row a sequence of `heads x size` elements with one length for all rows. Written
    `!fovea.cache<key, 2x32xf32>`. How it lies in memory is the compiler's choice.

    * (C1) heads and size are positive.
    * (C2) the element type is f16, bf16, f32 or f64; or i8, integers whose scales are in a cache of their own, of size one.
  }];
  let parameters = (ins "CacheKind":$kind, "int64_t":$heads, "int64_t":$size, "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Fovea_BlockKind : I32EnumAttr<"BlockKind", "How numbers share scales in blocks", [
    I32EnumAttrCase<"Q4_0", 0, "q4_0">, I32EnumAttrCase<"Q4_1", 1, "q4_1">, I32EnumAttrCase<"Q5_0", 2, "q5_0">,
    I32EnumAttrCase<"Q5_1", 3, "q5_1">, I32EnumAttrCase<"Q8_0", 4, "q8_0">, I32EnumAttrCase<"Q2_K", 5, "q2_k">,
    I32EnumAttrCase<"Q3_K", 6, "q3_k">, I32EnumAttrCase<"Q4_K", 7, "q4_k">, I32EnumAttrCase<"Q5_K", 8, "q5_k">,
    I32EnumAttrCase<"Q6_K", 9, "q6_k">, I32EnumAttrCase<"IQ4_NL", 10, "iq4_nl">, I32EnumAttrCase<"MXFP4", 11, "mxfp4">,
    I32EnumAttrCase<"Int4", 12, "int4">, I32EnumAttrCase<"Int8", 13, "int8">,
    I32EnumAttrCase<"Int4Offset", 14, "int4_offset">, I32EnumAttrCase<"Int8Offset", 15, "int8_offset">]> {
  let cppNamespace = "::mlir::fovea";
}

def Fovea_BlocksType : FoveaType<"Blocks", "blocks"> {
  let summary = "Numbers of a few bits in blocks, each with its scales inside";
  let description = [{
    The element type of weights that files store quantised: `tensor<2048x2048x!fovea.blocks<q4_k>>`. So many neighbours
    of a row are a block, and each number is `(code + bias) * scale + offset`. The kinds are those of GGUF (ggml's
    `ggml-common.h`); mxfp4 is that of the OCP Microscaling Formats specification 1.0; and those of integers, which say
    how many a block has, `!fovea.blocks<int4, 128>`, are what GPTQ, AWQ and compressed-tensors give:

    | kind | of a block | code | scales |
    |---|---|---|---|
    | `q4_0`, `q5_0`, `q8_0` | 32 | 4, 5 or 8 bits, signed | one of f16 |
    | `q4_1`, `q5_1` | 32 | 4 or 5 bits | one of f16, and an offset of f16 |
    | `q3_k`, `q6_k` | 256 | 3 or 6 bits, signed | for 16 numbers 6 or 8 bits, times one of f16 |
    | `q2_k` | 256 | 2 bits | for 16 numbers 4 bits, and as many for an offset, times one of f16 each |
    | `q4_k`, `q5_k` | 256 | 4 or 5 bits | for 32 numbers 6 bits, and as many for an offset, times one of f16 each |
    | `iq4_nl` | 32 | one of 16 integers | one of f16 |
    | `mxfp4` | 32 | f4E2M1FN | a power of two |
    | `int4`, `int8` | any | 4 or 8 bits of two's complement | one of f32 |
    | `int4_offset`, `int8_offset` | any | 4 or 8 bits of two's complement | one of f32, and an offset of f32 |

    Row-major, blocks lie as in files, those of integers as scale, offset and codes, two of four bits to the byte, the
    even one in the low bits. In panels (`#fovea.panels<16, interleave = 4>`) those of sixteen rows lie as
    kernels read them: codes of 2, 4, 5, 6 or 8 bits as panels of such integers have them
    (`dialects/PackedIntegers.h`), behind them scales, offsets and what both are multiplied by, for sixteen rows side by
    side each (`dialects/Fovea/Blocks.h`).

    * (C1) blocks of integers have a multiple of 8 numbers, at most 2^24; others are not told how many they have.
  }];
  let parameters = (ins "BlockKind":$kind, DefaultValuedParameter<"int64_t", "0">:$group);
  let assemblyFormat = "`<` $kind (`,` $group^)? `>`";
  let genVerifyDecl = 1;
}

def Fovea_FloatTensor : TensorRankOf<[F16, BF16, F32, F64], [1, 2, 3, 4, 5]>;
def Fovea_Float : FloatOfWidths<[16, 32, 64]>;
def Fovea_AnyFloatTensor : RankedTensorOf<[F16, BF16, F32, F64]>;
def Fovea_FloatTensor1 : TensorRankOf<[F16, BF16, F32, F64], [1]>;
def Fovea_FloatTensor2 : TensorRankOf<[F16, BF16, F32, F64], [2]>;
/// Floats, blocks, or integers of two's complement with scales beside them: rows, and what a product multiplies by.
def Fovea_Table : TensorRankOf<[F16, BF16, F32, F64, I8, Fovea_BlocksType], [2]>;
def Fovea_LinearWeight : TensorRankOf<[F16, BF16, F32, F64, I<4>, I8, Fovea_BlocksType], [2]>;
def Fovea_LinearScales : TensorRankOf<[F16, F32], [1, 2]>;
def Fovea_FloatTensor4 : TensorRankOf<[F16, BF16, F32, F64], [4]>;
def Fovea_Positions : TensorRankOf<[I32], [2]>;
def Fovea_IdTensor : RankedTensorOf<[I32, I64]>;
def Fovea_Lengths : TensorRankOf<[I32], [1]>;
def Fovea_KeyOrValue : AnyTypeOf<[Fovea_FloatTensor4, Fovea_CacheType]>;

#endif // FOVEA_TYPES_TD
