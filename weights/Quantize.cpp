// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Quantised weights: the numbers and their scales, by one rule, so that they agree however they are
// sliced. Refuses weights that are not finite.
#include "mlir/IR/Diagnostics.h"
#include "weights/Rounding.h"
#include "weights/Steps.h"
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
    float best = 0;
    double least = std::numeric_limits<double>::infinity();
    for (float divisor : kInt4Divisors) {
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
      best = std::fabs(round(extreme / kInt4Divisors.back()));
    store(w, best, kLeastInt4, kMostInt4, q);
    return best;
  }

private:
  /// A scale as it is stored.
  float round(float scale) const { return isHalf ? roundToHalf(scale) : scale; }

  static void store(ArrayRef<float> w, float scale, float low, float high,
                    MutableArrayRef<int8_t> q) {
    if (scale == 0) {
      llvm::fill(q, 0);
      return;
    }
    for (size_t i = 0, n = w.size(); i < n; ++i)
      q[i] = static_cast<int8_t>(roundToInteger(w[i] / scale, low, high));
  }

  /// The squared error of i4. Sums side by side, so that the loop vectorises, and in steps of the
  /// scale, which neither overflow nor vanish.
  static double getError(ArrayRef<float> w, float scale) {
    constexpr size_t kLanes = 8;
    float sums[kLanes] = {};
    auto add = [&](size_t i, size_t lane) {
      float steps = w[i] / scale, difference = steps - roundToInteger(steps, kLeastInt4, kMostInt4);
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

//===-- Evaluation ---------------------------------------------------------------------------===//

static LogicalResult refuse(Attribute input, Type scaleType, float extreme, int64_t row) {
  InFlightDiagnostic error = emitError(UnknownLoc::get(input.getContext()));
  error << "expects finite weights to quantise, ";
  if (!std::isfinite(extreme))
    error << "got " << (std::isnan(extreme) ? "nan" : "inf");
  else
    error << "within " << static_cast<int64_t>(kMostOfHalf) << " for scales of " << scaleType
          << ", got " << extreme;
  error << " in row " << row << " of a weight read from ";
  llvm::interleaveComma(getStoredTensors(input), error,
                        [&](StoredAttr stored) { error << "'" << stored.getTensor() << "'"; });
  return error;
}

/// Quantises rows, a group or a row at a time, and gives the scale and numbers of each to `put`, in
/// order.
template <typename Step>
static LogicalResult quantizeRows(Step step, RecipeRows rows,
                                  function_ref<void(float scale, ArrayRef<int8_t> numbers)> put) {
  Attribute input = step.getInput();
  Type scaleType = step.getScaleType();
  RankedTensorType type = getTypeOfRecipe(input);
  int64_t columns = type.getDimSize(1), inRow = getBytesFrom(type, 1), group = step.getGroup();
  int64_t each = group != 0 ? group : columns;
  // An input's slice has several times the result's bytes, of scales thousands of times.
  constexpr int64_t kBlockBytes = int64_t(8) << 20;
  int64_t blockRows = std::max<int64_t>(1, kBlockBytes / std::max<int64_t>(1, inRow));
  Rule rule(step.getElementType(), scaleType);
  std::vector<float> row(columns);
  std::vector<int8_t> numbers(each);
  auto quantize = [&](int64_t first, int64_t count, const char *in) -> LogicalResult {
    for (int64_t i = 0; i < count; ++i, in += inRow) {
      withElement(type.getElementType(), [&](auto element) {
        using Element = decltype(element);
        for (int64_t k = 0; k < columns; ++k)
          row[k] = static_cast<float>(Element::load(in + k * Element::kSize));
      });
      for (int64_t k = 0; k < columns || (k == 0 && group == 0); k += std::max<int64_t>(each, 1)) {
        ArrayRef<float> w(row.data() + k, each);
        float extreme = findExtreme(w);
        float scale = std::isfinite(extreme) ? rule.quantize(w, extreme, numbers) : extreme;
        if (!std::isfinite(scale) || (scaleType.isF16() && std::fabs(extreme) > kMostOfHalf))
          return refuse(input, scaleType, extreme, first + i);
        put(scale, numbers);
      }
    }
    return success();
  };
  return walkRows(input, rows.source, rows.first, rows.count, blockRows, quantize);
}

LogicalResult mlir::fovea::evaluate(QuantizeAttr step, RecipeRows rows) {
  int64_t share = getElementsPerByte(step.getElementType());
  return quantizeRows(step, rows, [&](float, ArrayRef<int8_t> numbers) {
    size_t bytes = numbers.size() / share;
    if (share == 1)
      std::memcpy(rows.out, numbers.data(), bytes);
    else
      for (size_t i = 0; i < bytes; ++i)
        rows.out[i] = static_cast<char>((numbers[2 * i] & 15) | (numbers[2 * i + 1] & 15) << 4);
    rows.out += bytes;
  });
}

LogicalResult mlir::fovea::evaluate(QuantizationScalesAttr step, RecipeRows rows) {
  return quantizeRows(step, rows, [&](float scale, ArrayRef<int8_t>) {
    withElement(step.getScaleType(), [&](auto element) {
      decltype(element)::store(scale, rows.out);
      rows.out += decltype(element)::kSize;
    });
  });
}
