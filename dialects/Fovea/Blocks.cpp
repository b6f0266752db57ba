// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of block kinds.
#include "dialects/Fovea/Blocks.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fovea;

BlockFormat mlir::fovea::getBlockFormat(BlockKind kind, int64_t group) {
  using Kind = BlockKind;
  using Scale = BlockScale;
  static constexpr int8_t kNonLinear[] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                          1,    13,   25,  38,  53,  69,  89,  113};
  static constexpr int8_t kDoubledE2M1[] = {0, 1,  2,  3,  4,  6,  8,  12,
                                            0, -1, -2, -3, -4, -6, -8, -12};
  // Codes of three bits are nibbles in panels: a group of 16 is no whole unit of them.
  static const BlockFormat formats[] = {
      // kind, elements, bytes, codeBits, bias, group, scale, hasOffsets, table
      {Kind::Q4_0, 32, 18, 4, 0, 32, Scale::F16, false, {}},
      {Kind::Q4_1, 32, 20, 4, 8, 32, Scale::F16, true, {}},
      {Kind::Q5_0, 32, 22, 5, 0, 32, Scale::F16, false, {}},
      {Kind::Q5_1, 32, 24, 5, 16, 32, Scale::F16, true, {}},
      {Kind::Q8_0, 32, 34, 8, 0, 32, Scale::F16, false, {}},
      {Kind::Q2_K, 256, 84, 2, 2, 16, Scale::ByBlock, true, {}},
      {Kind::Q3_K, 256, 110, 4, 0, 16, Scale::ByBlock, false, {}},
      {Kind::Q4_K, 256, 144, 4, 8, 32, Scale::ByBlock, true, {}},
      {Kind::Q5_K, 256, 176, 5, 16, 32, Scale::ByBlock, true, {}},
      {Kind::Q6_K, 256, 210, 6, 0, 16, Scale::ByBlock, false, {}},
      {Kind::IQ4_NL, 32, 18, 4, 0, 32, Scale::F16, false, kNonLinear},
      {Kind::MXFP4, 32, 17, 4, 0, 32, Scale::BF16, false, kDoubledE2M1},
      {Kind::Int4, 0, 0, 4, 0, 0, Scale::F32, false, {}},
      {Kind::Int8, 0, 0, 8, 0, 0, Scale::F32, false, {}},
      {Kind::Int4Offset, 0, 0, 4, 0, 0, Scale::F32, true, {}},
      {Kind::Int8Offset, 0, 0, 8, 0, 0, Scale::F32, true, {}},
  };
  BlockFormat format = formats[static_cast<size_t>(kind)];
  assert(format.kind == kind && "kinds stand in their order");
  if (isOfIntegers(kind)) {
    format.elements = format.group = group;
    format.bytes = (format.hasOffsets ? 8 : 4) + group * format.codeBits / 8;
  }
  return format;
}

bool mlir::fovea::isOfIntegers(BlockKind kind) { return kind >= BlockKind::Int4; }

std::optional<BlockFormat> mlir::fovea::getBlockFormat(Type type) {
  auto blocks = dyn_cast<BlocksType>(getElementTypeOrSelf(type));
  return blocks ? std::optional(getBlockFormat(blocks.getKind(), blocks.getGroup())) : std::nullopt;
}

int64_t mlir::fovea::getScaleBytes(BlockScale scale) {
  switch (scale) {
  case BlockScale::F16:
  case BlockScale::BF16:
    return 2;
  case BlockScale::F32:
    return 4;
  case BlockScale::ByBlock:
    return 1;
  }
  llvm_unreachable("all kinds of scales are above");
}

LogicalResult BlocksType::verify(function_ref<InFlightDiagnostic()> emitError, BlockKind kind,
                                 int64_t group) {
  constexpr int64_t kMostElements = int64_t(1) << 24;
  if (!isOfIntegers(kind) && group != 0) // C1
    return emitError() << "expects no number of elements for blocks of " << stringifyBlockKind(kind)
                       << ", got " << group;
  if (isOfIntegers(kind) && (group <= 0 || group > kMostElements || group % 8 != 0)) // C1
    return emitError() << "expects blocks of a multiple of 8 integers, at most " << kMostElements
                       << ", got " << group;
  return success();
}

BlockPanel::BlockPanel(const BlockFormat &format, int64_t inputs)
    : groups(inputs / format.group), blocks(inputs / format.elements) {
  constexpr int64_t kWidth = kStoredPanelWidth;
  bool byBlock = format.scale == BlockScale::ByBlock;
  int64_t each = getScaleBytes(format.scale), place = 0;
  auto add = [&](int64_t &part, int64_t size) {
    part = place;
    place += size * kWidth;
  };
  add(codes, inputs * format.codeBits / 8);
  add(scales, groups * each);
  if (format.hasOffsets)
    add(offsets, groups * each);
  if (byBlock)
    add(blockScales, blocks * 2);
  if (byBlock && format.hasOffsets)
    add(blockOffsets, blocks * 2);
  bytes = llvm::alignTo(place, 64);
}
