// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pillow's Image.resize: each pixel a weighted sum of those that a filter covers, which is as wide
// as the picture shrinks; along rows and along columns, rounded to bytes each time. Weights are
// whole multiples of 2^-22.
#include "tools/images/Picture.h"

#include <algorithm>
#include <cmath>

namespace fovea::images {

namespace {

constexpr int weightBits = 22;

double sinc(double x) { return x == 0 ? 1 : std::sin(x * M_PI) / (x * M_PI); }

double bicubic(double x) {
  constexpr double a = -0.5; // Keys 1981
  x = std::fabs(x);
  if (x < 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

double hamming(double x) {
  x = std::fabs(x);
  if (x == 0)
    return 1;
  if (x >= 1)
    return 0;
  x *= M_PI;
  return std::sin(x) / x * (0.54 + 0.46 * std::cos(x));
}

struct Filter {
  double support; ///< Zero beyond, at a picture of the same size.
  double (*weigh)(double);
};

Filter filterOf(fovea_image_filter filter) {
  switch (filter) {
  case FOVEA_BOX:
    return {0.5, [](double x) { return x > -0.5 && x <= 0.5 ? 1.0 : 0.0; }};
  case FOVEA_HAMMING:
    return {1, hamming};
  case FOVEA_BICUBIC:
    return {2, bicubic};
  case FOVEA_LANCZOS:
    return {3, [](double x) { return x >= -3 && x < 3 ? sinc(x) * sinc(x / 3) : 0.0; }};
  default:
    return {1, [](double x) { return std::max(0.0, 1 - std::fabs(x)); }};
  }
}

/// What one pixel is made of.
struct Sum {
  int64_t first;
  std::vector<int32_t> weights;
};

std::vector<Sum> weigh(int64_t from, int64_t to, const Filter &filter) {
  std::vector<Sum> sums(static_cast<size_t>(to));
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  const double width = std::max(scale, 1.0), support = filter.support * width;
  const double step = 1 / width;
  std::vector<double> weights;
  for (size_t i = 0; i < sums.size(); ++i) {
    const double centre = (static_cast<double>(i) + 0.5) * scale;
    const auto first = std::max<int64_t>(static_cast<int64_t>(centre - support + 0.5), 0);
    const auto end = std::min<int64_t>(static_cast<int64_t>(centre + support + 0.5), from);
    weights.clear();
    double all = 0;
    for (int64_t x = 0; x < end - first; ++x) {
      weights.push_back(filter.weigh((static_cast<double>(x + first) - centre + 0.5) * step));
      all += weights.back();
    }
    sums[i].first = first;
    for (double weight : weights) {
      if (all != 0)
        weight /= all;
      const double whole = weight * (1 << weightBits);
      sums[i].weights.push_back(static_cast<int32_t>(weight < 0 ? whole - 0.5 : whole + 0.5));
    }
  }
  return sums;
}

/// The sum of bytes that stand `stride` apart.
uint8_t add(const uint8_t *bytes, int64_t stride, const Sum &sum) {
  int32_t result = 1 << (weightBits - 1);
  for (int32_t weight : sum.weights) {
    result += *bytes * weight;
    bytes += stride;
  }
  return static_cast<uint8_t>(std::clamp(result >> weightBits, 0, 255));
}

Picture alongRows(const Picture &picture, int64_t width, const Filter &filter) {
  Picture result(picture.height, width, picture.channels);
  const std::vector<Sum> sums = weigh(picture.width, width, filter);
  for (int64_t y = 0; y < picture.height; ++y)
    for (int64_t x = 0; x < width; ++x) {
      const Sum &sum = sums[static_cast<size_t>(x)];
      for (int64_t c = 0; c < picture.channels; ++c)
        result.at(y, x)[c] = add(picture.at(y, sum.first) + c, picture.channels, sum);
    }
  return result;
}

Picture alongColumns(const Picture &picture, int64_t height, const Filter &filter) {
  Picture result(height, picture.width, picture.channels);
  const std::vector<Sum> sums = weigh(picture.height, height, filter);
  const int64_t row = picture.width * picture.channels;
  for (int64_t y = 0; y < height; ++y) {
    const Sum &sum = sums[static_cast<size_t>(y)];
    for (int64_t i = 0; i < row; ++i)
      result.at(y, 0)[i] = add(picture.at(sum.first, 0) + i, row, sum);
  }
  return result;
}

/// Which of `from` pixels each of `to` is.
std::vector<int64_t> nearest(int64_t from, int64_t to) {
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  std::vector<int64_t> result;
  double place = scale * 0.5; // summed up, as Pillow does
  for (int64_t i = 0; i < to; ++i, place += scale)
    result.push_back(std::min(static_cast<int64_t>(place), from - 1));
  return result;
}

Picture takeNearest(const Picture &picture, int64_t height, int64_t width) {
  Picture result(height, width, picture.channels);
  const std::vector<int64_t> rows = nearest(picture.height, height),
                             columns = nearest(picture.width, width);
  for (int64_t y = 0; y < height; ++y)
    for (int64_t x = 0; x < width; ++x)
      std::copy_n(picture.at(rows[static_cast<size_t>(y)], columns[static_cast<size_t>(x)]),
                  picture.channels, result.at(y, x));
  return result;
}

} // namespace

Picture resize(const Picture &picture, int64_t height, int64_t width, fovea_image_filter filter) {
  if (filter == FOVEA_NEAREST)
    return takeNearest(picture, height, width);
  const Filter found = filterOf(filter);
  // Which pass is first shows in the rounding between them. Pillow 13 begins with the columns where
  // these lose more than twice as many pixels as rows do; before, it always began with the rows.
  const int64_t fewer = picture.height - height;
  const bool columnsFirst = fewer > 0 && fewer > 2 * (picture.width - width);
  Picture result = picture;
  for (bool columns : {columnsFirst, !columnsFirst}) {
    if (columns && height != result.height)
      result = alongColumns(result, height, found);
    if (!columns && width != result.width)
      result = alongRows(result, width, found);
  }
  return result;
}

} // namespace fovea::images
