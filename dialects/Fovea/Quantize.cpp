// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recipes of quantised weights: the numbers and their scales, by one rule, so that they agree
// however they are sliced. Refuses to evaluate weights that are not finite.
#include "dialects/Fovea/Elements.h"
#include "dialects/Fovea/Recipes.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/SetVector.h"
#include <array>
#include <limits>

using namespace mlir;
using namespace mlir::fovea;

//===-- The rule -----------------------------------------------------------------------------===//

namespace {

/// How numbers of one scale are rounded.
class Rule {
public:
  Rule(Type elementType, Type scaleType)
      : isInt4(elementType.isInteger(4)), isHalf(scaleType.isF16()) {}

  /// The scale of `w`, whose greatest magnitude is that of `extreme`, and the numbers.
  float quantize(ArrayRef<float> w, float extreme, MutableArrayRef<int8_t> q) const {
    if (!isInt4) {
      float scale = round(std::fabs(extreme) / 127);
      store(w, scale, -127, 127, q);
      return scale;
    }
    // The extreme becomes the divisor: -8 has the most steps to the other side's 7, and past 8 the
    // extreme is cut off for smaller steps of the others.
    constexpr std::array<float, 8> kDivisors = {-8, -7.5, -7, 7, 7.5, 8, -8.5, -9};
    float best = 0;
    double least = std::numeric_limits<double>::infinity();
    for (float divisor : kDivisors) {
      float scale = round(extreme / divisor);
      double error = scale == 0 || std::isinf(scale) ? least : getError(w, scale);
      if (error < least) {
        least = error;
        best = scale;
      }
    }
    // All are zero, or their scale is no number of its type: too small, which is zero too, or too
    // great.
    if (best == 0)
      best = std::fabs(round(extreme / kDivisors.back()));
    store(w, best, -8, 7, q);
    return best;
  }

private:
  /// A scale as it is stored.
  float round(float scale) const {
    if (!isHalf)
      return scale;
    char bytes[2];
    F16Element::store(scale, bytes);
    return F16Element::load(bytes);
  }

  /// To nearest even, of what is within [low, high], which are small: adding 1.5 * 2^23 leaves no
  /// room for a fraction.
  static float toNumber(float value, float low, float high) {
    constexpr float kShift = 12582912.0f;
    return (std::min(std::max(value, low), high) + kShift) - kShift;
  }

  static void store(ArrayRef<float> w, float scale, float low, float high,
                    MutableArrayRef<int8_t> q) {
    if (scale == 0) {
      llvm::fill(q, 0);
      return;
    }
    for (size_t i = 0, n = w.size(); i < n; ++i)
      q[i] = static_cast<int8_t>(toNumber(w[i] / scale, low, high));
  }

  /// The squared error of i4. Sums side by side, so that the loop vectorises, and in steps of the
  /// scale, which neither overflow nor vanish.
  static double getError(ArrayRef<float> w, float scale) {
    constexpr size_t kLanes = 8;
    float sums[kLanes] = {};
    auto add = [&](size_t i, size_t lane) {
      float steps = w[i] / scale, difference = steps - toNumber(steps, -8, 7);
      sums[lane] += difference * difference;
    };
    size_t i = 0;
    for (; i + kLanes <= w.size(); i += kLanes)
      for (size_t lane = 0; lane < kLanes; ++lane)
        add(i + lane, lane);
    for (; i < w.size(); ++i)
      add(i, 0);
    float sum = 0;
    for (float part : sums)
      sum += part;
    return static_cast<double>(sum) * scale * scale;
  }

  bool isInt4, isHalf;
};

} // namespace

/// The first of the elements with the greatest magnitude; NaN or infinity if one is there.
static float findExtreme(ArrayRef<float> w) {
  uint32_t greatest = 0; // magnitudes are ordered as their bits are, and NaN is above all
  for (float value : w)
    greatest = std::max(greatest, asBits(value) & 0x7fffffff);
  for (float value : w)
    if ((asBits(value) & 0x7fffffff) == greatest)
      return value;
  return 0;
}

//===-- Checks and evaluation ----------------------------------------------------------------===//

static LogicalResult verifyQuantization(Attribute inputAttr, Type elementType, Type scaleType,
                                        int64_t group,
                                        function_ref<InFlightDiagnostic()> emitError) {
  if (failed(verifyInputs(inputAttr, emitError)))
    return failure();
  RankedTensorType type = recipe(inputAttr).getRecipeType();
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

/// The tensors that a recipe reads.
static SmallVector<StoredAttr> getSources(Attribute attr) {
  llvm::SetVector<Attribute> steps;
  steps.insert(attr);
  SmallVector<StoredAttr> sources;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (auto stored = dyn_cast<StoredAttr>(steps[i]))
      sources.push_back(stored);
    for (Attribute input : recipe(steps[i]).getRecipeInputs())
      steps.insert(input);
  }
  return sources;
}

/// Quantises rows [first, first + count) of `input`, a group or a row at a time, and gives the
/// scale and numbers of each to `put`, in order.
static LogicalResult quantizeRows(Attribute input, Type elementType, Type scaleType, int64_t group,
                                  RecipeSource &source, int64_t first, int64_t count,
                                  function_ref<void(float scale, ArrayRef<int8_t> numbers)> put) {
  RankedTensorType type = recipe(input).getRecipeType();
  int64_t columns = type.getDimSize(1), inRow = rowBytes(type);
  int64_t each = group != 0 ? group : columns;
  // An input's slice has several times the result's bytes, of scales thousands of times: blocks
  // bound the memory, and stored inputs are given back before all of them is there.
  constexpr int64_t kBlockBytes = int64_t(8) << 20, kReleaseBytes = int64_t(32) << 20;
  int64_t walked = 0;
  SmallVector<StoredAttr> sources = getSources(input);
  int64_t blockRows = std::max<int64_t>(1, kBlockBytes / std::max<int64_t>(1, inRow));
  Rule rule(elementType, scaleType);
  std::vector<char> block;
  std::vector<float> row(columns);
  std::vector<int8_t> numbers(each);
  for (int64_t end = first + count; first < end; first += blockRows) {
    int64_t here = std::min(blockRows, end - first);
    block.resize(here * inRow);
    if (failed(recipe(input).evaluateRows(source, first, here, block.data())))
      return failure();
    for (int64_t i = 0; i < here; ++i) {
      withElement(type.getElementType(), [&](auto element) {
        using Element = decltype(element);
        const char *at = block.data() + i * inRow;
        for (int64_t k = 0; k < columns; ++k)
          row[k] = static_cast<float>(Element::load(at + k * Element::kSize));
      });
      for (int64_t k = 0; k < columns || (k == 0 && group == 0); k += std::max<int64_t>(each, 1)) {
        ArrayRef<float> w(row.data() + k, each);
        float extreme = findExtreme(w);
        float scale = std::isfinite(extreme) ? rule.quantize(w, extreme, numbers) : extreme;
        // Products of f16 multiply the numbers that these stand for in f16.
        constexpr float kMostOfHalf = 65504;
        if (!std::isfinite(scale) || (scaleType.isF16() && std::fabs(extreme) > kMostOfHalf)) {
          InFlightDiagnostic error = emitError(UnknownLoc::get(input.getContext()));
          error << "expects finite weights to quantise, ";
          if (!std::isfinite(extreme))
            error << "got " << (std::isnan(extreme) ? "nan" : "inf");
          else
            error << "within " << static_cast<int64_t>(kMostOfHalf) << " for scales of "
                  << scaleType << ", got " << extreme;
          error << " in row " << first + i << " of a weight read from ";
          llvm::interleaveComma(sources, error, [&](StoredAttr stored) {
            error << "'" << stored.getTensor() << "'";
          });
          return error;
        }
        put(scale, numbers);
      }
    }
    walked += here * inRow;
    if (walked > kReleaseBytes) {
      for (StoredAttr stored : sources)
        source.release(stored);
      walked = 0;
    }
  }
  return success();
}

//===-- quantize -----------------------------------------------------------------------------===//

RankedTensorType QuantizeAttr::getRecipeType() const {
  return RankedTensorType::get(recipe(getInput()).getRecipeType().getShape(), getElementType());
}

SmallVector<Attribute> QuantizeAttr::getRecipeInputs() const { return {getInput()}; }

LogicalResult QuantizeAttr::verifyRecipe(function_ref<InFlightDiagnostic()> emitError) const {
  return verifyQuantization(getInput(), getElementType(), getScaleType(), getGroup(), emitError);
}

LogicalResult QuantizeAttr::evaluateRows(RecipeSource &source, int64_t first, int64_t count,
                                         char *out) const {
  bool sharesBytes = getElementsPerByte(getElementType()) != 1;
  return quantizeRows(getInput(), getElementType(), getScaleType(), getGroup(), source, first,
                      count, [&](float, ArrayRef<int8_t> numbers) {
                        if (!sharesBytes) {
                          std::memcpy(out, numbers.data(), numbers.size());
                          out += numbers.size();
                          return;
                        }
                        for (size_t i = 0, n = numbers.size() / 2; i < n; ++i)
                          out[i] = static_cast<char>((numbers[2 * i] & 15) |
                                                     (numbers[2 * i + 1] & 15) << 4);
                        out += numbers.size() / 2;
                      });
}

//===-- quantization_scales ------------------------------------------------------------------===//

RankedTensorType QuantizationScalesAttr::getRecipeType() const {
  RankedTensorType type = recipe(getInput()).getRecipeType();
  SmallVector<int64_t, 2> shape{type.getDimSize(0)};
  if (getGroup() != 0)
    shape.push_back(type.getDimSize(1) / getGroup());
  return RankedTensorType::get(shape, getScaleType());
}

SmallVector<Attribute> QuantizationScalesAttr::getRecipeInputs() const { return {getInput()}; }

LogicalResult
QuantizationScalesAttr::verifyRecipe(function_ref<InFlightDiagnostic()> emitError) const {
  return verifyQuantization(getInput(), getElementType(), getScaleType(), getGroup(), emitError);
}

LogicalResult QuantizationScalesAttr::evaluateRows(RecipeSource &source, int64_t first,
                                                   int64_t count, char *out) const {
  LogicalResult result = success();
  withElement(getScaleType(), [&](auto element) {
    using Element = decltype(element);
    result = quantizeRows(getInput(), getElementType(), getScaleType(), getGroup(), source, first,
                          count, [&](float scale, ArrayRef<int8_t>) {
                            Element::store(scale, out);
                            out += Element::kSize;
                          });
  });
  return result;
}
