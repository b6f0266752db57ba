// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weight recipes: types, checks, and evaluation in slices of the outermost axis. A step holds at
// most one slice of each input besides its own; only `transpose` reads its input column by column,
// straight from the mapped file if that is a stored tensor.
#include "dialects/Fovea/Recipes.h"
#include "dialects/Fovea/Transpose.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>

using namespace mlir;
using namespace mlir::fovea;

void RecipeSource::release(StoredAttr) {}

int64_t mlir::fovea::rowBytes(RankedTensorType type) {
  int64_t elements = 1;
  for (int64_t size : type.getShape().drop_front(type.getRank() ? 1 : 0))
    elements *= size;
  return getStorageBytes(type.getElementType(), elements);
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
  }
  return success();
}

LogicalResult mlir::fovea::verifyBytes(ArrayRef<int64_t> shape, Type elementType,
                                       function_ref<InFlightDiagnostic()> emitError) {
  int64_t bytes = getStorageBytes(elementType, 1);
  for (int64_t size : shape)
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
  assert(static_cast<int64_t>(bytes->size()) ==
             getStorageBytes(getType().getElementType(), getType().getNumElements()) &&
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

/// The element types of recipes, each with a way to read and to write one element. 16-bit types are
/// read as f32, which holds all of their values; writing rounds to nearest even, once. Loops over
/// these have no branch and vectorise, but for f64 to 16 bits.
struct F64Element {
  using Wide = double;
  static constexpr int64_t kSize = 8;
  static double load(const char *at) {
    double value;
    std::memcpy(&value, at, 8);
    return value;
  }
  static void store(double value, char *at) { std::memcpy(at, &value, 8); }
};

static float asFloat(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

static uint32_t asBits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}

struct F32Element {
  using Wide = float;
  static constexpr int64_t kSize = 4;
  static float load(const char *at) {
    float value;
    std::memcpy(&value, at, 4);
    return value;
  }
  static void store(double value, char *at) { store(static_cast<float>(value), at); }
  static void store(float value, char *at) { std::memcpy(at, &value, 4); }
};

static uint16_t loadBits16(const char *at) {
  uint16_t bits;
  std::memcpy(&bits, at, 2);
  return bits;
}

/// f64 to 16 bits in one rounding.
static void storeRounded(const llvm::fltSemantics &semantics, double value, char *at) {
  llvm::APFloat number(value);
  bool lost;
  number.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &lost);
  uint16_t bits = static_cast<uint16_t>(number.bitcastToAPInt().getZExtValue());
  std::memcpy(at, &bits, 2);
}

struct BF16Element {
  using Wide = float;
  static constexpr int64_t kSize = 2;
  static float load(const char *at) { return asFloat(uint32_t(loadBits16(at)) << 16); }
  static void store(double value, char *at) { storeRounded(llvm::APFloat::BFloat(), value, at); }
  static void store(float value, char *at) {
    uint32_t bits = asBits(value);
    uint32_t rounded = bits + 0x7fff + ((bits >> 16) & 1); // half, or a bit less for even
    bool isNan = (bits & 0x7fffffff) > 0x7f800000;
    uint16_t result = static_cast<uint16_t>((isNan ? bits | 0x00400000 : rounded) >> 16);
    std::memcpy(at, &result, 2);
  }
};

struct F16Element {
  using Wide = float;
  static constexpr int64_t kSize = 2;
  static float load(const char *at) {
    uint32_t bits = loadBits16(at);
    // The exponent's bias is 15 here and 127 in f32: times 2^112 is exact, for subnormals too.
    // Infinities and NaNs keep their mantissa and get the highest exponent.
    uint32_t magnitude = (bits & 0x7fff) << 13;
    uint32_t scaled = asBits(asFloat(magnitude) * asFloat(uint32_t(127 + 112) << 23));
    scaled |= magnitude >= (uint32_t(31) << 23) ? 0x7f800000u : 0u;
    return asFloat(scaled | (bits & 0x8000) << 16);
  }
  static void store(double value, char *at) { storeRounded(llvm::APFloat::IEEEhalf(), value, at); }
  static void store(float value, char *at) {
    uint32_t bits = asBits(value);
    uint32_t sign = (bits >> 16) & 0x8000;
    uint32_t magnitude = bits & 0x7fffffff;
    // Below 2^-14 the result's last place is 2^-24, which is that of a f32 between 0.5 and 1.
    uint32_t small = asBits(asFloat(magnitude) + 0.5f) - asBits(0.5f);
    // Else 13 bits are rounded off; a carry goes into the exponent, at the end to infinity.
    uint32_t normal = (magnitude - (uint32_t(112) << 23) + 0xfff + ((magnitude >> 13) & 1)) >> 13;
    uint32_t special = magnitude > 0x7f800000 ? 0x7e00 | ((magnitude >> 13) & 0x3ff) : 0x7c00;
    uint32_t finite = magnitude < (uint32_t(127 - 14) << 23) ? small : normal;
    uint16_t result =
        static_cast<uint16_t>(sign | (magnitude < (uint32_t(127 + 16) << 23) ? finite : special));
    std::memcpy(at, &result, 2);
  }
};

/// Calls `action` with the element type of a recipe's `type`.
template <typename Action> static void withElement(Type type, Action action) {
  if (type.isF64())
    action(F64Element());
  else if (type.isF32())
    action(F32Element());
  else if (type.isBF16())
    action(BF16Element());
  else
    action(F16Element());
}

static bool isStorageFloat(Type type) {
  return type.isF16() || type.isBF16() || type.isF32() || type.isF64();
}

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
