// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See the header. Nearly all of the time goes into products of matrices; rows of a matrix are
// independent of each other, and are rounded side by side, one in a lane.
#include "weights/Calibrate.h"
#include "mlir/IR/Threading.h"
#include "weights/Products.h"
#include "weights/Rounding.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::fovea;

//===-- Moments ------------------------------------------------------------------------------===//

bool InputMoments::add(MLIRContext *context, ArrayRef<float> rows) {
  if (!llvm::all_of(rows, [](float value) { return std::isfinite(value); }))
    return false;
  int64_t depth = static_cast<int64_t>(rows.size()) / inputs;
  constexpr int64_t kRows = 256;
  parallelFor(context, 0, llvm::divideCeilSigned(inputs, kRows), [&](size_t block) {
    int64_t first = static_cast<int64_t>(block) * kRows;
    int64_t end = std::min(first + kRows, inputs);
    addProduct({rows.data() + first, inputs, rows.data(), inputs, sums.data() + first * inputs,
                inputs, end - first, end, depth});
  });
  count += depth;
  return true;
}

//===-- The factor ---------------------------------------------------------------------------===//

InputFactor::InputFactor(MLIRContext *context, InputMoments moments)
    : inputs(moments.inputs), feedback(std::move(moments.sums)), costs(inputs) {
  // "Damping" (Frantar et al., section 3.3): inputs that always go together, or never come, leave
  // no pivot that is zero.
  constexpr double kDamping = 0.01;
  double mean = 0;
  float scale = 1 / std::max<float>(static_cast<float>(moments.count), 1);
  for (float &sum : feedback)
    sum *= scale;
  for (int64_t i = 0; i < inputs; ++i)
    mean += feedback[i * (inputs + 1)] / static_cast<double>(inputs);
  float least = mean > 0 ? static_cast<float>(mean * kDamping) : 1.0f;
  for (int64_t i = 0; i < inputs; ++i)
    feedback[i * (inputs + 1)] += least;
  factor(context, least);
  turnOver();
}

/// Makes of H, by its rows up to the diagonal, the triangle L with H = Lᵀ L, the last row first.
/// Blocks of rows take all later rows' part off at once. `least` is on the diagonal, so no pivot is
/// less than it, but for rounding.
void InputFactor::factor(MLIRContext *context, float least) {
  constexpr int64_t kRows = 64, kColumns = 256;
  for (int64_t end = inputs; end > 0; end -= std::min(kRows, end)) {
    int64_t first = std::max<int64_t>(end - kRows, 0);
    float *later = feedback.data() + end * inputs;
    parallelFor(context, 0, llvm::divideCeilSigned(end, kColumns), [&](size_t block) {
      int64_t column = static_cast<int64_t>(block) * kColumns;
      addProduct({later + first, inputs, later + column, inputs,
                  feedback.data() + first * inputs + column, inputs, end - first,
                  std::min(kColumns, end - column), inputs - end, -1});
    });
    for (int64_t j = end - 1; j >= first; --j) {
      float *row = feedback.data() + j * inputs;
      for (int64_t k = j + 1; k < end; ++k) {
        const float *other = feedback.data() + k * inputs;
        float part = other[j];
        for (int64_t i = 0; i <= j; ++i)
          row[i] -= part * other[i];
      }
      float pivot = std::sqrt(std::max(row[j], least));
      for (int64_t i = 0; i < j; ++i)
        row[i] /= pivot;
      row[j] = pivot;
    }
  }
}

/// Of L the costs, and Lᵀ with ones on its diagonal, by blocks that fit into the cache.
void InputFactor::turnOver() {
  for (int64_t k = 0; k < inputs; ++k) {
    float pivot = feedback[k * (inputs + 1)];
    costs[k] = pivot * pivot;
  }
  constexpr int64_t kBlock = 32;
  for (int64_t first = 0; first < inputs; first += kBlock)
    for (int64_t column = 0; column <= first; column += kBlock)
      for (int64_t k = first; k < std::min(first + kBlock, inputs); ++k)
        for (int64_t j = column; j < std::min(column + kBlock, k); ++j)
          feedback[j * inputs + k] = feedback[k * inputs + j] / feedback[k * (inputs + 1)];
}

//===-- Rounding -----------------------------------------------------------------------------===//

namespace {

/// Rows that are rounded side by side.
constexpr int64_t kLanes = 128;
using Lanes = std::array<float, kLanes>;
using Inputs = std::array<Lanes, kInt4Group>; ///< of a group

/// A group of inputs, of some rows.
class Group {
public:
  /// `feedback` is what F has of the group alone, rows `stride` apart.
  Group(const float *feedback, int64_t stride, const float *costs, int64_t count)
      : feedback(feedback), stride(stride), costs(costs), count(count) {}

  Inputs originals; ///< the numbers as they were
  Inputs numbers;   ///< with what makes up for what inputs before the group lost
  Lanes scales;

  /// The scales of least loss, if each number is rounded on its own: as it would be if none of the
  /// group were rounded before it.
  void chooseScales() {
    Inputs wanted = numbers;
    for (int64_t k = 0; k < kInt4Group; ++k) {
      Lanes lost;
      for (int64_t n = 0; n < count; ++n)
        lost[n] = originals[k][n] - wanted[k][n];
      passOn(wanted, k, lost.data());
    }
    Lanes extremes{}, least;
    for (const Lanes &input : wanted)
      for (int64_t n = 0; n < count; ++n)
        extremes[n] = std::fabs(input[n]) > std::fabs(extremes[n]) ? input[n] : extremes[n];
    least.fill(std::numeric_limits<float>::infinity());
    scales.fill(0);
    for (float divisor : kInt4Divisors) {
      Lanes tried, lost{};
      for (int64_t n = 0; n < count; ++n)
        tried[n] = roundToHalf(extremes[n] / divisor);
      for (auto [k, input] : llvm::enumerate(wanted))
        for (int64_t n = 0; n < count; ++n) {
          float difference = input[n] - tried[n] * toCode(input[n], tried[n]);
          lost[n] += costs[k] * difference * difference;
        }
      for (int64_t n = 0; n < count; ++n)
        if (lost[n] < least[n] && tried[n] != 0) {
          least[n] = lost[n];
          scales[n] = tried[n];
        }
    }
  }

  /// Rounds input `k`, of which the inputs behind it take their part. `lost` gets what it lost, and
  /// `put` the row and the code of each number; the sum of what is lost for good is returned.
  double round(int64_t k, float *lost, function_ref<void(int64_t row, int code)> put) {
    double sum = 0;
    for (int64_t n = 0; n < count; ++n) {
      float code = toCode(numbers[k][n], scales[n]);
      float difference = numbers[k][n] - scales[n] * code;
      sum += costs[k] * difference * difference;
      lost[n] = originals[k][n] - scales[n] * code;
      put(n, static_cast<int>(code));
    }
    passOn(numbers, k, lost);
    return sum;
  }

private:
  void passOn(Inputs &to, int64_t k, const float *lost) const {
    for (int64_t other = k + 1; other < kInt4Group; ++other)
      for (int64_t n = 0; n < count; ++n)
        to[other][n] += feedback[k * stride + other] * lost[n];
  }

  static float toCode(float number, float scale) {
    return scale == 0 ? 0 : roundToInteger(number / scale, kLeastInt4, kMostInt4);
  }

  const float *const feedback;
  const int64_t stride;
  const float *const costs;
  const int64_t count;
};

} // namespace

/// Copies input `k` of all rows: a column.
static void copyInput(const float *rows, int64_t inputs, int64_t k, int64_t count, float *out) {
  for (int64_t n = 0; n < count; ++n)
    out[n] = rows[n * inputs + k];
}

bool InputFactor::quantize(const float *rows, int64_t count, CalibratedRows out,
                           CalibrationLoss &loss) const {
  for (int64_t i = 0; i < count * inputs; ++i)
    if (!(std::fabs(rows[i]) <= kMostOfHalf)) // nor NaN
      return false;
  addEnergy(rows, count, loss);
  std::vector<float> lost(inputs * kLanes); // at each input
  for (int64_t done = 0; done < count; done += kLanes) {
    int64_t lanes = std::min(kLanes, count - done);
    for (int64_t first = 0; first < inputs; first += kInt4Group) {
      auto group =
          std::make_unique<Group>(&feedback[first * (inputs + 1)], inputs, &costs[first], lanes);
      for (int64_t k = 0; k < kInt4Group; ++k)
        copyInput(rows + done * inputs, inputs, first + k, lanes, group->originals[k].data());
      group->numbers = group->originals;
      addProduct({&feedback[first], inputs, lost.data(), kLanes, group->numbers[0].data(), kLanes,
                  kInt4Group, lanes, first});
      group->chooseScales();
      for (int64_t k = 0; k < kInt4Group; ++k)
        loss.lost += group->round(k, &lost[(first + k) * kLanes], [&](int64_t row, int code) {
          char &byte = out.codes[((done + row) * inputs + first + k) / 2];
          byte = static_cast<char>(k % 2 == 0 ? code & 15 : (byte & 15) | code << 4);
        });
      for (int64_t n = 0; n < lanes; ++n)
        F16Element::store(group->scales[n], out.scales + ((done + n) * inputs + first) /
                                                             kInt4Group * F16Element::kSize);
    }
  }
  return true;
}

/// By the first of the rows: wᵀ H w is the sum of D[k] (Fᵀ w)[k]².
void InputFactor::addEnergy(const float *rows, int64_t count, CalibrationLoss &loss) const {
  constexpr int64_t kMost = 16;
  int64_t taken = std::min(kMost, count);
  std::vector<float> numbers(inputs * kMost);
  for (int64_t k = 0; k < inputs; ++k)
    copyInput(rows, inputs, k, taken, numbers.data() + k * kMost);
  std::vector<float> sums = numbers;
  double energy = 0;
  for (int64_t first = 0; first < inputs; first += kInt4Group) {
    addProduct({feedback.data() + first, inputs, numbers.data(), kMost, sums.data() + first * kMost,
                kMost, kInt4Group, taken, first});
    for (int64_t k = first; k < first + kInt4Group; ++k) {
      for (int64_t other = first; other < k; ++other)
        for (int64_t n = 0; n < taken; ++n)
          sums[k * kMost + n] += feedback[other * inputs + k] * numbers[other * kMost + n];
      for (int64_t n = 0; n < taken; ++n)
        energy += static_cast<double>(costs[k]) * sums[k * kMost + n] * sums[k * kMost + n];
    }
  }
  loss.energy += energy * static_cast<double>(count) / static_cast<double>(taken);
}
