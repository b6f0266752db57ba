// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weight recipes: types and checks. Their bytes are computed in weights/.
#include "dialects/Fovea/Blocks.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fovea;

static bool isStorageFloat(Type type) {
  return type.isF16() || type.isBF16() || type.isF32() || type.isF64();
}

namespace {
/// Which elements that share bytes a step takes: none; blocks, of which it keeps the last axis
/// whole; all.
enum class Shared { None, Blocks, All };
} // namespace

/// Checks that all inputs are recipes, right in themselves, and do not give panels, nor elements
/// that share bytes in a way that the step does not know.
static LogicalResult verifyInputs(ArrayRef<Attribute> inputs,
                                  function_ref<InFlightDiagnostic()> emitError,
                                  Shared shared = Shared::None) {
  for (Attribute input : inputs) {
    auto step = dyn_cast<RecipeAttrInterface>(input);
    if (!step)
      return emitError() << "expects a recipe, got " << input;
    if (failed(step.verifyRecipe(emitError)))
      return failure();
    if (getPanels(step.getRecipeType()))
      return emitError() << "expects panels as a recipe's last step, got " << input;
    Type element = step.getRecipeType().getElementType();
    bool isKnown = shared == Shared::All || (shared == Shared::Blocks && getBlockFormat(element));
    if (sharesBytes(element) && !isKnown)
      return emitError()
             << (getBlockFormat(element)
                     ? "expects steps around blocks that keep rows whole, got "
                     : "expects nothing but pack around elements that share bytes, got ")
             << input;
  }
  return success();
}

/// Checks that the bytes of a tensor of this shape can be counted in 63 bits: all sizes that
/// evaluation computes are products of some of the axes.
static LogicalResult verifyBytes(ArrayRef<int64_t> shape, Type elementType,
                                 function_ref<InFlightDiagnostic()> emitError) {
  int64_t bytes = getStorageBytes(getStorageType(elementType), 1);
  for (int64_t size : getStorageShape(RankedTensorType::get(shape, elementType)))
    if (llvm::MulOverflow(bytes, std::max<int64_t>(size, 1), bytes))
      return emitError() << "expects a tensor of fewer than 2^63 bytes, got "
                         << RankedTensorType::get(shape, elementType);
  return success();
}

//===-- stored -------------------------------------------------------------------------------===//

RankedTensorType StoredAttr::getRecipeType() const { return getType(); }

LogicalResult StoredAttr::verifyRecipe(function_ref<InFlightDiagnostic()> emitError) const {
  if (!getType().hasStaticShape()) // C1
    return emitError() << "expects a stored tensor of static shape, got " << getType();
  const BlockFormat *blocks = getBlockFormat(getType());
  if (!getType().getElementType().isIntOrFloat() && !blocks) // C2
    return emitError() << "expects a stored tensor of integers, floating-point numbers or blocks, "
                          "got "
                       << getType();
  if (blocks && (getType().getRank() < 2 || getType().getShape().back() % blocks->elements != 0))
    return emitError() << "expects whole blocks of " << blocks->elements
                       << " in each row of a stored tensor, got " << getType(); // C2
  int64_t share = getElementsPerByte(getType().getElementType());
  if (share != 1 && (getType().getRank() < 2 || getType().getShape().back() % share != 0)) // C2
    return emitError() << "expects whole bytes in each row of a stored tensor, got " << getType();
  if (getType().getEncoding()) // C3
    return emitError() << "expects a stored tensor without an encoding, got " << getType();
  return verifyBytes(getType().getShape(), getType().getElementType(), emitError); // C1
}

//===-- concat -------------------------------------------------------------------------------===//

RankedTensorType ConcatAttr::getRecipeType() const {
  RankedTensorType first = getTypeOfRecipe(getParts().front());
  SmallVector<int64_t> shape(first.getShape());
  shape[getAxis()] = 0;
  for (Attribute part : getParts())
    shape[getAxis()] += getTypeOfRecipe(part).getDimSize(getAxis());
  return RankedTensorType::get(shape, first.getElementType());
}

LogicalResult ConcatAttr::verifyRecipe(function_ref<InFlightDiagnostic()> emitError) const {
  if (failed(verifyInputs(getParts(), emitError, getAxis() == 0 ? Shared::Blocks : Shared::None)))
    return failure();
  if (getParts().empty()) // C1
    return emitError() << "expects at least one part to concatenate";
  RankedTensorType first = getTypeOfRecipe(getParts().front());
  if (getAxis() < 0 || getAxis() >= first.getRank()) // C1
    return emitError() << "expects an axis of " << first << ", got " << getAxis();
  SmallVector<int64_t> shape(first.getShape());
  shape[getAxis()] = 0;
  for (Attribute part : getParts()) {
    RankedTensorType type = getTypeOfRecipe(part);
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

//===-- transpose ----------------------------------------------------------------------------===//

RankedTensorType TransposeAttr::getRecipeType() const {
  RankedTensorType type = getTypeOfRecipe(getInput());
  return RankedTensorType::get({type.getDimSize(1), type.getDimSize(0)}, type.getElementType());
}

LogicalResult TransposeAttr::verifyRecipe(function_ref<InFlightDiagnostic()> emitError) const {
  if (failed(verifyInputs(getInput(), emitError)))
    return failure();
  RankedTensorType type = getTypeOfRecipe(getInput());
  if (type.getRank() != 2) // C1
    return emitError() << "expects a matrix to transpose, got " << type;
  return success();
}

//===-- permute ------------------------------------------------------------------------------===//

RankedTensorType PermuteAttr::getRecipeType() const {
  RankedTensorType type = getTypeOfRecipe(getInput());
  SmallVector<int64_t> shape =
      llvm::map_to_vector(getAxes(), [&](int64_t axis) { return type.getDimSize(axis); });
  return RankedTensorType::get(shape, type.getElementType());
}

LogicalResult PermuteAttr::verifyRecipe(function_ref<InFlightDiagnostic()> emitError) const {
  if (failed(verifyInputs(getInput(), emitError)))
    return failure();
  RankedTensorType type = getTypeOfRecipe(getInput());
  SmallVector<int64_t> sorted(getAxes());
  llvm::sort(sorted);
  if (!llvm::equal(sorted, llvm::seq<int64_t>(0, type.getRank()))) { // C1
    InFlightDiagnostic error = emitError() << "expects each axis of " << type << " once, got [";
    llvm::interleaveComma(getAxes(), error);
    return error << "]";
  }
  return success();
}

//===-- reshape ------------------------------------------------------------------------------===//

RankedTensorType ReshapeAttr::getRecipeType() const {
  return RankedTensorType::get(getShape(), getTypeOfRecipe(getInput()).getElementType());
}

LogicalResult ReshapeAttr::verifyRecipe(function_ref<InFlightDiagnostic()> emitError) const {
  if (failed(verifyInputs(getInput(), emitError, Shared::Blocks)))
    return failure();
  RankedTensorType type = getTypeOfRecipe(getInput());
  if (getBlockFormat(type) &&
      (getShape().empty() || getShape().back() != type.getShape().back())) // C2
    return emitError() << "expects rows of blocks to stay as they are, got " << type;
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

//===-- slice --------------------------------------------------------------------------------===//

RankedTensorType SliceAttr::getRecipeType() const {
  RankedTensorType type = getTypeOfRecipe(getInput());
  SmallVector<int64_t> shape(type.getShape());
  shape[getAxis()] = getCount();
  return RankedTensorType::get(shape, type.getElementType());
}

LogicalResult SliceAttr::verifyRecipe(function_ref<InFlightDiagnostic()> emitError) const {
  if (failed(verifyInputs(getInput(), emitError, getAxis() == 0 ? Shared::Blocks : Shared::None)))
    return failure();
  RankedTensorType type = getTypeOfRecipe(getInput());
  if (getAxis() < 0 || getAxis() >= type.getRank()) // C1
    return emitError() << "expects an axis of " << type << ", got " << getAxis();
  int64_t size = type.getDimSize(getAxis());
  if (getFirst() < 0 || getCount() < 1 || getFirst() > size || getCount() > size - getFirst()) // C2
    return emitError() << "expects a range within the " << size << " places of axis " << getAxis()
                       << ", got " << getCount() << " from " << getFirst();
  return success();
}

//===-- cast, scale_columns ------------------------------------------------------------------===//

RankedTensorType CastAttr::getRecipeType() const {
  return getTypeOfRecipe(getInput()).clone(getElementType());
}

LogicalResult CastAttr::verifyRecipe(function_ref<InFlightDiagnostic()> emitError) const {
  if (failed(verifyInputs(getInput(), emitError, Shared::Blocks)))
    return failure();
  Type from = getTypeOfRecipe(getInput()).getElementType();
  if ((!isStorageFloat(from) && !getBlockFormat(from)) || !isStorageFloat(getElementType())) // C1
    return emitError() << "expects a cast among f16, bf16, f32 and f64, got " << from << " to "
                       << getElementType();
  return verifyBytes(getTypeOfRecipe(getInput()).getShape(), getElementType(), // C2
                     emitError);
}

RankedTensorType ScaleColumnsAttr::getRecipeType() const { return getTypeOfRecipe(getInput()); }

LogicalResult ScaleColumnsAttr::verifyRecipe(function_ref<InFlightDiagnostic()> emitError) const {
  if (failed(verifyInputs({getInput(), getScale()}, emitError)))
    return failure();
  RankedTensorType matrix = getTypeOfRecipe(getInput());
  RankedTensorType vector = getTypeOfRecipe(getScale());
  if (matrix.getRank() != 2 || vector.getRank() != 1 ||
      matrix.getDimSize(1) != vector.getDimSize(0)) // C1
    return emitError() << "expects a matrix and a vector for its columns, got " << matrix << " and "
                       << vector;
  if (!isStorageFloat(matrix.getElementType()) || !isStorageFloat(vector.getElementType())) // C2
    return emitError() << "expects elements of f16, bf16, f32 or f64, got " << matrix << " and "
                       << vector;
  return success();
}

//===-- quantize, quantization_scales --------------------------------------------------------===//

template <typename Step>
static LogicalResult verifyQuantization(Step step, function_ref<InFlightDiagnostic()> emitError) {
  if (failed(verifyInputs(step.getInput(), emitError)))
    return failure();
  RankedTensorType type = getTypeOfRecipe(step.getInput());
  Type elementType = step.getElementType(), scaleType = step.getScaleType();
  int64_t group = step.getGroup();
  if (type.getRank() != 2 || !isStorageFloat(type.getElementType())) // C1
    return emitError() << "expects a matrix of f16, bf16, f32 or f64 to quantise, got " << type;
  if (!elementType.isSignlessInteger(8) && !elementType.isSignlessInteger(4)) // C2
    return emitError() << "expects to quantise to i8 or i4, got " << elementType;
  if (!scaleType.isF32() && !(scaleType.isF16() && group != 0)) // C3
    return emitError() << "expects scales of f32, or of groups f16, got " << scaleType;
  int64_t inputs = type.getDimSize(1);
  if (group < 0 || (group != 0 && inputs % group != 0)) // C4
    return emitError() << "expects groups that divide " << inputs << " inputs evenly, got "
                       << group;
  if (inputs % getElementsPerByte(elementType) != 0 || group % getElementsPerByte(elementType) != 0)
    return emitError() << "expects an even number of inputs in rows and groups of i4, got " // C2
                       << (group ? group : inputs) << " of " << inputs;
  return success();
}

RankedTensorType QuantizeAttr::getRecipeType() const {
  return RankedTensorType::get(getTypeOfRecipe(getInput()).getShape(), getElementType());
}

LogicalResult QuantizeAttr::verifyRecipe(function_ref<InFlightDiagnostic()> emitError) const {
  return verifyQuantization(*this, emitError);
}

RankedTensorType QuantizationScalesAttr::getRecipeType() const {
  RankedTensorType type = getTypeOfRecipe(getInput());
  SmallVector<int64_t, 2> shape{type.getDimSize(0)};
  if (getGroup() != 0)
    shape.push_back(type.getDimSize(1) / getGroup());
  return RankedTensorType::get(shape, getScaleType());
}

LogicalResult
QuantizationScalesAttr::verifyRecipe(function_ref<InFlightDiagnostic()> emitError) const {
  return verifyQuantization(*this, emitError);
}

//===-- pack ---------------------------------------------------------------------------------===//

RankedTensorType PackAttr::getRecipeType() const {
  RankedTensorType type = getTypeOfRecipe(getInput());
  return RankedTensorType::get(type.getShape(), type.getElementType(), getPanels());
}

LogicalResult PackAttr::verifyRecipe(function_ref<InFlightDiagnostic()> emitError) const {
  if (failed(verifyInputs(getInput(), emitError, Shared::All))) // C3
    return failure();
  RankedTensorType type = getTypeOfRecipe(getInput());
  // C1, C2
  return getPanels() ? getPanels().verifyEncoding(type.getShape(), type.getElementType(), emitError)
                     : success();
}
