// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The recipe that packs into panels: a transposition of each.
#include "abi/Panels.h"
#include "dialects/Fovea/Try.h"
#include "weights/Blocks.h"
#include "weights/Steps.h"
#include "weights/Transpose.h"
#include <cstring>

using namespace mlir;
using namespace mlir::fovea;
using ::fovea::Panels;

/// One panel of `rows` rows of `columns` elements of `size` bytes; the rest of it becomes zero.
static void packPanel(const char *in, int64_t rows, int64_t columns, int64_t size,
                      const Panels &panels, char *out) {
  int64_t width = panels.width, interleave = panels.interleave;
  int64_t units = columns / interleave, rest = columns % interleave, unit = interleave * size;
  if (rows < width)
    std::memset(out, 0, width * panels.depth(columns) * size);
  else if (rest != 0)
    std::memset(out + units * width * unit, 0, width * unit);
  int64_t stride = columns * size;
  transposeElements(in, stride, rows, units, unit, out, width * unit);
  for (int64_t n = 0; rest != 0 && n < rows; ++n)
    std::memcpy(out + (units * width + n) * unit, in + n * stride + units * unit, rest * size);
}

LogicalResult mlir::fovea::evaluate(PackAttr step, RecipeRows rows) {
  if (!step.getPanels())
    return evaluateRows(recipe(step.getInput()), rows.source, rows.first, rows.count, rows.out);
  const PanelsAttr encoding = step.getPanels();
  const Panels panels{encoding.getWidth(), encoding.getInterleave()};
  RankedTensorType type = getTypeOfRecipe(step.getInput());
  std::optional<BlockFormat> blocks = getBlockFormat(type);
  // Of i4, bytes are packed.
  int64_t inRow = getBytesFrom(type, 1), size = blocks ? 1 : getBytesFrom(type, 2);
  int64_t width = panels.width, begin = rows.first * width;
  int64_t end = std::min(begin + rows.count * width, type.getDimSize(0));
  int64_t inputs = type.getDimSize(1), columns = inRow / size;
  int64_t panelBytes =
      blocks ? BlockPanel(*blocks, inputs).bytes : width * panels.depth(columns) * size;
  std::vector<char> buffer;
  TRY(auto *in, readRows(step.getInput(), rows.source, begin, end - begin, buffer));
  for (int64_t row = begin; row < end; row += width, rows.out += panelBytes) {
    const char *from = in + (row - begin) * inRow;
    int64_t count = std::min(width, end - row);
    if (blocks)
      packBlocks(*blocks, from, count, inputs, rows.out);
    else
      packPanel(from, count, columns, size, panels, rows.out);
  }
  return success();
}
