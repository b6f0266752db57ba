// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arrays from the command line: nested lists of numbers, or random ones. Refuses
// lists that are not of one shape, and numbers that the element type cannot hold.
#include "tools/verbs/Values.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

namespace fovea::verbs {

/// Elements of what is typed or made up: what a person can mean, and no more memory than that.
static constexpr int64_t kMostElements = 1 << 24;

static void appendInteger(Bytes &data, int64_t value, fovea_dtype type) {
  for (int byte = 0; byte < std::max<int>(type.bits, 8) / 8; ++byte)
    data.push_back(static_cast<uint8_t>(value >> (8 * byte)));
}

/// A number of a list; false if the type cannot hold it.
static bool appendNumber(Bytes &data, const nlohmann::json &number, fovea_dtype type) {
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
  appendInteger(data, value, type);
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

/// The range of random integers, "SHAPE" or "SHAPE:LIMIT"; one of which there is nothing to draw is
/// what a mask has that hides nothing. False if it is not known or cannot be had.
static bool findLimit(std::string &shape, const fovea_value_info &value, const Chance &chance,
                      int64_t &least, int64_t &limit, std::string &error) {
  bool isSigned = value.dtype.code == FOVEA_INT;
  int bits = value.dtype.code == FOVEA_BOOL ? 1 : std::min<int>(value.dtype.bits - isSigned, 62);
  int64_t most = int64_t(1) << bits;
  size_t colon = shape.find(':');
  if (colon != std::string::npos) {
    const char *begin = shape.data() + colon + 1, *end = shape.data() + shape.size();
    auto [stop, code] = std::from_chars(begin, end, limit);
    if (stop != end || begin == end || code != std::errc() || limit < 1 || limit > most) {
      error = "expects a limit from 1 to " + std::to_string(most) + " of random " +
              typeName(value.dtype) + " numbers, got '" + shape.substr(colon + 1, 40) + "'";
      return false;
    }
    shape.resize(colon);
    return true;
  }
  if (value.role == FOVEA_ROLE_ATTENTION_MASK) {
    least = 1;
    limit = 2;
  } else if (value.role == FOVEA_ROLE_TOKEN_IDS && chance.vocabulary > 0) {
    limit = std::min(chance.vocabulary, most);
  } else if (value.dtype.code == FOVEA_BOOL) {
    limit = 2;
  } else {
    error = "expects a limit of random " + typeName(value.dtype) +
            " numbers, as in random:" + shape.substr(0, 40) + ":100 for 0 to 99";
    return false;
  }
  return true;
}

static bool makeRandom(std::string shape, const fovea_value_info &value, const Chance &chance,
                       Array &array, std::string &error) {
  int64_t least = 0, limit = 0;
  if (!isReal(array.dtype) && !findLimit(shape, value, chance, least, limit, error))
    return false;
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
  std::mt19937_64 random(seed ^ (chance.seed * 0x9e3779b97f4a7c15));
  for (size_t i = 0, count = countElements(array); i < count; ++i) {
    if (!isReal(array.dtype)) {
      auto range = static_cast<uint64_t>(limit - least);
      appendInteger(array.data, least + static_cast<int64_t>((random() >> 1) % range), array.dtype);
      continue;
    }
    int64_t sum = 0;
    for (int n = 0; n < 4; ++n)
      sum += static_cast<int64_t>(random() >> 44) - (1 << 19);
    appendReal(array.data, std::ldexp(static_cast<double>(sum), -19), array.dtype);
  }
  return true;
}

bool parseValues(const std::string &text, const fovea_value_info &value, const Chance &chance,
                 Array &array, std::string &error) {
  array.name = value.name;
  array.dtype = value.dtype;
  if (text.rfind("random:", 0) == 0)
    return makeRandom(text.substr(7), value, chance, array, error);
  auto lists = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (lists.is_discarded()) {
    error = "expects lists of numbers as in [[1, 2], [3, 4]], or random:SHAPE, got '" +
            text.substr(0, 40) + "'";
    return false;
  }
  return flatten(lists, array, error);
}

} // namespace fovea::verbs
