// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recipes that only move elements: concat, transpose, permute, reshape, slice. Only a permutation
// that moves the outermost axis holds all of its input.
#include "dialects/Fovea/Blocks.h"
#include "dialects/Fovea/Try.h"
#include "weights/Steps.h"
#include "weights/Transpose.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>

using namespace mlir;
using namespace mlir::fovea;

/// How often the axes from `axis` on stand one after the other in `rows` rows.
static int64_t countPieces(RankedTensorType type, int64_t axis, int64_t rows) {
  return rows * ShapedType::getNumElements(type.getShape().slice(1, axis - 1));
}

LogicalResult mlir::fovea::evaluate(ConcatAttr step, RecipeRows rows) {
  int64_t axis = step.getAxis();
  if (axis == 0) {
    for (Attribute part : step.getParts()) {
      RankedTensorType type = getTypeOfRecipe(part);
      int64_t here = std::min(rows.count, type.getDimSize(0) - rows.first);
      if (here > 0) {
        if (failed(evaluateRows(recipe(part), rows.source, rows.first, here, rows.out)))
          return failure();
        rows.out += here * getBytesFrom(type, 1);
        rows.count -= here;
      }
      rows.first = std::max<int64_t>(0, rows.first - type.getDimSize(0));
    }
    return success();
  }
  // Along an inner axis each row of the result is made of pieces of the parts' rows.
  RankedTensorType type = step.getRecipeType();
  int64_t pieces = countPieces(type, axis, rows.count), stride = getBytesFrom(type, axis);
  int64_t offset = 0;
  std::vector<char> buffer;
  for (Attribute part : step.getParts()) {
    TRY(auto *in, readRows(part, rows.source, rows.first, rows.count, buffer));
    int64_t piece = getBytesFrom(getTypeOfRecipe(part), axis);
    for (int64_t i = 0; i < pieces; ++i)
      std::memcpy(rows.out + i * stride + offset, in + i * piece, piece);
    offset += piece;
  }
  return success();
}

LogicalResult mlir::fovea::evaluate(TransposeAttr step, RecipeRows rows) {
  RankedTensorType type = getTypeOfRecipe(step.getInput());
  int64_t size = getBytesFrom(type, 2), inRow = getBytesFrom(type, 1);
  int64_t inRows = type.getDimSize(0);
  constexpr int64_t kBlockRows = 256;
  return walkRows(step.getInput(), rows.source, 0, inRows, kBlockRows,
                  [&](int64_t first, int64_t count, const char *in) {
                    transposeElements(in + rows.first * size, inRow, count, rows.count, size,
                                      rows.out + first * size, inRows * size);
                    return success();
                  });
}

/// Copies the elements of the result's axes `shape`; `strides` are those of the input, in bytes.
static char *permute(const char *in, ArrayRef<int64_t> shape, ArrayRef<int64_t> strides,
                     int64_t size, char *out) {
  if (shape.size() == 1 && strides.front() == size) {
    std::memcpy(out, in, shape.front() * size);
    return out + shape.front() * size;
  }
  for (int64_t i = 0; i < shape.front(); ++i, in += strides.front()) {
    if (shape.size() > 1) {
      out = permute(in, shape.drop_front(), strides.drop_front(), size, out);
    } else {
      std::memcpy(out, in, size);
      out += size;
    }
  }
  return out;
}

LogicalResult mlir::fovea::evaluate(PermuteAttr step, RecipeRows rows) {
  RankedTensorType from = getTypeOfRecipe(step.getInput());
  if (from.getRank() == 0)
    return evaluateRows(recipe(step.getInput()), rows.source, rows.first, rows.count, rows.out);
  SmallVector<int64_t> shape(step.getRecipeType().getShape()), strides;
  for (int64_t axis : step.getAxes())
    strides.push_back(getBytesFrom(from, axis + 1));
  bool keepsRows = step.getAxes().front() == 0;
  std::vector<char> buffer;
  TRY(auto *in, readRows(step.getInput(), rows.source, keepsRows ? rows.first : 0,
                         keepsRows ? rows.count : from.getDimSize(0), buffer));
  shape.front() = rows.count;
  if (std::optional<BlockFormat> format = getBlockFormat(from)) // the last axis stays
    shape.back() /= format->elements;
  permute(in + (keepsRows ? 0 : rows.first * strides.front()), shape, strides,
          getBytesFrom(from, from.getRank()), rows.out);
  return success();
}

LogicalResult mlir::fovea::evaluate(ReshapeAttr step, RecipeRows rows) {
  int64_t row = getBytesFrom(step.getRecipeType(), 1);
  int64_t inRow = getBytesFrom(getTypeOfRecipe(step.getInput()), 1);
  if (rows.count * row == 0)
    return success();
  // The input's rows that hold these bytes.
  int64_t begin = rows.first * row, end = begin + rows.count * row;
  int64_t first = begin / inRow, count = llvm::divideCeil(end, inRow) - first;
  if (begin % inRow == 0 && end % inRow == 0)
    return evaluateRows(recipe(step.getInput()), rows.source, first, count, rows.out);
  std::vector<char> buffer;
  TRY(auto *in, readRows(step.getInput(), rows.source, first, count, buffer));
  std::memcpy(rows.out, in + (begin - first * inRow), end - begin);
  return success();
}

LogicalResult mlir::fovea::evaluate(SliceAttr step, RecipeRows rows) {
  int64_t axis = step.getAxis();
  if (axis == 0)
    return evaluateRows(recipe(step.getInput()), rows.source, step.getFirst() + rows.first,
                        rows.count, rows.out);
  RankedTensorType from = getTypeOfRecipe(step.getInput());
  std::vector<char> buffer;
  TRY(auto *in, readRows(step.getInput(), rows.source, rows.first, rows.count, buffer));
  int64_t pieces = countPieces(from, axis, rows.count), stride = getBytesFrom(from, axis);
  int64_t inner = getBytesFrom(from, axis + 1), piece = inner * step.getCount();
  for (int64_t i = 0; i < pieces; ++i)
    std::memcpy(rows.out + i * piece, in + i * stride + step.getFirst() * inner, piece);
  return success();
}
