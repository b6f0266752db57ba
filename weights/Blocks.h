// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blocks of quantised numbers as files store them, taken apart.
#ifndef FOVEA_WEIGHTS_BLOCKS_H
#define FOVEA_WEIGHTS_BLOCKS_H

#include "dialects/Fovea/Blocks.h"
#include <vector>

namespace mlir::fovea {

/// The parts of one block as panels have them: numbers are (code + bias) * scale + offset.
struct BlockParts {
  explicit BlockParts(const BlockFormat &format)
      : codes(format.elements), scales(format.elements / format.group), offsets(scales.size()) {}

  std::vector<int8_t> codes;
  /// Of each group: the bits of a float, or what the block's own are multiplied by.
  std::vector<uint32_t> scales, offsets;
  uint16_t blockScale = 0, blockOffset = 0; ///< bits of f16
};

/// Takes apart a block of a file, which has `format.bytes` bytes.
void readBlock(const BlockFormat &format, const char *block, BlockParts &parts);

/// The numbers of blocks one behind the other, of which there are `count`, a multiple of a block's:
/// f32, each product and sum rounded, as the `gguf` package computes them.
void readNumbers(const BlockFormat &format, const char *blocks, int64_t count, float *numbers);

/// Packs rows of blocks, at most `kStoredPanelWidth`, into a panel; rows that are not there are
/// zero.
void packBlocks(const BlockFormat &format, const char *in, int64_t rows, int64_t inputs, char *out);

} // namespace mlir::fovea

#endif // FOVEA_WEIGHTS_BLOCKS_H
