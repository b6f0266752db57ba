// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Evaluation of recipes. A step holds at most one slice of each input besides its own; only
// `transpose` reads its input column by column, straight from the mapped file if that is a stored
// tensor.
#include "weights/Evaluate.h"
#include "dialects/Fovea/Try.h"
#include "weights/Blocks.h"
#include "weights/Elements.h"
#include "weights/Steps.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include <algorithm>

using namespace mlir;
using namespace mlir::fovea;

LogicalResult mlir::fovea::evaluateRows(RecipeAttrInterface recipe, RecipeSource &source,
                                        int64_t first, int64_t count, char *out) {
  return llvm::TypeSwitch<Attribute, LogicalResult>(recipe)
      .Case<StoredAttr, ConcatAttr, TransposeAttr, PermuteAttr, ReshapeAttr, SliceAttr, CastAttr,
            ScaleColumnsAttr, UnpackAttr, GroupOrderAttr, ScaleBlocksAttr, QuantizeAttr,
            QuantizationScalesAttr, PackAttr>(
          [&](auto step) { return evaluate(step, {source, first, count, out}); })
      .DefaultUnreachable("expects one of the dialect's recipes");
}

SmallVector<StoredAttr> mlir::fovea::getStoredTensors(Attribute recipe) {
  llvm::SetVector<Attribute> steps;
  steps.insert(recipe);
  SmallVector<StoredAttr> tensors;
  for (size_t i = 0; i < steps.size(); ++i) {
    Attribute step = steps[i];
    if (auto stored = dyn_cast<StoredAttr>(step))
      tensors.push_back(stored);
    step.walkImmediateSubElements([&](Attribute input) { steps.insert(input); }, [](Type) {});
  }
  return tensors;
}

//===-- Inputs -------------------------------------------------------------------------------===//

int64_t mlir::fovea::getBytesFrom(RankedTensorType type, int64_t axis) {
  ArrayRef<int64_t> inner = type.getShape().drop_front(std::min(axis, type.getRank()));
  return getStorageBytes(type.getElementType(), ShapedType::getNumElements(inner));
}

FailureOr<const char *> mlir::fovea::readRows(Attribute input, RecipeSource &source, int64_t first,
                                              int64_t count, std::vector<char> &buffer) {
  int64_t row = getBytesFrom(getTypeOfRecipe(input), 1);
  if (auto stored = dyn_cast<StoredAttr>(input)) {
    TRY(ArrayRef<char> bytes, source.read(stored));
    assert(static_cast<int64_t>(bytes.size()) == getStorageBytes(stored.getType()) &&
           "a source gives as many bytes as the type says");
    return bytes.data() + first * row;
  }
  buffer.resize(count * row);
  if (failed(evaluateRows(recipe(input), source, first, count, buffer.data())))
    return failure();
  return const_cast<const char *>(buffer.data());
}

LogicalResult mlir::fovea::walkRows(
    Attribute input, RecipeSource &source, int64_t first, int64_t count, int64_t blockRows,
    function_ref<LogicalResult(int64_t first, int64_t count, const char *rows)> take) {
  constexpr int64_t kReleaseBytes = int64_t(32) << 20;
  SmallVector<StoredAttr> tensors = getStoredTensors(input);
  std::vector<char> buffer;
  int64_t walked = 0;
  for (int64_t end = first + count; first < end; first += blockRows) {
    int64_t here = std::min(blockRows, end - first);
    FailureOr<const char *> rows = readRows(input, source, first, here, buffer);
    if (failed(rows) || failed(take(first, here, *rows)))
      return failure();
    walked += here * getBytesFrom(getTypeOfRecipe(input), 1);
    if (walked > kReleaseBytes) {
      for (StoredAttr tensor : tensors)
        source.release(tensor);
      walked = 0;
    }
  }
  return success();
}

//===-- stored, cast, scale_columns ----------------------------------------------------------===//

LogicalResult mlir::fovea::evaluate(StoredAttr step, RecipeRows rows) {
  std::vector<char> unused;
  TRY(auto *in, readRows(step, rows.source, rows.first, rows.count, unused));
  std::copy_n(in, rows.count * getBytesFrom(step.getType(), 1), rows.out);
  return success();
}

LogicalResult mlir::fovea::evaluate(CastAttr step, RecipeRows rows) {
  RankedTensorType type = getTypeOfRecipe(step.getInput());
  std::vector<char> buffer;
  TRY(auto *in, readRows(step.getInput(), rows.source, rows.first, rows.count, buffer));
  if (std::optional<BlockFormat> format = getBlockFormat(type)) {
    int64_t count = ShapedType::getNumElements(type.getShape().drop_front()) * rows.count;
    std::vector<float> numbers(count);
    readNumbers(*format, in, count, numbers.data());
    withElement(step.getElementType(), [&](auto target) {
      using To = decltype(target);
      for (int64_t i = 0; i < count; ++i)
        To::store(numbers[i], rows.out + i * To::kSize);
    });
    return success();
  }
  withElement(type.getElementType(), [&](auto source) {
    withElement(step.getElementType(), [&](auto target) {
      using From = decltype(source);
      using To = decltype(target);
      for (int64_t i = 0, n = rows.count * getBytesFrom(type, 1) / From::kSize; i < n; ++i)
        To::store(From::load(in + i * From::kSize), rows.out + i * To::kSize);
    });
  });
  return success();
}

LogicalResult mlir::fovea::evaluate(ScaleColumnsAttr step, RecipeRows rows) {
  RankedTensorType type = step.getRecipeType();
  int64_t columns = type.getDimSize(1);
  std::vector<char> buffer;
  FailureOr<const char *> scale = readRows(step.getScale(), rows.source, 0, columns, buffer);
  if (failed(scale) ||
      failed(evaluateRows(recipe(step.getInput()), rows.source, rows.first, rows.count, rows.out)))
    return failure();
  double offset = step.getOffset().getValueAsDouble();
  std::vector<double> factors(columns);
  withElement(getTypeOfRecipe(step.getScale()).getElementType(), [&](auto element) {
    using Element = decltype(element);
    for (int64_t k = 0; k < columns; ++k)
      factors[k] = Element::load(*scale + k * Element::kSize) + offset;
  });
  withElement(type.getElementType(), [&](auto element) {
    using Element = decltype(element);
    for (int64_t i = 0; i < rows.count; ++i)
      for (int64_t k = 0; k < columns; ++k) {
        char *at = rows.out + (i * columns + k) * Element::kSize;
        Element::store(double(Element::load(at)) * factors[k], at);
      }
  });
  return success();
}
