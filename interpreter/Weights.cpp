// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weights: recipes evaluated whole and in doubles, rounded where a step says so. Refuses files that
// hold another number of bytes than the type asks for.
#include "interpreter/Frame.h"
#include "weights/Blocks.h"
#include <cmath>
#include <cstring>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::interpreter;

/// Steps inside each other.
static constexpr unsigned kMaxDepth = 64;

namespace {
/// A tensor and the type that its elements are rounded to.
struct Typed {
  Tensor tensor;
  Type element;
};

class Evaluator {
public:
  Evaluator(WeightOp op, RecipeSource &source) : op(op), source(source) {}
  FailureOr<Typed> evaluate(Attribute recipe, unsigned depth);

private:
  FailureOr<Typed> stored(StoredAttr recipe);
  FailureOr<Typed> blocks(RankedTensorType type, const BlockFormat &format, ArrayRef<char> bytes);
  FailureOr<Typed> concat(ConcatAttr recipe, unsigned depth);
  FailureOr<Typed> transpose(TransposeAttr recipe, unsigned depth);
  FailureOr<Typed> permute(PermuteAttr recipe, unsigned depth);
  FailureOr<Typed> reshape(ReshapeAttr recipe, unsigned depth);
  FailureOr<Typed> slice(SliceAttr recipe, unsigned depth);
  FailureOr<Typed> convert(CastAttr recipe, unsigned depth);
  FailureOr<Typed> scaleColumns(ScaleColumnsAttr recipe, unsigned depth);
  FailureOr<Typed> evaluated(RecipeAttrInterface recipe);

  WeightOp op;
  RecipeSource &source;
};
} // namespace

//===-- Stored bits --------------------------------------------------------------------------===//

template <typename T> static T load(const char *bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

/// Sign, 5 bits of exponent with bias 15, 10 of mantissa.
static double decodeHalf(uint16_t bits) {
  int exponent = (bits >> 10) & 31, mantissa = bits & 1023;
  double magnitude;
  if (exponent == 31)
    magnitude = mantissa ? std::nan("") : HUGE_VAL;
  else if (exponent == 0)
    magnitude = std::ldexp(mantissa, -24);
  else
    magnitude = std::ldexp(1024 + mantissa, exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

/// bf16 is the upper half of an f32.
static double decodeBrain(uint16_t bits) {
  uint32_t wide = uint32_t(bits) << 16;
  return load<float>(reinterpret_cast<const char *>(&wide));
}

/// Two numbers of four bits in each byte, the first in the low ones.
static std::vector<int64_t> decodeNibbles(ArrayRef<char> bytes) {
  std::vector<int64_t> numbers;
  numbers.reserve(2 * bytes.size());
  for (char byte : bytes)
    for (int shift : {0, 4})
      numbers.push_back(wrapToWidth((static_cast<uint8_t>(byte) >> shift) & 15, 4));
  return numbers;
}

/// What bits mean is the files' own, so those who write artifacts are asked for the numbers.
FailureOr<Typed> Evaluator::blocks(RankedTensorType type, const BlockFormat &format,
                                   ArrayRef<char> bytes) {
  if (static_cast<int64_t>(bytes.size()) != getStorageBytes(type))
    return op.emitOpError("expects ")
           << *getStorageBytes(type) << " bytes for " << type << ", got " << bytes.size();
  std::vector<float> numbers(type.getNumElements());
  readNumbers(format, bytes.data(), type.getNumElements(), numbers.data());
  Typed result;
  result.element = Float32Type::get(type.getContext());
  result.tensor.shape.assign(type.getShape().begin(), type.getShape().end());
  result.tensor.isReal = true;
  result.tensor.reals.assign(numbers.begin(), numbers.end());
  return result;
}

FailureOr<Typed> Evaluator::stored(StoredAttr recipe) {
  RankedTensorType type = recipe.getType();
  Type element = type.getElementType();
  Typed result;
  result.element = element;
  result.tensor.shape.assign(type.getShape().begin(), type.getShape().end());
  result.tensor.isReal = isa<FloatType>(element);
  int64_t count = countElements(type.getShape());
  if (count < 0)
    return op.emitOpError("expects at most ") << kMaxElements << " elements, got " << type;
  if (std::optional<BlockFormat> format = getBlockFormat(element)) {
    TRY(ArrayRef<char> bytes, source.read(recipe));
    return blocks(type, *format, bytes);
  }
  bool sharesBytes = element.isInteger(4);
  unsigned size = element.isInteger(1) || sharesBytes ? 1 : widthOf(element) / 8;
  TRY(ArrayRef<char> bytes, source.read(recipe));
  int64_t expected = sharesBytes ? count / 2 : count * size;
  if (static_cast<int64_t>(bytes.size()) != expected)
    return op.emitOpError("expects ")
           << expected << " bytes for " << type << ", got " << bytes.size();
  if (sharesBytes) {
    result.tensor.integers = decodeNibbles(bytes);
    return result;
  }
  const char *at = bytes.data();
  auto decodeReals = [&](auto decode) {
    result.tensor.reals.resize(count);
    for (double &real : result.tensor.reals) {
      real = decode(at);
      at += size;
    }
    return result;
  };
  if (element.isF64())
    return decodeReals(load<double>);
  if (element.isF32())
    return decodeReals([](const char *p) -> double { return load<float>(p); });
  if (element.isF16())
    return decodeReals([](const char *p) { return decodeHalf(load<uint16_t>(p)); });
  if (element.isBF16())
    return decodeReals([](const char *p) { return decodeBrain(load<uint16_t>(p)); });
  if (!element.isInteger() || (widthOf(element) != 1 && widthOf(element) % 8) ||
      widthOf(element) > 64)
    return op.emitOpError("expects elements that the interpreter can read, got ") << type;
  result.tensor.integers.resize(count);
  for (int64_t &integer : result.tensor.integers) {
    uint64_t bits = 0;
    std::memcpy(&bits, at, size); // little endian
    integer = wrapToWidth(static_cast<int64_t>(bits), widthOf(element));
    at += size;
  }
  return result;
}

//===-- Steps --------------------------------------------------------------------------------===//

FailureOr<Typed> Evaluator::concat(ConcatAttr recipe, unsigned depth) {
  std::vector<Typed> parts;
  for (Attribute part : recipe.getParts()) {
    TRY(Typed value, evaluate(part, depth));
    parts.push_back(std::move(value));
  }
  Typed result{parts.front().tensor, parts.front().element};
  Tensor &tensor = result.tensor;
  int64_t axis = recipe.getAxis(), outer = 1;
  for (int64_t i = 0; i < axis; ++i)
    outer *= tensor.shape[i];
  tensor.shape[axis] = 0;
  for (const Typed &part : parts)
    tensor.shape[axis] += part.tensor.shape[axis];
  if (countElements(tensor.shape) < 0)
    return op.emitOpError("expects at most ")
           << kMaxElements << " elements, got [" << tensor.shape << "]";
  tensor.reals.clear();
  tensor.integers.clear();
  for (int64_t o = 0; o < outer; ++o)
    for (const Typed &part : parts) {
      int64_t inner = part.tensor.size() / outer;
      for (int64_t i = 0; i < inner; ++i) {
        Element element = part.tensor.at(o * inner + i);
        if (tensor.isReal)
          tensor.reals.push_back(element.real);
        else
          tensor.integers.push_back(element.integer);
      }
    }
  return result;
}

FailureOr<Typed> Evaluator::transpose(TransposeAttr recipe, unsigned depth) {
  TRY(Typed input, evaluate(recipe.getInput(), depth));
  Typed result = input;
  int64_t rows = input.tensor.shape[0], columns = input.tensor.shape[1];
  result.tensor.shape = {columns, rows};
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c)
      result.tensor.put(c * rows + r, input.tensor.at(r * columns + c));
  return result;
}

/// The element at each place of `shape` is the input's at the place that `source` gives.
static Typed gather(const Typed &input, ArrayRef<int64_t> shape,
                    function_ref<int64_t(ArrayRef<int64_t>)> source) {
  Typed result;
  result.element = input.element;
  result.tensor.shape.assign(shape.begin(), shape.end());
  result.tensor.isReal = input.tensor.isReal;
  int64_t count = ShapedType::getNumElements(shape);
  if (result.tensor.isReal)
    result.tensor.reals.resize(count);
  else
    result.tensor.integers.resize(count);
  SmallVector<int64_t> place(shape.size());
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t axis = shape.size() - 1, rest = i; axis >= 0; --axis) {
      place[axis] = rest % shape[axis];
      rest /= shape[axis];
    }
    result.tensor.put(i, input.tensor.at(source(place)));
  }
  return result;
}

/// Where an element lies in row-major order.
static int64_t flatten(ArrayRef<int64_t> place, ArrayRef<int64_t> shape) {
  int64_t flat = 0;
  for (auto [index, size] : llvm::zip_equal(place, shape))
    flat = flat * size + index;
  return flat;
}

FailureOr<Typed> Evaluator::permute(PermuteAttr recipe, unsigned depth) {
  TRY(Typed input, evaluate(recipe.getInput(), depth));
  SmallVector<int64_t> shape =
      llvm::map_to_vector(recipe.getAxes(), [&](int64_t axis) { return input.tensor.shape[axis]; });
  return gather(input, shape, [&](ArrayRef<int64_t> place) {
    SmallVector<int64_t> from(place.size());
    for (auto [axis, index] : llvm::zip_equal(recipe.getAxes(), place))
      from[axis] = index;
    return flatten(from, input.tensor.shape);
  });
}

FailureOr<Typed> Evaluator::reshape(ReshapeAttr recipe, unsigned depth) {
  FailureOr<Typed> result = evaluate(recipe.getInput(), depth);
  if (succeeded(result))
    result->tensor.shape.assign(recipe.getShape().begin(), recipe.getShape().end());
  return result;
}

FailureOr<Typed> Evaluator::slice(SliceAttr recipe, unsigned depth) {
  TRY(Typed input, evaluate(recipe.getInput(), depth));
  SmallVector<int64_t> shape(input.tensor.shape.begin(), input.tensor.shape.end());
  shape[recipe.getAxis()] = recipe.getCount();
  return gather(input, shape, [&](ArrayRef<int64_t> place) {
    SmallVector<int64_t> from(place);
    from[recipe.getAxis()] += recipe.getFirst();
    return flatten(from, input.tensor.shape);
  });
}

FailureOr<Typed> Evaluator::convert(CastAttr recipe, unsigned depth) {
  TRY(Typed result, evaluate(recipe.getInput(), depth));
  result.element = recipe.getElementType();
  for (double &real : result.tensor.reals)
    real = roundToType(real, result.element);
  return result;
}

FailureOr<Typed> Evaluator::scaleColumns(ScaleColumnsAttr recipe, unsigned depth) {
  FailureOr<Typed> result = evaluate(recipe.getInput(), depth);
  FailureOr<Typed> scale = evaluate(recipe.getScale(), depth);
  if (failed(result) || failed(scale))
    return failure();
  if (!result->tensor.isReal || !scale->tensor.isReal)
    return op.emitOpError("expects columns and scale of floats, got ") << recipe;
  double offset = recipe.getOffset().getValueAsDouble();
  int64_t columns = scale->tensor.size();
  for (int64_t i = 0; i < result->tensor.size(); ++i) {
    double &real = result->tensor.reals[i];
    real = roundToType(real * (scale->tensor.reals[i % columns] + offset), result->element);
  }
  return result;
}

/// Which numbers stand for a weight is the recipe's own choice, or its files', so it is asked for
/// its bytes.
FailureOr<Typed> Evaluator::evaluated(RecipeAttrInterface recipe) {
  RankedTensorType type = recipe.getRecipeType();
  Typed result;
  result.element = type.getElementType();
  result.tensor.shape.assign(type.getShape().begin(), type.getShape().end());
  if (countElements(type.getShape()) < 0)
    return op.emitOpError("expects at most ") << kMaxElements << " elements, got " << type;
  std::vector<char> bytes(*getStorageBytes(type));
  if (failed(evaluateRows(recipe, source, 0, type.getDimSize(0), bytes.data())))
    return failure();
  if (std::optional<BlockFormat> format = getBlockFormat(type))
    return blocks(type, *format, bytes);
  result.tensor.isReal = isa<FloatType>(result.element);
  if (result.element.isInteger(4))
    result.tensor.integers = decodeNibbles(bytes);
  else if (result.element.isInteger(8))
    for (char byte : bytes)
      result.tensor.integers.push_back(static_cast<int8_t>(byte));
  else if (result.element.isInteger(32))
    for (size_t i = 0; i < bytes.size(); i += 4)
      result.tensor.integers.push_back(load<int32_t>(bytes.data() + i));
  else if (result.element.isF32())
    for (size_t i = 0; i < bytes.size(); i += 4)
      result.tensor.reals.push_back(load<float>(bytes.data() + i));
  else
    for (size_t i = 0; i < bytes.size(); i += 2)
      result.tensor.reals.push_back(decodeHalf(load<uint16_t>(bytes.data() + i)));
  return result;
}

FailureOr<Typed> Evaluator::evaluate(Attribute recipe, unsigned depth) {
  if (depth == 0)
    return op.emitOpError("expects at most ") << kMaxDepth << " steps inside each other";
  if (auto one = dyn_cast<StoredAttr>(recipe))
    return stored(one);
  if (auto one = dyn_cast<ConcatAttr>(recipe))
    return concat(one, depth - 1);
  if (auto one = dyn_cast<TransposeAttr>(recipe))
    return transpose(one, depth - 1);
  if (auto one = dyn_cast<PermuteAttr>(recipe))
    return permute(one, depth - 1);
  if (auto one = dyn_cast<ReshapeAttr>(recipe))
    return reshape(one, depth - 1);
  if (auto one = dyn_cast<SliceAttr>(recipe))
    return slice(one, depth - 1);
  if (auto one = dyn_cast<CastAttr>(recipe))
    return convert(one, depth - 1);
  if (auto one = dyn_cast<ScaleColumnsAttr>(recipe))
    return scaleColumns(one, depth - 1);
  if (isa<QuantizeAttr, QuantizationScalesAttr, UnpackAttr, GroupOrderAttr, ScaleBlocksAttr>(
          recipe))
    return evaluated(cast<RecipeAttrInterface>(recipe));
  if (auto pack = dyn_cast<PackAttr>(recipe)) // a layout changes no element
    return evaluate(pack.getInput(), depth - 1);
  return op.emitOpError("expects a recipe known to the reference interpreter, got ") << recipe;
}

FailureOr<Tensor> interpreter::evaluateRecipe(WeightOp op, RecipeSource &source) {
  TRY(Typed result, Evaluator(op, source).evaluate(op.getRecipe(), kMaxDepth));
  return std::move(result.tensor);
}

//===-- Ops ----------------------------------------------------------------------------------===//

static LogicalResult runWeightRef(WeightRefOp op, Frame &frame) {
  if (!isa<RankedTensorType>(op.getType()))
    return op.emitOpError("expects a tensor, as up to the `scheduled` stage, got ") << op.getType();
  TRY(TensorRef value, frame.weight(op));
  return frame.bind(op, op.getResult(), value);
}

void interpreter::addWeightOps(HandlerTable &table) { table.add(runWeightRef); }
