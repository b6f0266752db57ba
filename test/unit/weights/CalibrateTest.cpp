// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rounding by inputs against the paper's own procedure, with an inverse and in f64, and against
// what is lost by definition. Products against three loops.
#include "weights/Calibrate.h"
#include "weights/Products.h"
#include "weights/Rounding.h"
#include "gtest/gtest.h"
#include <cmath>
#include <limits>
#include <random>

using namespace mlir;
using namespace mlir::fovea;

namespace {

using Matrix = std::vector<double>; ///< row-major

/// Rows of inputs, of which neighbours go together, some more than others.
std::vector<float> drawInputs(int64_t count, int64_t inputs, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> rows(count * inputs);
  for (int64_t n = 0; n < count; ++n) {
    float common = normal(generator);
    for (int64_t k = 0; k < inputs; ++k)
      rows[n * inputs + k] = (normal(generator) + common * float(k % 7)) * (k % 5 == 0 ? 3 : 1);
  }
  return rows;
}

std::vector<float> drawWeights(int64_t size, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal(0, 0.05f);
  std::vector<float> weights(size);
  for (float &weight : weights)
    weight = normal(generator);
  return weights;
}

/// The mean of x xᵀ with a hundredth of the mean of its diagonal on the diagonal.
Matrix getMoments(const std::vector<float> &rows, int64_t inputs) {
  auto count = static_cast<int64_t>(rows.size()) / inputs;
  Matrix moments(inputs * inputs);
  double mean = 0;
  for (int64_t i = 0; i < inputs; ++i)
    for (int64_t j = 0; j < inputs; ++j)
      for (int64_t n = 0; n < count; ++n)
        moments[i * inputs + j] += double(rows[n * inputs + i]) * rows[n * inputs + j] / count;
  for (int64_t i = 0; i < inputs; ++i)
    mean += moments[i * inputs + i] / inputs;
  for (int64_t i = 0; i < inputs; ++i)
    moments[i * inputs + i] += 0.01 * mean;
  return moments;
}

/// What codes and scales stand for.
std::vector<float> decode(const std::vector<char> &codes, const std::vector<char> &scales,
                          int64_t size) {
  std::vector<float> numbers(size);
  for (int64_t i = 0; i < size; ++i) {
    int nibble = (codes[i / 2] >> (i % 2 * 4)) & 15;
    numbers[i] = float(nibble >= 8 ? nibble - 16 : nibble) * F16Element::load(&scales[i / 32 * 2]);
  }
  return numbers;
}

/// The sum over rows of d H dᵀ, where d is how a row differs.
double getLoss(const std::vector<float> &weights, const std::vector<float> &rounded,
               const Matrix &moments, int64_t inputs) {
  double loss = 0;
  for (size_t row = 0; row < weights.size() / inputs; ++row)
    for (int64_t i = 0; i < inputs; ++i)
      for (int64_t j = 0; j < inputs; ++j)
        loss += (double(weights[row * inputs + i]) - rounded[row * inputs + i]) *
                moments[i * inputs + j] *
                (double(weights[row * inputs + j]) - rounded[row * inputs + j]);
  return loss;
}

/// The scale of least weighted error of a group, as the rule has it.
double chooseScale(const double *group, const double *costs) {
  double extreme = 0, best = 0, least = std::numeric_limits<double>::infinity();
  for (int k = 0; k < 32; ++k)
    extreme = std::fabs(group[k]) > std::fabs(extreme) ? group[k] : extreme;
  for (float divisor : kInt4Divisors) {
    double scale = roundToHalf(float(extreme) / divisor), error = 0;
    for (int k = 0; k < 32; ++k) {
      double code = std::min(std::max(std::nearbyint(group[k] / scale), -8.0), 7.0);
      error += costs[k] * std::pow(group[k] - code * scale, 2);
    }
    if (error < least) {
      least = error;
      best = scale;
    }
  }
  return best;
}

/// Frantar et al. 2023, algorithm 1 and section 3.3: the upper Cholesky factor of the inverse.
std::vector<float> roundAsInPaper(const std::vector<float> &weights, const Matrix &moments,
                                  int64_t inputs) {
  Matrix inverse(inputs * inputs), left = moments;
  for (int64_t i = 0; i < inputs; ++i)
    inverse[i * inputs + i] = 1;
  for (int64_t i = 0; i < inputs; ++i) { // Gauss-Jordan; pivots of such a matrix are positive
    double pivot = left[i * inputs + i];
    for (int64_t j = 0; j < inputs; ++j) {
      left[i * inputs + j] /= pivot;
      inverse[i * inputs + j] /= pivot;
    }
    for (int64_t row = 0; row < inputs; ++row) {
      double factor = row == i ? 0 : left[row * inputs + i];
      for (int64_t j = 0; j < inputs && factor != 0; ++j) {
        left[row * inputs + j] -= factor * left[i * inputs + j];
        inverse[row * inputs + j] -= factor * inverse[i * inputs + j];
      }
    }
  }
  Matrix upper(inputs * inputs); // inverse = upperᵀ upper
  for (int64_t i = 0; i < inputs; ++i)
    for (int64_t j = i; j < inputs; ++j) {
      double sum = inverse[i * inputs + j];
      for (int64_t k = 0; k < i; ++k)
        sum -= upper[k * inputs + i] * upper[k * inputs + j];
      upper[i * inputs + j] = i == j ? std::sqrt(sum) : sum / upper[i * inputs + i];
    }
  std::vector<double> costs(inputs);
  for (int64_t i = 0; i < inputs; ++i)
    costs[i] = std::pow(upper[i * inputs + i], -2);
  std::vector<float> rounded(weights.size());
  for (size_t row = 0; row < weights.size() / inputs; ++row) {
    std::vector<double> w(weights.begin() + row * inputs, weights.begin() + (row + 1) * inputs);
    double scale = 0;
    for (int64_t i = 0; i < inputs; ++i) {
      if (i % 32 == 0)
        scale = chooseScale(&w[i], &costs[i]);
      double code = std::min(std::max(std::nearbyint(w[i] / scale), -8.0), 7.0);
      rounded[row * inputs + i] = float(code * scale);
      double error = (w[i] - code * scale) / upper[i * inputs + i];
      for (int64_t j = i; j < inputs; ++j)
        w[j] -= error * upper[i * inputs + j];
    }
  }
  return rounded;
}

struct Rounded {
  std::vector<float> numbers;
  CalibrationLoss loss;
  bool isFinite;
};

Rounded calibrate(MLIRContext &context, const std::vector<float> &weights,
                  const std::vector<float> &rows, int64_t inputs) {
  InputMoments moments(inputs);
  // In parts, as texts come.
  size_t half = rows.size() / inputs / 2 * inputs;
  EXPECT_TRUE(moments.add(&context, ArrayRef(rows).take_front(half)));
  EXPECT_TRUE(moments.add(&context, ArrayRef(rows).drop_front(half)));
  EXPECT_EQ(moments.getCount(), int64_t(rows.size()) / inputs);
  InputFactor factor(&context, std::move(moments));
  auto count = static_cast<int64_t>(weights.size()) / inputs;
  std::vector<char> codes(weights.size() / 2, 0x55), scales(weights.size() / 16);
  Rounded rounded;
  rounded.isFinite =
      factor.quantize(weights.data(), count, {codes.data(), scales.data()}, rounded.loss);
  rounded.numbers = decode(codes, scales, static_cast<int64_t>(weights.size()));
  return rounded;
}

TEST(Products, AreThreeLoops) {
  std::mt19937 generator(1);
  std::uniform_int_distribution<int> digit(-8, 8);
  for (auto [rows, columns, depth] :
       {std::array<int64_t, 3>{1, 1, 1}, {8, 48, 256}, {7, 300, 5}, {33, 47, 513}, {9, 1, 0}}) {
    int64_t strideOfA = rows + 3, strideOfB = columns + 1, strideOfC = columns + 2;
    std::vector<float> a(depth * strideOfA + 1), b(depth * strideOfB + 1), c(rows * strideOfC);
    for (std::vector<float> *matrix : {&a, &b, &c})
      for (float &value : *matrix)
        value = float(digit(generator));
    std::vector<float> expected = c;
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        for (int64_t k = 0; k < depth; ++k)
          expected[i * strideOfC + j] -= 2 * a[k * strideOfA + i] * b[k * strideOfB + j];
    addProduct(
        {a.data(), strideOfA, b.data(), strideOfB, c.data(), strideOfC, rows, columns, depth, -2});
    EXPECT_EQ(c, expected) << rows << " by " << columns << " of " << depth;
  }
}

TEST(Calibrate, RoundsAsThePaper) {
  MLIRContext context;
  for (auto [count, inputs] : {std::pair<int64_t, int64_t>{1, 32}, {130, 96}, {5, 320}}) {
    std::vector<float> rows = drawInputs(2 * inputs, inputs, 1),
                       weights = drawWeights(count * inputs, 2);
    Matrix moments = getMoments(rows, inputs);
    Rounded rounded = calibrate(context, weights, rows, inputs);
    ASSERT_TRUE(rounded.isFinite);
    double loss = getLoss(weights, rounded.numbers, moments, inputs);
    std::vector<float> expected = roundAsInPaper(weights, moments, inputs);
    int64_t equal = 0;
    for (size_t i = 0; i < weights.size(); ++i)
      equal += std::fabs(rounded.numbers[i] - expected[i]) < 1e-6;
    // A number that lies in the middle of two may go to the other, and changes what follows.
    EXPECT_GT(equal, int64_t(weights.size()) * 95 / 100) << inputs;
    EXPECT_NEAR(loss / getLoss(weights, expected, moments, inputs), 1, 0.02) << inputs;
    EXPECT_NEAR(rounded.loss.lost / loss, 1, 1e-3) << inputs;
    std::vector<float> none(weights.size());
    double energy = getLoss(weights, none, moments, inputs);
    EXPECT_NEAR(rounded.loss.energy / energy, 1, count > 16 ? 0.2 : 1e-3) << inputs;
  }
}

TEST(Calibrate, LosesLessThanRoundingEachAlone) {
  MLIRContext context;
  constexpr int64_t kInputs = 256, kCount = 64;
  std::vector<float> rows = drawInputs(4 * kInputs, kInputs, 3),
                     weights = drawWeights(kCount * kInputs, 4);
  Matrix moments = getMoments(rows, kInputs);
  std::vector<double> costs(32, 1);
  std::vector<float> alone(weights.size());
  for (size_t first = 0; first < weights.size(); first += 32) {
    std::vector<double> group(weights.begin() + first, weights.begin() + first + 32);
    double scale = chooseScale(group.data(), costs.data());
    for (int k = 0; k < 32; ++k)
      alone[first + k] =
          float(std::min(std::max(std::nearbyint(group[k] / scale), -8.0), 7.0) * scale);
  }
  Rounded rounded = calibrate(context, weights, rows, kInputs);
  EXPECT_LT(getLoss(weights, rounded.numbers, moments, kInputs),
            0.6 * getLoss(weights, alone, moments, kInputs));
}

/// Inputs that never come cost nothing and make up for nothing.
TEST(Calibrate, InputsThatNeverCome) {
  MLIRContext context;
  constexpr int64_t kInputs = 64;
  std::vector<float> rows(128 * kInputs), weights = drawWeights(3 * kInputs, 5);
  Rounded rounded = calibrate(context, weights, rows, kInputs);
  ASSERT_TRUE(rounded.isFinite);
  for (size_t i = 0; i < weights.size(); ++i)
    EXPECT_NEAR(rounded.numbers[i], weights[i], 0.03);
}

TEST(Calibrate, RefusesWhatIsNotFinite) {
  MLIRContext context;
  InputMoments moments(32);
  std::vector<float> rows(32, 1);
  rows[7] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(moments.add(&context, rows));
  EXPECT_EQ(moments.getCount(), 0);
  for (float value : {std::numeric_limits<float>::infinity(),
                      -std::numeric_limits<float>::quiet_NaN(), 70000.0f}) {
    std::vector<float> weights(64, 0.5f);
    weights[40] = value;
    EXPECT_FALSE(calibrate(context, weights, std::vector<float>(64, 1), 32).isFinite) << value;
  }
}

/// Zeros stay zeros, in rows and in groups.
TEST(Calibrate, Zeros) {
  MLIRContext context;
  std::vector<float> weights = drawWeights(2 * 64, 6);
  std::fill(weights.begin() + 64, weights.end(), 0.0f);
  Rounded rounded = calibrate(context, weights, drawInputs(128, 64, 7), 64);
  ASSERT_TRUE(rounded.isFinite);
  for (size_t i = 64; i < 128; ++i)
    EXPECT_EQ(rounded.numbers[i], 0);
}

} // namespace
