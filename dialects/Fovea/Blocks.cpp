// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of block kinds.
#include "dialects/Fovea/Blocks.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fovea;

const BlockFormat &mlir::fovea::getBlockFormat(BlockKind kind) {
  using Kind = BlockKind;
  using Scale = BlockScale;
  // Codes of five and six bits, and those of a table, are bytes in panels; of two and three bits
  // they are nibbles.
  static constexpr BlockFormat formats[] = {
      // kind, elements, bytes, codeBits, bias, group, scale, hasOffsets
      {Kind::Q4_0, 32, 18, 4, 0, 32, Scale::F16, false},
      {Kind::Q4_1, 32, 20, 4, 8, 32, Scale::F16, true},
      {Kind::Q5_0, 32, 22, 8, 0, 32, Scale::F16, false},
      {Kind::Q5_1, 32, 24, 8, 0, 32, Scale::F16, true},
      {Kind::Q8_0, 32, 34, 8, 0, 32, Scale::F16, false},
      {Kind::Q2_K, 256, 84, 4, 0, 16, Scale::ByBlock, true},
      {Kind::Q3_K, 256, 110, 4, 0, 16, Scale::ByBlock, false},
      {Kind::Q4_K, 256, 144, 4, 8, 32, Scale::ByBlock, true},
      {Kind::Q5_K, 256, 176, 8, 0, 32, Scale::ByBlock, true},
      {Kind::Q6_K, 256, 210, 8, 0, 16, Scale::ByBlock, false},
      {Kind::IQ4_NL, 32, 18, 8, 0, 32, Scale::F16, false},
      {Kind::MXFP4, 32, 17, 8, 0, 32, Scale::BF16, false},
  };
  const BlockFormat &format = formats[static_cast<size_t>(kind)];
  assert(format.kind == kind && "kinds stand in their order");
  return format;
}

const BlockFormat *mlir::fovea::getBlockFormat(Type type) {
  auto blocks = dyn_cast<BlocksType>(getElementTypeOrSelf(type));
  return blocks ? &getBlockFormat(blocks.getKind()) : nullptr;
}

BlockPanel::BlockPanel(const BlockFormat &format, int64_t inputs)
    : groups(inputs / format.group), blocks(inputs / format.elements) {
  constexpr int64_t kWidth = kStoredPanelWidth;
  bool byBlock = format.scale == BlockScale::ByBlock;
  int64_t place = 0;
  auto add = [&](int64_t &part, int64_t size) {
    part = place;
    place += size * kWidth;
  };
  add(codes, inputs * format.codeBits / 8);
  add(scales, groups * (byBlock ? 1 : 2));
  if (format.hasOffsets)
    add(offsets, groups * (byBlock ? 1 : 2));
  if (byBlock)
    add(blockScales, blocks * 2);
  if (byBlock && format.hasOffsets)
    add(blockOffsets, blocks * 2);
  bytes = llvm::alignTo(place, 64);
}
