// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The innermost steps of recipes: tensors of files, and what quantised matrices are unpacked to.
#include "frontend/Builder/Body.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fovea;
namespace model = ::fovea;

using Kind = model::Packing::Kind;

Type mlir::fovea::getPackedType(MLIRContext *context, const model::Packing &packing) {
  if (packing.kind == Kind::Float8)
    return Float32Type::get(context);
  if (packing.kind == Kind::Mxfp4)
    return BlocksType::get(context, BlockKind::MXFP4, 0);
  bool isWide = packing.bits == 8;
  BlockKind kind = packing.zeros ? (isWide ? BlockKind::Int8Offset : BlockKind::Int4Offset)
                                 : (isWide ? BlockKind::Int8 : BlockKind::Int4);
  return BlocksType::get(context, kind, packing.group);
}

static Type getBlocksType(MLIRContext *context, model::ElementType type) {
  std::optional<BlockKind> kind = symbolizeBlockKind(StringRef(model::nameOf(type)).lower());
  assert(kind && "the dialect has all kinds of blocks that files have");
  return BlocksType::get(context, *kind, 0);
}

Type mlir::fovea::getElementType(MLIRContext *context, model::ElementType type) {
  switch (type) {
  case model::ElementType::Bool:
    return IntegerType::get(context, 1);
  case model::ElementType::I8:
  case model::ElementType::U8:
    return IntegerType::get(context, 8);
  case model::ElementType::I16:
  case model::ElementType::U16:
    return IntegerType::get(context, 16);
  case model::ElementType::I32:
  case model::ElementType::U32:
    return IntegerType::get(context, 32);
  case model::ElementType::I64:
  case model::ElementType::U64:
    return IntegerType::get(context, 64);
  case model::ElementType::F8E4M3:
    return Float8E4M3FNType::get(context);
  case model::ElementType::F8E5M2:
    return {};
  case model::ElementType::F16:
    return Float16Type::get(context);
  case model::ElementType::BF16:
    return BFloat16Type::get(context);
  case model::ElementType::F32:
    return Float32Type::get(context);
  case model::ElementType::F64:
    return Float64Type::get(context);
  default:
    return getBlocksType(context, type);
  }
}

static Attribute getLeaf(MLIRContext *context, const model::StoredTensor &tensor) {
  return StoredAttr::get(context, tensor.file, tensor.name,
                         RankedTensorType::get(tensor.shape, getElementType(context, tensor.type)));
}

static Packing getPacking(Kind kind) {
  switch (kind) {
  case Kind::Gptq:
    return Packing::Gptq;
  case Kind::GptqV2:
    return Packing::GptqV2;
  case Kind::Awq:
    return Packing::Awq;
  case Kind::Rows:
    return Packing::Rows;
  case Kind::Bytes:
    return Packing::Bytes;
  case Kind::Mxfp4:
    return Packing::Mxfp4;
  case Kind::Float8:
    break;
  }
  llvm_unreachable("floats are not unpacked");
}

static Attribute unpack(MLIRContext *context, const model::Weight &weight) {
  const model::Packing &packing = *weight.packing;
  Attribute codes = getLeaf(context, weight.stored), scales = getLeaf(context, packing.scales);
  if (packing.kind != Kind::Float8)
    return UnpackAttr::get(context, getPacking(packing.kind), codes, scales,
                           getPackedType(context, packing),
                           packing.zeros ? getLeaf(context, *packing.zeros) : Attribute(),
                           packing.order ? getLeaf(context, *packing.order) : Attribute());
  // A scale of all, or of each output, is no matrix in every file.
  ArrayRef<int64_t> shape(weight.stored.shape);
  SmallVector<int64_t> blocks{llvm::divideCeilSigned(shape[0], packing.rows),
                              llvm::divideCeilSigned(shape[1], packing.group)};
  if (ArrayRef(packing.scales.shape) != ArrayRef<int64_t>(blocks))
    scales = ReshapeAttr::get(context, scales, blocks);
  return ScaleBlocksAttr::get(context, codes, scales, packing.rows, packing.group,
                              Float32Type::get(context));
}

Attribute mlir::fovea::getStoredRecipe(MLIRContext *context, const model::Weight &weight) {
  if (weight.packing)
    return unpack(context, weight);
  Attribute recipe = getLeaf(context, weight.stored);
  if (weight.asGroupOrder)
    return GroupOrderAttr::get(context, recipe);
  if (weight.asFloats && model::isBlockType(weight.stored.type))
    return CastAttr::get(context, recipe, Float32Type::get(context));
  return recipe;
}
