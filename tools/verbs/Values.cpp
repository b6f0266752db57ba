// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Values.h.
#include "tools/verbs/Values.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>

namespace fovea::verbs {

/// Elements of what is typed or made up: what a person can mean, and no more memory than that.
static constexpr int64_t kMostElements = 1 << 24;

static bool isReal(fovea_dtype type) {
  return type.code == FOVEA_FLOAT || type.code == FOVEA_BFLOAT;
}

static std::string typeName(fovea_dtype type) {
  static constexpr const char *kCodes[] = {"i", "u", "f", "", "bf", "", "bool"};
  std::string name = type.code < std::size(kCodes) ? kCodes[type.code] : "?";
  return type.code == FOVEA_BOOL ? name : name + std::to_string(type.bits);
}

namespace {
/// How many bits of a narrow float are exponent and fraction.
struct NarrowFormat {
  int exponent, fraction;
};
} // namespace

static NarrowFormat formatOf(fovea_dtype type) {
  return type.code == FOVEA_BFLOAT ? NarrowFormat{8, 7} : NarrowFormat{5, 10};
}

/// To the nearest number of 16 bits, ties to even; what is too large becomes infinite.
static uint16_t toNarrow(double value, NarrowFormat format) {
  auto sign = static_cast<uint16_t>(std::signbit(value) ? 0x8000 : 0);
  int all = (1 << format.exponent) - 1, bias = all >> 1;
  auto infinite = static_cast<uint16_t>(sign | all << format.fraction);
  if (std::isnan(value))
    return static_cast<uint16_t>(infinite | 1 << (format.fraction - 1));
  if (std::isinf(value))
    return infinite;
  // The unit of the last place; below the least normal number it shrinks no further.
  int exponent = value == 0 ? 1 - bias : std::max(std::ilogb(value), 1 - bias);
  double units = std::nearbyint(std::ldexp(std::fabs(value), format.fraction - exponent));
  // Carries run into the exponent, as the encoding wants it.
  double bits = std::ldexp(exponent + bias - 1, format.fraction) + units;
  return bits >= (all << format.fraction) ? infinite
                                          : static_cast<uint16_t>(sign | static_cast<int>(bits));
}

static double fromNarrow(uint16_t bits, NarrowFormat format) {
  int all = (1 << format.exponent) - 1, bias = all >> 1;
  int exponent = bits >> format.fraction & all, fraction = bits & ((1 << format.fraction) - 1);
  double value = exponent == all ? (fraction ? std::numeric_limits<double>::quiet_NaN()
                                             : std::numeric_limits<double>::infinity())
                 : exponent == 0 ? std::ldexp(fraction, 1 - bias - format.fraction)
                                 : std::ldexp(fraction + (1 << format.fraction),
                                              exponent - bias - format.fraction);
  return bits & 0x8000 ? -value : value;
}

template <typename T> static void append(std::vector<uint8_t> &data, T value) {
  size_t at = data.size();
  data.resize(at + sizeof(T));
  std::memcpy(data.data() + at, &value, sizeof(T));
}

static void appendReal(std::vector<uint8_t> &data, double value, fovea_dtype type) {
  if (type.bits == 64)
    append(data, value);
  else if (type.bits == 32)
    append(data, static_cast<float>(value));
  else
    append(data, toNarrow(value, formatOf(type)));
}

/// A number of a list; false if the type cannot hold it.
static bool appendNumber(std::vector<uint8_t> &data, const nlohmann::json &number,
                         fovea_dtype type) {
  if (isReal(type)) {
    if (!number.is_number())
      return false;
    appendReal(data, number.get<double>(), type);
    return true;
  }
  int64_t value;
  if (number.is_boolean())
    value = number.get<bool>();
  else if (number.is_number_unsigned() && number.get<uint64_t>() > uint64_t(INT64_MAX))
    return false;
  else if (number.is_number_integer())
    value = number.get<int64_t>();
  else
    return false;
  bool isSigned = type.code == FOVEA_INT;
  int64_t most = type.code == FOVEA_BOOL ? 1
                 : type.bits == 64       ? INT64_MAX
                                         : (int64_t(1) << (type.bits - isSigned)) - 1;
  int64_t least = isSigned ? -most - 1 : 0;
  if (value < least || value > most)
    return false;
  for (int byte = 0; byte < std::max<int>(type.bits, 8) / 8; ++byte)
    data.push_back(static_cast<uint8_t>(value >> (8 * byte)));
  return true;
}

/// Walks the lists depth first without recursion: their depth is the user's.
static bool flatten(const nlohmann::json &lists, Array &array, std::string &error) {
  for (const nlohmann::json *level = &lists; level->is_array(); level = &level->front()) {
    array.shape.push_back(static_cast<int64_t>(level->size()));
    if (level->empty())
      break;
  }
  struct Place {
    const nlohmann::json *node;
    size_t depth;
  };
  std::vector<Place> work{{&lists, 0}};
  while (!work.empty()) {
    auto [node, depth] = work.back();
    work.pop_back();
    if (depth == array.shape.size()) {
      if (!appendNumber(array.data, *node, array.dtype)) {
        error = "expects " + typeName(array.dtype) + " numbers, got " + node->dump().substr(0, 40);
        return false;
      }
      continue;
    }
    auto size = static_cast<size_t>(array.shape[depth]);
    if (!node->is_array() || node->size() != size) {
      error = "expects lists of " + std::to_string(size) + " at depth " +
              std::to_string(depth + 1) + ", as the first is, got " +
              (node->is_array() ? "one of " + std::to_string(node->size())
                                : node->dump().substr(0, 40));
      return false;
    }
    for (size_t i = size; i-- > 0;)
      work.push_back({&(*node)[i], depth + 1});
  }
  return true;
}

/// "2x5x8"; false if it is not that, or too much.
static bool parseShape(const std::string &text, std::vector<int64_t> &shape) {
  int64_t count = 1, size = -1;
  for (char letter : text + "x") {
    if (letter >= '0' && letter <= '9') {
      size = std::max<int64_t>(size, 0) * 10 + (letter - '0');
      if (size > kMostElements)
        return false;
    } else if (letter == 'x' && size >= 0) {
      shape.push_back(size);
      count *= std::max<int64_t>(size, 1);
      if (count > kMostElements)
        return false;
      size = -1;
    } else {
      return false;
    }
  }
  return true;
}

static bool makeRandom(const std::string &shape, Array &array, std::string &error) {
  if (!isReal(array.dtype)) {
    error =
        "expects lists of numbers for element type " + typeName(array.dtype) + ", got random ones";
    return false;
  }
  if (!parseShape(shape, array.shape)) {
    error = "expects a shape as in random:2x5x8, of at most " + std::to_string(kMostElements) +
            " elements, got '" + shape.substr(0, 40) + "'";
    return false;
  }
  // FNV-1a of the name, so that arguments differ. The generator is fixed by the C++ standard, which
  // its distributions are not: the sum of four uniform numbers is normal enough.
  uint64_t seed = 0xcbf29ce484222325;
  for (char letter : array.name)
    seed = (seed ^ static_cast<uint8_t>(letter)) * 0x100000001b3;
  std::mt19937_64 random(seed);
  int64_t count = 1;
  for (int64_t size : array.shape)
    count *= size;
  for (int64_t i = 0; i < count; ++i) {
    int64_t sum = 0;
    for (int n = 0; n < 4; ++n)
      sum += static_cast<int64_t>(random() >> 44) - (1 << 19);
    appendReal(array.data, std::ldexp(static_cast<double>(sum), -19), array.dtype);
  }
  return true;
}

bool parseValues(const std::string &text, const fovea_value_info &value, Array &array,
                 std::string &error) {
  array.name = value.name;
  array.dtype = value.dtype;
  if (text.rfind("random:", 0) == 0)
    return makeRandom(text.substr(7), array, error);
  auto lists = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (lists.is_discarded()) {
    error = "expects lists of numbers as in [[1, 2], [3, 4]], or random:SHAPE, got '" +
            text.substr(0, 40) + "'";
    return false;
  }
  return flatten(lists, array, error);
}

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

template <typename T> static T elementAt(const Array &array, size_t i) {
  T value;
  std::memcpy(&value, array.data.data() + i * sizeof(T), sizeof(T));
  return value;
}

static double realAt(const Array &array, size_t i) {
  if (array.dtype.bits == 64)
    return elementAt<double>(array, i);
  if (array.dtype.bits == 32)
    return elementAt<float>(array, i);
  return fromNarrow(elementAt<uint16_t>(array, i), formatOf(array.dtype));
}

static int64_t integerAt(const Array &array, size_t i) {
  size_t bytes = std::max<size_t>(array.dtype.bits, 8) / 8;
  uint64_t value = 0;
  std::memcpy(&value, array.data.data() + i * bytes, bytes); // x86-64 is little-endian
  auto unused = static_cast<int>(64 - 8 * bytes);
  return array.dtype.code == FOVEA_INT ? static_cast<int64_t>(value << unused) >> unused
                                       : static_cast<int64_t>(value);
}

static size_t countElements(const Array &array) {
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
