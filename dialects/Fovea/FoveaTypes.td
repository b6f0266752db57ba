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

def Fovea_FloatTensor : TensorRankOf<[F16, BF16, F32, F64], [1, 2, 3, 4, 5]>;
def Fovea_Float : FloatOfWidths<[16, 32, 64]>;
def Fovea_AnyFloatTensor : RankedTensorOf<[F16, BF16, F32, F64]>;
def Fovea_FloatTensor1 : TensorRankOf<[F16, BF16, F32, F64], [1]>;
def Fovea_FloatTensor2 : TensorRankOf<[F16, BF16, F32, F64], [2]>;
/// Floats, or integers of two's complement with scales beside them: rows, and what a product multiplies by.
def Fovea_Table : TensorRankOf<[F16, BF16, F32, F64, I8], [2]>;
def Fovea_LinearWeight : TensorRankOf<[F16, BF16, F32, F64, I<4>, I8], [2]>;
def Fovea_LinearScales : TensorRankOf<[F16, F32], [1, 2]>;
def Fovea_FloatTensor4 : TensorRankOf<[F16, BF16, F32, F64], [4]>;
def Fovea_Positions : TensorRankOf<[I32], [2]>;
def Fovea_IdTensor : RankedTensorOf<[I32, I64]>;
def Fovea_Lengths : TensorRankOf<[I32], [1]>;
def Fovea_KeyOrValue : AnyTypeOf<[Fovea_FloatTensor4, Fovea_CacheType]>;

#endif // FOVEA_TYPES_TD
