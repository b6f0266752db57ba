// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weights of blocks in kernels: the parts of their panels as matrices, rows of them as tiles, and
// single numbers.
#ifndef FOVEA_LOWERING_KERNELS_BLOCKS_H
#define FOVEA_LOWERING_KERNELS_BLOCKS_H

#include "dialects/Fovea/Blocks.h"
#include "lowering/Kernels/TileBuilder.h"

namespace mlir::fovea {

class BlockWeight {
public:
  BlockWeight(TileBuilder &b, Value weight);

  /// Whole rows, those of these columns of a product, as floats of `number`.
  Value loadRows(TileColumns c, Type number);
  /// The numbers of rows that are found by theirs, at these columns: f32. Numbers of rows that are
  /// not there find another row.
  Value gatherRows(Value numbers, TileColumns c);

private:
  /// A part as memory `[panels, units, width]`, or with four bytes of each.
  Value part(int64_t place, int64_t units, Type element, bool ofWords = false);
  Value loadPart(int64_t place, int64_t columns, Type element, TileColumns c);
  /// Scales, or offsets, of the groups of whole rows.
  Value loadFactors(int64_t place, int64_t ofBlocks, TileColumns c);
  Value factorAt(int64_t place, int64_t ofBlocks, Value row, Value column);
  Value codeAt(Value row, Value column);

  TileBuilder &b;
  KernelBuilder &k;
  RankedTensorType type;
  BlockFormat format;
  BlockPanel panel;
  Value memory;
};

} // namespace mlir::fovea

#endif // FOVEA_LOWERING_KERNELS_BLOCKS_H
