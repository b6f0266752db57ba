// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arrays as text and as JSON, and what the runtime and a caller are told of them.
#include "tools/verbs/Values.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

namespace fovea::verbs {

fovea_tensor tensorOf(Array &array) {
  static uint8_t none[8];
  fovea_tensor tensor{};
  tensor.data = array.data.empty() ? none : array.data.data();
  tensor.device.type = FOVEA_CPU;
  tensor.ndim = static_cast<int32_t>(array.shape.size());
  tensor.dtype = array.dtype;
  tensor.shape = array.shape.data();
  return tensor;
}

std::string describe(const fovea_value_info &value) {
  std::string text = "[";
  for (int32_t axis = 0; axis < value.ndim; ++axis) {
    text += axis ? ", " : "";
    if (value.shape[axis] >= 0)
      text += std::to_string(value.shape[axis]);
    else
      text += *value.dimensions[axis] ? value.dimensions[axis] : "?";
  }
  return text + "] " + typeName(value.dtype);
}

int64_t integerAt(const Array &array, size_t i) {
  size_t bytes = std::max<size_t>(array.dtype.bits, 8) / 8;
  uint64_t value = 0;
  std::memcpy(&value, array.data.data() + i * bytes, bytes); // x86-64 is little-endian
  auto unused = static_cast<int>(64 - 8 * bytes);
  return array.dtype.code == FOVEA_INT ? static_cast<int64_t>(value << unused) >> unused
                                       : static_cast<int64_t>(value);
}

size_t countElements(const Array &array) {
  size_t count = 1;
  for (int64_t size : array.shape)
    count *= static_cast<size_t>(size);
  return count;
}

/// Arrays of more elements are elided, as numpy does, to so many at both ends of an axis.
static constexpr size_t kMostPrinted = 1000, kEdge = 3;

/// The places of an axis that are printed; between two that are no neighbours stand dots.
static std::vector<size_t> choosePlaces(size_t size, bool isElided) {
  std::vector<size_t> places;
  for (size_t i = 0; i < size; ++i)
    if (!isElided || size <= 2 * kEdge || i < kEdge || i >= size - kEdge)
      places.push_back(i);
  return places;
}

namespace {
/// An array as rows of numbers of one width. Without recursion: how many axes there are is
/// somebody else's choice.
class Printer {
public:
  Printer(const Array &array, bool isElided) : array(array), at(array.shape.size()) {
    for (int64_t size : array.shape)
      places.push_back(choosePlaces(static_cast<size_t>(size), isElided));
    if (places.empty())
      places.push_back({0}); // a scalar is a row of one, but for its brackets
    double most = 0;
    forEachRow([&](size_t first) {
      for (size_t place : places.back())
        if (double value = isReal(array.dtype) ? std::fabs(realAt(array, first + place)) : 0;
            std::isfinite(value))
          most = std::max(most, value);
    });
    format = most == 0 || (most >= 1e-2 && most < 1e6) ? "%.4f" : "%.4e";
    forEachRow([&](size_t first) {
      for (size_t place : places.back())
        width = std::max(width, write(first + place).size());
    });
  }

  std::string print() {
    std::string text;
    size_t rank = array.shape.size();
    forEachRow([&](size_t first) {
      // Brackets open and close for each axis whose first or last element this row has.
      size_t opened = std::min<size_t>(1, rank), closed = opened;
      for (size_t axis = rank; axis-- > 1 && at[axis - 1] == 0;)
        ++opened;
      for (size_t axis = rank; axis-- > 1 && at[axis - 1] + 1 == places[axis - 1].size();)
        ++closed;
      // The axis that went on to this row may have left some out.
      if (size_t axis = rank - opened - 1; opened < rank && isBehindDots(axis, at[axis]))
        text += "  " + std::string(axis + 1, ' ') + "...,\n";
      text += "  " + std::string(rank - opened, ' ') + std::string(opened, '[');
      for (size_t i = 0; i < places.back().size(); ++i) {
        text += i ? ", " : "";
        text += isBehindDots(places.size() - 1, i) ? "..., " : "";
        std::string number = write(first + places.back()[i]);
        text += number.insert(0, width - number.size(), ' ');
      }
      text += std::string(closed, ']') + (closed < rank ? ",\n" : "\n");
    });
    return text;
  }

private:
  /// Whether something is left out before a place.
  bool isBehindDots(size_t axis, size_t i) const {
    return i > 0 && places[axis][i] != places[axis][i - 1] + 1;
  }

  std::string write(size_t i) const {
    char text[64];
    if (isReal(array.dtype))
      std::snprintf(text, sizeof(text), format, realAt(array, i));
    else
      std::snprintf(text, sizeof(text), "%lld", static_cast<long long>(integerAt(array, i)));
    return text;
  }

  /// Hears where each printed row begins; `at` is then its place among those of the other axes.
  template <typename Hear> void forEachRow(Hear hear) {
    std::fill(at.begin(), at.end(), 0);
    size_t outer = places.size() - 1;
    while (true) {
      size_t first = 0;
      for (size_t axis = 0; axis < outer; ++axis)
        first = first * static_cast<size_t>(array.shape[axis]) + places[axis][at[axis]];
      hear(array.shape.empty() ? 0 : first * static_cast<size_t>(array.shape.back()));
      size_t axis = outer;
      for (; axis > 0; --axis) {
        if (++at[axis - 1] < places[axis - 1].size())
          break;
        at[axis - 1] = 0;
      }
      if (axis == 0)
        return;
    }
  }

  const Array &array;
  std::vector<size_t> at;                  ///< of a row, in places
  std::vector<std::vector<size_t>> places; ///< of each axis
  const char *format = "";
  size_t width = 0;
};
} // namespace

std::string printValues(const Array &array, bool isFull) {
  std::string text = array.name + ": [";
  for (size_t axis = 0; axis < array.shape.size(); ++axis)
    text += (axis ? ", " : "") + std::to_string(array.shape[axis]);
  text += "] " + typeName(array.dtype) + "\n";
  size_t count = countElements(array);
  return text + (count == 0 ? "  []\n" : Printer(array, !isFull && count > kMostPrinted).print());
}

nlohmann::ordered_json toJson(const Array &array) {
  nlohmann::ordered_json level = nlohmann::ordered_json::array();
  for (size_t i = 0, count = countElements(array); i < count; ++i) {
    if (isReal(array.dtype))
      level.push_back(realAt(array, i));
    else
      level.push_back(integerAt(array, i));
  }
  if (array.shape.empty())
    return level[0];
  // From flat to nested, the innermost axis first.
  for (size_t axis = array.shape.size(); axis-- > 1;) {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    auto size = static_cast<size_t>(array.shape[axis]);
    size_t count = 1;
    for (size_t outer = 0; outer < axis; ++outer)
      count *= static_cast<size_t>(array.shape[outer]);
    for (size_t i = 0; i < count; ++i) {
      nlohmann::ordered_json row = nlohmann::ordered_json::array();
      for (size_t j = 0; j < size; ++j)
        row.push_back(std::move(level[i * size + j]));
      rows.push_back(std::move(row));
    }
    level = std::move(rows);
  }
  return level;
}

} // namespace fovea::verbs
