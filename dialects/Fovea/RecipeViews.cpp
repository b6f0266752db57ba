// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recipes that only move elements: permute, reshape, slice. Evaluated in slices of the outermost
// axis; only a permutation that moves that axis holds all of its input.
#include "dialects/Fovea/Recipes.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>

using namespace mlir;
using namespace mlir::fovea;

/// Number of elements of the axes [first, end).
static int64_t countElements(ArrayRef<int64_t> shape, int64_t first, int64_t end) {
  int64_t count = 1;
  for (int64_t axis = first; axis < end; ++axis)
    count *= shape[axis];
  return count;
}

/// Rows [first, first + count) of `input`: in place if it is stored, else evaluated into `buffer`.
static FailureOr<const char *> readRows(Attribute input, RecipeSource &source, int64_t first,
                                        int64_t count, std::vector<char> &buffer) {
  int64_t row = rowBytes(recipe(input).getRecipeType());
  if (auto stored = dyn_cast<StoredAttr>(input)) {
    FailureOr<ArrayRef<char>> bytes = source.read(stored);
    if (failed(bytes))
      return failure();
    return bytes->data() + first * row;
  }
  buffer.resize(count * row);
  if (failed(recipe(input).evaluateRows(source, first, count, buffer.data())))
    return failure();
  return const_cast<const char *>(buffer.data());
}

//===-- permute ------------------------------------------------------------------------------===//

RankedTensorType PermuteAttr::getRecipeType() const {
  RankedTensorType type = recipe(getInput()).getRecipeType();
  SmallVector<int64_t> shape;
  for (int64_t axis : getAxes())
    shape.push_back(type.getDimSize(axis));
  return RankedTensorType::get(shape, type.getElementType());
}

SmallVector<Attribute> PermuteAttr::getRecipeInputs() const { return {getInput()}; }

LogicalResult PermuteAttr::verifyRecipe(function_ref<InFlightDiagnostic()> emitError) const {
  if (failed(verifyInputs(getInput(), emitError)))
    return failure();
  RankedTensorType type = recipe(getInput()).getRecipeType();
  SmallVector<int64_t> sorted(getAxes());
  llvm::sort(sorted);
  if (!llvm::equal(sorted, llvm::seq<int64_t>(0, type.getRank()))) { // C1
    InFlightDiagnostic error = emitError() << "expects each axis of " << type << " once, got [";
    llvm::interleaveComma(getAxes(), error);
    return error << "]";
  }
  return success();
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

LogicalResult PermuteAttr::evaluateRows(RecipeSource &source, int64_t first, int64_t count,
                                        char *out) const {
  RankedTensorType from = recipe(getInput()).getRecipeType();
  if (from.getRank() == 0)
    return recipe(getInput()).evaluateRows(source, first, count, out);
  int64_t size = getStorageBytes(from.getElementType(), 1);
  SmallVector<int64_t> shape(getRecipeType().getShape()), strides;
  for (int64_t axis : getAxes())
    strides.push_back(size * countElements(from.getShape(), axis + 1, from.getRank()));
  bool keepsRows = getAxes().front() == 0;
  std::vector<char> buffer;
  FailureOr<const char *> in = readRows(getInput(), source, keepsRows ? first : 0,
                                        keepsRows ? count : from.getDimSize(0), buffer);
  if (failed(in))
    return failure();
  shape.front() = count;
  permute(*in + (keepsRows ? 0 : first * strides.front()), shape, strides, size, out);
  return success();
}

//===-- reshape ------------------------------------------------------------------------------===//

RankedTensorType ReshapeAttr::getRecipeType() const {
  return RankedTensorType::get(getShape(), recipe(getInput()).getRecipeType().getElementType());
}

SmallVector<Attribute> ReshapeAttr::getRecipeInputs() const { return {getInput()}; }

LogicalResult ReshapeAttr::verifyRecipe(function_ref<InFlightDiagnostic()> emitError) const {
  if (failed(verifyInputs(getInput(), emitError)))
    return failure();
  RankedTensorType type = recipe(getInput()).getRecipeType();
  int64_t elements = 1;
  bool counted = true;
  for (int64_t size : getShape())
    counted &= size >= 0 && !llvm::MulOverflow(elements, size, elements);
  if (!counted || elements != type.getNumElements()) { // C1
    InFlightDiagnostic error = emitError() << "expects a shape of " << type.getNumElements()
                                           << " elements for " << type << ", got [";
    llvm::interleaveComma(getShape(), error);
    return error << "]";
  }
  return verifyBytes(getShape(), type.getElementType(), emitError);
}

LogicalResult ReshapeAttr::evaluateRows(RecipeSource &source, int64_t first, int64_t count,
                                        char *out) const {
  RankedTensorType from = recipe(getInput()).getRecipeType();
  int64_t row = rowBytes(getRecipeType()), inRow = rowBytes(from);
  if (count * row == 0)
    return success();
  // The input's rows that hold these bytes.
  int64_t begin = first * row, end = begin + count * row;
  int64_t firstRow = begin / inRow, rows = llvm::divideCeil(end, inRow) - firstRow;
  if (begin % inRow == 0 && end % inRow == 0)
    return recipe(getInput()).evaluateRows(source, firstRow, rows, out);
  std::vector<char> buffer;
  FailureOr<const char *> in = readRows(getInput(), source, firstRow, rows, buffer);
  if (failed(in))
    return failure();
  std::memcpy(out, *in + (begin - firstRow * inRow), end - begin);
  return success();
}

//===-- slice --------------------------------------------------------------------------------===//

RankedTensorType SliceAttr::getRecipeType() const {
  RankedTensorType type = recipe(getInput()).getRecipeType();
  SmallVector<int64_t> shape(type.getShape());
  shape[getAxis()] = getCount();
  return RankedTensorType::get(shape, type.getElementType());
}

SmallVector<Attribute> SliceAttr::getRecipeInputs() const { return {getInput()}; }

LogicalResult SliceAttr::verifyRecipe(function_ref<InFlightDiagnostic()> emitError) const {
  if (failed(verifyInputs(getInput(), emitError)))
    return failure();
  RankedTensorType type = recipe(getInput()).getRecipeType();
  if (getAxis() < 0 || getAxis() >= type.getRank()) // C1
    return emitError() << "expects an axis of " << type << ", got " << getAxis();
  int64_t size = type.getDimSize(getAxis());
  if (getFirst() < 0 || getCount() < 1 || getFirst() > size || getCount() > size - getFirst()) // C2
    return emitError() << "expects a range within the " << size << " places of axis " << getAxis()
                       << ", got " << getCount() << " from " << getFirst();
  return success();
}

LogicalResult SliceAttr::evaluateRows(RecipeSource &source, int64_t first, int64_t count,
                                      char *out) const {
  if (getAxis() == 0)
    return recipe(getInput()).evaluateRows(source, getFirst() + first, count, out);
  RankedTensorType from = recipe(getInput()).getRecipeType();
  std::vector<char> buffer;
  FailureOr<const char *> in = readRows(getInput(), source, first, count, buffer);
  if (failed(in))
    return failure();
  int64_t outer = count * countElements(from.getShape(), 1, getAxis());
  int64_t inner = getStorageBytes(from.getElementType(),
                                  countElements(from.getShape(), getAxis() + 1, from.getRank()));
  int64_t stride = inner * from.getDimSize(getAxis()), piece = inner * getCount();
  for (int64_t i = 0; i < outer; ++i)
    std::memcpy(out + i * piece, *in + i * stride + getFirst() * inner, piece);
  return success();
}
