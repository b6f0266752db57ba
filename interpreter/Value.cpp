// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values of the interpreter: sizes, rounding to narrow types, and whether a value fits a type.
#include "interpreter/Value.h"
#include "dialects/Fovea/FoveaDialect.h"
#include "llvm/ADT/APFloat.h"
#include <optional>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::interpreter;

bool Tensor::contains(ArrayRef<int64_t> indices) const {
  for (auto [index, size] : llvm::zip_equal(indices, shape))
    if (index < 0 || index >= size)
      return false;
  return true;
}

int64_t Tensor::place(ArrayRef<int64_t> indices) const {
  int64_t place = 0;
  for (auto [index, size] : llvm::zip_equal(indices, shape))
    place = place * size + index;
  return place;
}

RuntimeValue interpreter::makeCache(int64_t batch, int64_t capacity, int64_t heads, int64_t size) {
  auto cache = std::make_shared<Cache>();
  cache->batch = batch;
  cache->capacity = capacity;
  cache->heads = heads;
  cache->size = size;
  return CacheRef(cache);
}

RuntimeValue interpreter::makeReals(ArrayRef<int64_t> shape, std::vector<double> elements) {
  auto tensor = std::make_shared<Tensor>();
  tensor->shape.assign(shape.begin(), shape.end());
  tensor->reals = std::move(elements);
  return TensorRef(tensor);
}

RuntimeValue interpreter::makeIntegers(ArrayRef<int64_t> shape, std::vector<int64_t> elements) {
  auto tensor = std::make_shared<Tensor>();
  tensor->shape.assign(shape.begin(), shape.end());
  tensor->isReal = false;
  tensor->integers = std::move(elements);
  return TensorRef(tensor);
}

int64_t interpreter::countElements(ArrayRef<int64_t> shape) {
  if (llvm::any_of(shape, [](int64_t size) { return size < 0; }))
    return -1;
  if (llvm::is_contained(shape, 0))
    return 0;
  int64_t count = 1;
  for (int64_t size : shape) {
    if (size > kMaxElements / count)
      return -1;
    count *= size;
  }
  return count;
}

double interpreter::roundToType(double value, Type type) {
  if (type.isF64())
    return value;
  if (type.isF32())
    return static_cast<float>(value);
  return roundToSemantics(value, cast<FloatType>(type).getFloatSemantics());
}

/// A number that is normal before and after, by its bits: nearly all are. Nothing for others, and
/// for types whose numbers are no signed fractions.
static std::optional<double> roundNormal(double value, const llvm::fltSemantics &semantics) {
  constexpr int kFraction = 52, kBias = 1023;
  int dropped = kFraction + 1 - static_cast<int>(llvm::APFloat::semanticsPrecision(semantics));
  uint64_t sign = llvm::bit_cast<uint64_t>(value) & uint64_t(1) << 63;
  uint64_t magnitude = llvm::bit_cast<uint64_t>(value) ^ sign;
  auto isNormal = [&] {
    int exponent = static_cast<int>(magnitude >> kFraction) - kBias;
    return exponent >= llvm::APFloat::semanticsMinExponent(semantics) &&
           exponent < llvm::APFloat::semanticsMaxExponent(semantics);
  };
  if (dropped < 1 || dropped >= kFraction || !llvm::APFloat::semanticsHasSignedRepr(semantics) ||
      !isNormal())
    return std::nullopt;
  uint64_t unit = uint64_t(1) << dropped;
  magnitude += unit / 2 - 1 + (magnitude >> dropped & 1); // a tie goes to the even one
  magnitude &= ~(unit - 1);
  return llvm::bit_cast<double>(sign | magnitude);
}

double interpreter::roundToSemantics(double value, const llvm::fltSemantics &semantics) {
  if (std::optional<double> normal = roundNormal(value, semantics))
    return *normal;
  llvm::APFloat number(value);
  bool losesInfo;
  number.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return number.convertToDouble();
}

int64_t interpreter::wrapToWidth(int64_t value, unsigned width) {
  if (width >= 64)
    return value;
  if (width == 1)
    return value & 1;
  return static_cast<int64_t>(static_cast<uint64_t>(value) << (64 - width)) >> (64 - width);
}

uint64_t interpreter::unsignedBits(int64_t value, unsigned width) {
  return width >= 64 ? value : static_cast<uint64_t>(value) & ((uint64_t(1) << width) - 1);
}

unsigned interpreter::widthOf(Type type) {
  return isa<IndexType>(type) ? 64 : type.getIntOrFloatBitWidth();
}

/// Whether numbers of the type must be rounded after every op.
static bool isRounded(Type type, Precision precision) {
  // The usual types first: others tell their width through an interface, for each number.
  if (precision == Precision::Exact || type.isF64())
    return false;
  if (type.isF32())
    return precision == Precision::Literal;
  return isa<FloatType>(type) &&
         type.getIntOrFloatBitWidth() < (precision == Precision::Literal ? 64 : 32);
}

Element interpreter::normalise(Element element, Type type, Precision precision) {
  if (isRounded(type, precision))
    return {roundToType(element.real, type), 0};
  if (type.isIntOrIndex())
    return {0, wrapToWidth(element.integer, widthOf(type))};
  return element;
}

RuntimeValue interpreter::normalise(RuntimeValue value, Type type, Precision precision) {
  if (auto *real = std::get_if<double>(&value))
    return normalise(Element{*real, 0}, type, precision).real;
  if (auto *integer = std::get_if<int64_t>(&value))
    return normalise(Element{0, *integer}, type, precision).integer;
  auto *tensor = std::get_if<TensorRef>(&value);
  if (!tensor)
    return value;
  Type element = cast<RankedTensorType>(type).getElementType();
  if (!isRounded(element, precision) && !(element.isInteger() && widthOf(element) < 64))
    return value;
  auto changed = std::make_shared<Tensor>(**tensor);
  for (int64_t i = 0, n = changed->size(); i < n; ++i)
    changed->put(i, normalise(changed->at(i), element, precision));
  return TensorRef(changed);
}

std::string interpreter::describe(const RuntimeValue &value) {
  if (std::holds_alternative<int64_t>(value))
    return "an integer";
  if (std::holds_alternative<double>(value))
    return "a float";
  if (std::holds_alternative<MaskRef>(value))
    return "a mask";
  if (auto *cache = std::get_if<CacheRef>(&value))
    return "a cache of " + std::to_string((*cache)->heads) + "x" + std::to_string((*cache)->size) +
           " elements";
  if (auto *tensor = std::get_if<TensorRef>(&value)) {
    std::string text = "a tensor of ";
    for (int64_t size : (*tensor)->shape)
      text += std::to_string(size) + "x";
    if ((*tensor)->rank())
      text.back() = ' ';
    return text + ((*tensor)->isReal ? "floats" : "integers");
  }
  return "nothing";
}

static bool fits(const RuntimeValue &value, Type type) {
  if (type.isIntOrIndex())
    return std::holds_alternative<int64_t>(value);
  if (isa<FloatType>(type))
    return std::holds_alternative<double>(value);
  if (isa<MaskType>(type))
    return std::holds_alternative<MaskRef>(value);
  if (auto cacheType = dyn_cast<CacheType>(type)) {
    auto *cache = std::get_if<CacheRef>(&value);
    return cache && (*cache)->heads == cacheType.getHeads() &&
           (*cache)->size == cacheType.getSize() && (*cache)->length <= (*cache)->capacity;
  }
  auto tensorType = dyn_cast<RankedTensorType>(type);
  auto *tensor = std::get_if<TensorRef>(&value);
  if (!tensorType || !tensor || (*tensor)->rank() != tensorType.getRank() ||
      (*tensor)->isReal != isa<FloatType, BlocksType>(tensorType.getElementType()) ||
      countElements((*tensor)->shape) != (*tensor)->size())
    return false;
  for (auto [size, expected] : llvm::zip_equal((*tensor)->shape, tensorType.getShape()))
    if (!ShapedType::isDynamic(expected) && size != expected)
      return false;
  return true;
}

std::string interpreter::describeMismatch(const RuntimeValue &value, Type type) {
  return fits(value, type) ? std::string() : describe(value);
}
