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

/// All numbers as text of one width.
static std::vector<std::string> printNumbers(const Array &array) {
  size_t count = countElements(array), width = 0;
  double most = 0;
  if (isReal(array.dtype))
    for (size_t i = 0; i < count; ++i)
      if (double value = std::fabs(realAt(array, i)); std::isfinite(value))
        most = std::max(most, value);
  const char *format = most == 0 || (most >= 1e-2 && most < 1e6) ? "%.4f" : "%.4e";
  std::vector<std::string> texts(count);
  for (size_t i = 0; i < count; ++i) {
    char text[64];
    if (isReal(array.dtype))
      std::snprintf(text, sizeof(text), format, realAt(array, i));
    else
      std::snprintf(text, sizeof(text), "%lld", static_cast<long long>(integerAt(array, i)));
    texts[i] = text;
    width = std::max(width, texts[i].size());
  }
  for (std::string &text : texts)
    text.insert(0, width - text.size(), ' ');
  return texts;
}

std::string printValues(const Array &array) {
  std::string text = array.name + ": [";
  for (size_t axis = 0; axis < array.shape.size(); ++axis)
    text += (axis ? ", " : "") + std::to_string(array.shape[axis]);
  text += "] " + typeName(array.dtype) + "\n";
  std::vector<std::string> numbers = printNumbers(array);
  size_t rank = array.shape.size();
  if (rank == 0)
    return text + "  " + numbers.front() + "\n";
  if (numbers.empty())
    return text + "  []\n";
  auto row = static_cast<size_t>(array.shape.back());
  for (size_t first = 0; first < numbers.size(); first += row) {
    // Brackets open and close for each axis whose first or last element this row has.
    size_t opened = 1, closed = 1, before = first / row, after = before + 1;
    for (size_t axis = rank - 1; axis-- > 0; ++opened) {
      if (before % static_cast<size_t>(array.shape[axis]))
        break;
      before /= static_cast<size_t>(array.shape[axis]);
    }
    for (size_t axis = rank - 1; axis-- > 0; ++closed) {
      if (after % static_cast<size_t>(array.shape[axis]))
        break;
      after /= static_cast<size_t>(array.shape[axis]);
    }
    text += "  " + std::string(rank - opened, ' ') + std::string(opened, '[');
    for (size_t i = 0; i < row; ++i)
      text += (i ? ", " : "") + numbers[first + i];
    text += std::string(closed, ']') + (closed < rank ? ",\n" : "\n");
  }
  return text;
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
