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

/// Checks that of blocks a step keeps rows whole.
static LogicalResult verifyWholeRows(Attribute input, bool isWhole,
                                     function_ref<InFlightDiagnostic()> emitError) {
  if (isWhole || !getBlockFormat(getTypeOfRecipe(input)))
    return success();
  return emitError() << "expects steps around blocks that keep rows whole, got " << input;
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
  std::optional<BlockFormat> blocks = getBlockFormat(getType());
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
  if (failed(verifyInputs(getInput(), emitError, Shared::Blocks)))
    return failure();
  RankedTensorType type = getTypeOfRecipe(getInput());
  SmallVector<int64_t> sorted(getAxes());
  llvm::sort(sorted);
  if (!llvm::equal(sorted, llvm::seq<int64_t>(0, type.getRank()))) { // C1
    InFlightDiagnostic error = emitError() << "expects each axis of " << type << " once, got [";
    llvm::interleaveComma(getAxes(), error);
    return error << "]";
  }
  return verifyWholeRows(getInput(), getAxes().empty() || getAxes().back() == type.getRank() - 1,
                         emitError); // C2
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
  if (failed(verifyInputs(getInput(), emitError, Shared::Blocks)))
    return failure();
  RankedTensorType type = getTypeOfRecipe(getInput());
  if (failed(verifyWholeRows(getInput(), getAxis() + 1 < type.getRank(), emitError))) // C3
    return failure();
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

//===-- unpack, group_order, scale_blocks ----------------------------------------------------===//

namespace {
/// The shapes that the parts of a packed matrix have; of codes and zeros with their element type.
struct PackedShapes {
  int64_t outputs = 0, inputs = 0;
  SmallVector<int64_t> scales, zeros;
};
} // namespace

/// How many codes an i32 has.
static int64_t getCodesPerWord(UnpackAttr step) {
  auto type = dyn_cast<BlocksType>(step.getElementType());
  return type && getBlockFormat(type)->codeBits == 8 ? 4 : 8;
}

/// Codes have the rank that the packing asks for.
static PackedShapes getPackedShapes(UnpackAttr step) {
  PackedShapes shapes;
  ArrayRef<int64_t> codes = getTypeOfRecipe(step.getCodes()).getShape();
  int64_t each = getCodesPerWord(step);
  if (step.getPacking() == Packing::Mxfp4) {
    shapes.inputs = codes[codes.size() - 2] * 32;
    shapes.outputs = ShapedType::getNumElements(codes.drop_back(2));
    shapes.scales.assign(codes.begin(), codes.end() - 1);
    return shapes;
  }
  bool inPairs = step.getPacking() == Packing::Gptq || step.getPacking() == Packing::GptqV2;
  bool isRowMajor = step.getPacking() == Packing::Rows || step.getPacking() == Packing::Bytes;
  if (step.getPacking() == Packing::Bytes)
    each = 1;
  shapes.outputs = isRowMajor ? codes[0] : inPairs ? codes[1] : codes[1] * each;
  shapes.inputs = isRowMajor ? codes[1] * each : inPairs ? codes[0] * each : codes[0];
  std::optional<BlockFormat> format = getBlockFormat(step.getElementType());
  int64_t groups = format ? shapes.inputs / format->group : 0;
  int64_t words = llvm::divideCeil(shapes.outputs, each);
  shapes.scales = {isRowMajor ? shapes.outputs : groups, isRowMajor ? groups : shapes.outputs};
  shapes.zeros = {isRowMajor ? words : groups, isRowMajor ? groups : words};
  return shapes;
}

RankedTensorType UnpackAttr::getRecipeType() const {
  PackedShapes shapes = getPackedShapes(*this);
  return RankedTensorType::get({shapes.outputs, shapes.inputs}, getElementType());
}

/// Checks one part of a packed matrix.
static LogicalResult verifyPart(StringRef what, Attribute part, ArrayRef<int64_t> shape,
                                function_ref<bool(Type)> isElement, StringRef elements,
                                function_ref<InFlightDiagnostic()> emitError) {
  RankedTensorType type = getTypeOfRecipe(part);
  if (type.getShape() == shape && isElement(type.getElementType()))
    return success();
  InFlightDiagnostic error = emitError() << "expects " << what << " of " << elements << " [";
  llvm::interleaveComma(shape, error);
  return error << "], got " << type;
}

static bool isScale(Type type) { return type.isF16() || type.isBF16() || type.isF32(); }

/// Whether a packing gives such blocks.
static bool givesBlocks(Packing packing, BlockKind kind) {
  if (packing == Packing::Mxfp4 || !isOfIntegers(kind))
    return packing == Packing::Mxfp4 && kind == BlockKind::MXFP4;
  bool ofBytes = kind == BlockKind::Int8 || kind == BlockKind::Int8Offset;
  return packing == Packing::Bytes ? ofBytes : !ofBytes || packing != Packing::Awq;
}

LogicalResult UnpackAttr::verifyRecipe(function_ref<InFlightDiagnostic()> emitError) const {
  SmallVector<Attribute> inputs{getCodes(), getScales()};
  for (Attribute input : {getZeros(), getOrder()})
    if (input)
      inputs.push_back(input);
  if (failed(verifyInputs(inputs, emitError)))
    return failure();
  std::optional<BlockFormat> format = getBlockFormat(getElementType());
  if (!format || isa<RankedTensorType>(getElementType()) ||
      !givesBlocks(getPacking(), format->kind) || format->hasOffsets != !!getZeros()) // C1
    return emitError() << "expects blocks as " << stringifyPacking(getPacking())
                       << (getZeros() ? " gives them with zeros, got "
                                      : " gives them without zeros, got ")
                       << getElementType();
  bool isMxfp4 = getPacking() == Packing::Mxfp4;
  unsigned bits = isMxfp4 || getPacking() == Packing::Bytes ? 8 : 32;
  RankedTensorType codes = getTypeOfRecipe(getCodes());
  bool isRank =
      isMxfp4 ? codes.getRank() >= 3 && codes.getShape().back() == 16 : codes.getRank() == 2;
  constexpr int64_t kMostOfAxis = int64_t(1) << 40; // so that what they hold can be counted
  isRank &= llvm::all_of(codes.getShape(), [](int64_t size) { return size <= kMostOfAxis; });
  if (!isRank || !codes.getElementType().isSignlessInteger(bits)) // C2
    return emitError() << "expects codes of i" << bits << " as " << stringifyPacking(getPacking())
                       << " packs them, got " << codes;
  PackedShapes shapes = getPackedShapes(*this);
  if (failed(verifyBytes({shapes.outputs, shapes.inputs}, getElementType(), emitError)))
    return failure();
  if (shapes.inputs == 0 || shapes.inputs % format->elements != 0) // C2
    return emitError() << "expects whole blocks of " << format->elements << " in each row, got "
                       << getRecipeType();
  auto isInteger = [&](Type type) { return type.isSignlessInteger(bits); };
  if (failed(isMxfp4 ? verifyPart("scales", getScales(), shapes.scales, isInteger, "i8", emitError)
                     : verifyPart("scales", getScales(), shapes.scales, isScale, "f16, bf16 or f32",
                                  emitError))) // C3
    return failure();
  if (getZeros() && failed(verifyPart("zeros", getZeros(), shapes.zeros, isInteger,
                                      bits == 8 ? "i8" : "i32", emitError))) // C2
    return failure();
  bool mayBeOrdered = !isMxfp4 && getPacking() != Packing::Awq;
  if (getOrder() && !mayBeOrdered) // C4
    return emitError() << "expects no order of inputs for " << stringifyPacking(getPacking());
  return getOrder() ? verifyPart(
                          "an order", getOrder(), shapes.inputs,
                          [](Type type) { return type.isSignlessInteger(32); }, "i32", emitError)
                    : success();
}

RankedTensorType GroupOrderAttr::getRecipeType() const { return getTypeOfRecipe(getInput()); }

LogicalResult GroupOrderAttr::verifyRecipe(function_ref<InFlightDiagnostic()> emitError) const {
  if (failed(verifyInputs(getInput(), emitError)))
    return failure();
  RankedTensorType type = getTypeOfRecipe(getInput());
  if (type.getRank() != 1 || !type.getElementType().isSignlessInteger(32)) // C1
    return emitError() << "expects a group of i32 for each input, got " << type;
  return success();
}

RankedTensorType ScaleBlocksAttr::getRecipeType() const {
  return getTypeOfRecipe(getInput()).clone(getElementType());
}

LogicalResult ScaleBlocksAttr::verifyRecipe(function_ref<InFlightDiagnostic()> emitError) const {
  if (failed(verifyInputs({getInput(), getScales()}, emitError)))
    return failure();
  RankedTensorType type = getTypeOfRecipe(getInput());
  if (type.getRank() != 2 || !isa<Float8E4M3FNType>(type.getElementType())) // C1
    return emitError() << "expects a matrix of f8E4M3FN to scale, got " << type;
  if (getRows() <= 0 || getColumns() <= 0) // C2
    return emitError() << "expects blocks of positive sizes, got " << getRows() << " and "
                       << getColumns();
  SmallVector<int64_t> blocks{llvm::divideCeilSigned(type.getDimSize(0), getRows()),
                              llvm::divideCeilSigned(type.getDimSize(1), getColumns())};
  if (failed(
          verifyPart("scales", getScales(), blocks, isScale, "f16, bf16 or f32", emitError))) // C2
    return failure();
  if (!isStorageFloat(getElementType())) // C3
    return emitError() << "expects a result of f16, bf16, f32 or f64, got " << getElementType();
  return verifyBytes(type.getShape(), getElementType(), emitError); // C4
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
