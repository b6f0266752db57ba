// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weight recipes: types, checks, and evaluation in slices of the outermost axis. A step holds at
// most one slice of each input besides its own; only `transpose` reads its input column by column,
// straight from the mapped file if that is a stored tensor.
#include "dialects/Fovea/Recipes.h"
#include "dialects/Fovea/Elements.h"
#include "dialects/Fovea/Transpose.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>

using namespace mlir;
using namespace mlir::fovea;

void RecipeSource::release(StoredAttr) {}

int64_t mlir::fovea::rowBytes(RankedTensorType type) {
  int64_t bytes = getStorageBytes(type.getElementType(), 1);
  for (int64_t size : ArrayRef(getStorageShape(type)).drop_front(type.getRank() ? 1 : 0))
    bytes *= size;
  return bytes;
}

LogicalResult mlir::fovea::verifyInputs(ArrayRef<Attribute> inputs,
                                        function_ref<InFlightDiagnostic()> emitError) {
  for (Attribute input : inputs) {
    auto step = dyn_cast<RecipeAttrInterface>(input);
    if (!step)
      return emitError() << "expects a recipe, got " << input;
    if (failed(step.verifyRecipe(emitError)))
      return failure();
    if (getPanels(step.getRecipeType()))
      return emitError() << "expects panels as a recipe's last step, got " << input;
    if (getElementsPerByte(step.getRecipeType().getElementType()) != 1)
      return emitError() << "expects nothing but pack around elements that share bytes, got "
                         << input;
  }
  return success();
}

LogicalResult mlir::fovea::verifyBytes(ArrayRef<int64_t> shape, Type elementType,
                                       function_ref<InFlightDiagnostic()> emitError) {
  int64_t bytes = getStorageBytes(elementType, 1);
  for (int64_t size : getStorageShape(RankedTensorType::get(shape, elementType)))
    if (llvm::MulOverflow(bytes, std::max<int64_t>(size, 1), bytes))
      return emitError() << "expects a tensor of fewer than 2^63 bytes, got "
                         << RankedTensorType::get(shape, elementType);
  return success();
}

//===-- stored -------------------------------------------------------------------------------===//

RankedTensorType StoredAttr::getRecipeType() const { return getType(); }
SmallVector<Attribute> StoredAttr::getRecipeInputs() const { return {}; }

LogicalResult StoredAttr::verifyRecipe(function_ref<InFlightDiagnostic()> emitError) const {
  if (!getType().hasStaticShape()) // C1
    return emitError() << "expects a stored tensor of static shape, got " << getType();
  if (!getType().getElementType().isIntOrFloat()) // C2
    return emitError() << "expects a stored tensor of integers or floating-point numbers, got "
                       << getType();
  int64_t share = getElementsPerByte(getType().getElementType());
  if (share != 1 && (getType().getRank() < 2 || getType().getShape().back() % share != 0)) // C2
    return emitError() << "expects whole bytes in each row of a stored tensor, got " << getType();
  if (getType().getEncoding()) // C3
    return emitError() << "expects a stored tensor without an encoding, got " << getType();
  return verifyBytes(getType().getShape(), getType().getElementType(), emitError); // C1
}

LogicalResult StoredAttr::evaluateRows(RecipeSource &source, int64_t first, int64_t count,
                                       char *out) const {
  FailureOr<ArrayRef<char>> bytes = source.read(*this);
  if (failed(bytes))
    return failure();
  int64_t row = rowBytes(getType());
  assert(static_cast<int64_t>(bytes->size()) == getStorageBytes(getType()) &&
         "a source gives as many bytes as the type says");
  std::memcpy(out, bytes->data() + first * row, count * row);
  return success();
}

//===-- concat -------------------------------------------------------------------------------===//

RankedTensorType ConcatAttr::getRecipeType() const {
  RankedTensorType first = recipe(getParts().front()).getRecipeType();
  SmallVector<int64_t> shape(first.getShape());
  shape[getAxis()] = 0;
  for (Attribute part : getParts())
    shape[getAxis()] += recipe(part).getRecipeType().getDimSize(getAxis());
  return RankedTensorType::get(shape, first.getElementType());
}

SmallVector<Attribute> ConcatAttr::getRecipeInputs() const {
  return SmallVector<Attribute>(getParts());
}

LogicalResult ConcatAttr::verifyRecipe(function_ref<InFlightDiagnostic()> emitError) const {
  if (failed(verifyInputs(getParts(), emitError)))
    return failure();
  if (getParts().empty()) // C1
    return emitError() << "expects at least one part to concatenate";
  RankedTensorType first = recipe(getParts().front()).getRecipeType();
  if (getAxis() < 0 || getAxis() >= first.getRank()) // C1
    return emitError() << "expects an axis of " << first << ", got " << getAxis();
  SmallVector<int64_t> shape(first.getShape());
  shape[getAxis()] = 0;
  for (Attribute part : getParts()) {
    RankedTensorType type = recipe(part).getRecipeType();
    bool same =
        type.getElementType() == first.getElementType() && type.getRank() == first.getRank();
    for (int64_t axis = 0; same && axis < first.getRank(); ++axis)
      same = axis == getAxis() || type.getDimSize(axis) == first.getDimSize(axis);
    if (!same) // C2
      return emitError() << "expects parts that differ in axis " << getAxis() << " only, got "
                         << first << " and " << type;
    if (llvm::AddOverflow(shape[getAxis()], type.getDimSize(getAxis()), shape[getAxis()])) // C3
      return emitError() << "expects parts of fewer than 2^63 rows in all along axis " << getAxis();
  }
  return verifyBytes(shape, first.getElementType(), emitError); // C3
}

LogicalResult ConcatAttr::evaluateRows(RecipeSource &source, int64_t first, int64_t count,
                                       char *out) const {
  if (getAxis() == 0) {
    for (Attribute part : getParts()) {
      RankedTensorType type = recipe(part).getRecipeType();
      int64_t here = std::min(count, type.getDimSize(0) - first);
      if (here > 0) {
        if (failed(recipe(part).evaluateRows(source, first, here, out)))
          return failure();
        out += here * rowBytes(type);
        count -= here;
        first = 0;
      } else {
        first -= type.getDimSize(0);
      }
      if (count == 0)
        return success();
    }
    return success();
  }
  // Along an inner axis each row of the result is made of pieces of the parts' rows.
  RankedTensorType type = getRecipeType();
  int64_t outer = count;
  for (int64_t axis = 1; axis < getAxis(); ++axis)
    outer *= type.getDimSize(axis);
  int64_t inner = 1;
  for (int64_t axis = getAxis() + 1; axis < type.getRank(); ++axis)
    inner *= type.getDimSize(axis);
  int64_t stride = getStorageBytes(type.getElementType(), inner * type.getDimSize(getAxis()));
  int64_t offset = 0;
  for (Attribute part : getParts()) {
    RankedTensorType partType = recipe(part).getRecipeType();
    std::vector<char> rows(count * rowBytes(partType));
    if (failed(recipe(part).evaluateRows(source, first, count, rows.data())))
      return failure();
    int64_t piece = getStorageBytes(type.getElementType(), inner * partType.getDimSize(getAxis()));
    for (int64_t i = 0; i < outer; ++i)
      std::memcpy(out + i * stride + offset, rows.data() + i * piece, piece);
    offset += piece;
  }
  return success();
}

//===-- transpose ----------------------------------------------------------------------------===//

RankedTensorType TransposeAttr::getRecipeType() const {
  RankedTensorType type = recipe(getInput()).getRecipeType();
  return RankedTensorType::get({type.getDimSize(1), type.getDimSize(0)}, type.getElementType());
}

SmallVector<Attribute> TransposeAttr::getRecipeInputs() const { return {getInput()}; }

LogicalResult TransposeAttr::verifyRecipe(function_ref<InFlightDiagnostic()> emitError) const {
  if (failed(verifyInputs(getInput(), emitError)))
    return failure();
  RankedTensorType type = recipe(getInput()).getRecipeType();
  if (type.getRank() != 2) // C1
    return emitError() << "expects a matrix to transpose, got " << type;
  return success();
}

LogicalResult TransposeAttr::evaluateRows(RecipeSource &source, int64_t first, int64_t count,
                                          char *out) const {
  RankedTensorType type = recipe(getInput()).getRecipeType();
  int64_t rows = type.getDimSize(0), columns = type.getDimSize(1);
  int64_t size = getStorageBytes(type.getElementType(), 1);
  // Blocks of input rows bound the memory; a stored input is read in place, and given back before
  // all of it is there.
  constexpr int64_t kBlockRows = 256, kReleaseBytes = int64_t(32) << 20;
  int64_t walked = 0;
  std::vector<char> block;
  for (int64_t row = 0; row < rows; row += kBlockRows) {
    int64_t here = std::min(kBlockRows, rows - row);
    const char *data;
    if (auto stored = dyn_cast<StoredAttr>(getInput())) {
      FailureOr<ArrayRef<char>> bytes = source.read(stored);
      if (failed(bytes))
        return failure();
      data = bytes->data() + row * columns * size;
      walked += here * columns * size;
    } else {
      block.resize(here * columns * size);
      if (failed(recipe(getInput()).evaluateRows(source, row, here, block.data())))
        return failure();
      data = block.data();
    }
    transposeElements(data + first * size, columns * size, here, count, size, out + row * size,
                      rows * size);
    if (walked > kReleaseBytes) {
      source.release(cast<StoredAttr>(getInput()));
      walked = 0;
    }
  }
  return success();
}

//===-- cast, scale_columns ------------------------------------------------------------------===//

RankedTensorType CastAttr::getRecipeType() const {
  return recipe(getInput()).getRecipeType().clone(getElementType());
}

SmallVector<Attribute> CastAttr::getRecipeInputs() const { return {getInput()}; }

LogicalResult CastAttr::verifyRecipe(function_ref<InFlightDiagnostic()> emitError) const {
  if (failed(verifyInputs(getInput(), emitError)))
    return failure();
  Type from = recipe(getInput()).getRecipeType().getElementType();
  if (!isStorageFloat(from) || !isStorageFloat(getElementType())) // C1
    return emitError() << "expects a cast among f16, bf16, f32 and f64, got " << from << " to "
                       << getElementType();
  return verifyBytes(recipe(getInput()).getRecipeType().getShape(), getElementType(), // C2
                     emitError);
}

LogicalResult CastAttr::evaluateRows(RecipeSource &source, int64_t first, int64_t count,
                                     char *out) const {
  RankedTensorType from = recipe(getInput()).getRecipeType();
  std::vector<char> rows(count * rowBytes(from));
  if (failed(recipe(getInput()).evaluateRows(source, first, count, rows.data())))
    return failure();
  withElement(from.getElementType(), [&](auto source) {
    withElement(getElementType(), [&](auto target) {
      using From = decltype(source);
      using To = decltype(target);
      for (int64_t i = 0, n = rows.size() / From::kSize; i < n; ++i)
        To::store(From::load(rows.data() + i * From::kSize), out + i * To::kSize);
    });
  });
  return success();
}

RankedTensorType ScaleColumnsAttr::getRecipeType() const {
  return recipe(getInput()).getRecipeType();
}

SmallVector<Attribute> ScaleColumnsAttr::getRecipeInputs() const {
  return {getInput(), getScale()};
}

LogicalResult ScaleColumnsAttr::verifyRecipe(function_ref<InFlightDiagnostic()> emitError) const {
  if (failed(verifyInputs({getInput(), getScale()}, emitError)))
    return failure();
  RankedTensorType matrix = recipe(getInput()).getRecipeType();
  RankedTensorType vector = recipe(getScale()).getRecipeType();
  if (matrix.getRank() != 2 || vector.getRank() != 1 ||
      matrix.getDimSize(1) != vector.getDimSize(0)) // C1
    return emitError() << "expects a matrix and a vector for its columns, got " << matrix << " and "
                       << vector;
  if (!isStorageFloat(matrix.getElementType()) || !isStorageFloat(vector.getElementType())) // C2
    return emitError() << "expects elements of f16, bf16, f32 or f64, got " << matrix << " and "
                       << vector;
  return success();
}

LogicalResult ScaleColumnsAttr::evaluateRows(RecipeSource &source, int64_t first, int64_t count,
                                             char *out) const {
  RankedTensorType type = getRecipeType();
  RankedTensorType scaleType = recipe(getScale()).getRecipeType();
  int64_t columns = type.getDimSize(1);
  int64_t scaleSize = getStorageBytes(scaleType.getElementType(), 1);
  std::vector<char> scale(columns * scaleSize);
  if (failed(recipe(getScale()).evaluateRows(source, 0, columns, scale.data())) ||
      failed(recipe(getInput()).evaluateRows(source, first, count, out)))
    return failure();
  double offset = getOffset().getValueAsDouble();
  std::vector<double> factors(columns);
  withElement(scaleType.getElementType(), [&](auto element) {
    using Element = decltype(element);
    for (int64_t k = 0; k < columns; ++k)
      factors[k] = Element::load(scale.data() + k * Element::kSize) + offset;
  });
  withElement(type.getElementType(), [&](auto element) {
    using Element = decltype(element);
    for (int64_t i = 0; i < count; ++i)
      for (int64_t k = 0; k < columns; ++k) {
        char *at = out + (i * columns + k) * Element::kSize;
        Element::store(double(Element::load(at)) * factors[k], at);
      }
  });
  return success();
}
