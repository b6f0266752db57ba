// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What each kind of blocks consists of, and where its parts lie in a panel. Numbers are
// (code + bias) * scale + offset.
#ifndef FOVEA_DIALECTS_FOVEA_BLOCKS_H
#define FOVEA_DIALECTS_FOVEA_BLOCKS_H

#include "dialects/Fovea/FoveaDialect.h"
#include "dialects/Panels.h"

namespace mlir::fovea {

/// What a scale, or an offset, is in a panel.
enum class BlockScale {
  F16,
  BF16,
  F32,
  ByBlock, ///< an i8, times an f16 that the whole block has
};

/// One kind, in a file and in panels.
struct BlockFormat {
  BlockKind kind;
  int64_t elements, bytes; ///< of a block in a file
  int64_t codeBits;        ///< in panels: 2, 4, 5, 6 or 8, two's complement
  int64_t bias;            ///< of codes in panels
  int64_t group;           ///< elements with one scale
  BlockScale scale;
  bool hasOffsets; ///< of the kind that the scales are
  /// What codes, their bits taken as unsigned, stand for; empty: for themselves.
  ArrayRef<int8_t> table;

  int64_t getNumber(int64_t code) const {
    return table.empty() ? code + bias : table[static_cast<size_t>(code & 15)];
  }
};

/// Of integers a block has so many elements, which share a scale.
BlockFormat getBlockFormat(BlockKind kind, int64_t group = 0);

/// Of a type that tensors are made of, or of a tensor of it; nothing for others.
std::optional<BlockFormat> getBlockFormat(Type type);

/// Kinds whose type says how many elements a block has.
bool isOfIntegers(BlockKind kind);

/// Bytes of a scale or offset of a group.
int64_t getScaleBytes(BlockScale scale);

/// Where the parts of a panel of so many inputs begin, in bytes; each is aligned to 16 bytes, and
/// panels are to 64. A part has one column of `kStoredPanelWidth` numbers for each of its units.
class BlockPanel {
public:
  BlockPanel(const BlockFormat &format, int64_t inputs);

  /// [inputs * codeBits / 32][width][4] bytes (dialects/PackedIntegers.h).
  int64_t codes = 0;
  int64_t scales = 0, offsets = 0;           ///< [inputs / group][width]
  int64_t blockScales = 0, blockOffsets = 0; ///< [inputs / elements][width], f16
  int64_t bytes = 0;

  int64_t groups, blocks; ///< of a row
};

} // namespace mlir::fovea

#endif // FOVEA_DIALECTS_FOVEA_BLOCKS_H
