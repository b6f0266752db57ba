// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What `--input NAME=VALUES` says, and how arrays are printed. The input's first two bytes choose
// the type and the rank that are asked for.
#include "test/fuzz/support/Fuzz.h"
#include "tools/verbs/Values.h"

#include <algorithm>
#include <nlohmann/json.hpp>

using namespace fovea;

/// Whether numbers, or empty lists of them, are made up in an amount that is allowed, but takes
/// long.
static bool isLong(std::string_view text) {
  if (text.substr(0, 7) != "random:")
    return false;
  uint64_t product = 1, number = 0;
  for (char c : std::string(text.substr(7)) + "x") {
    if (c >= '0' && c <= '9') {
      number = number * 10 + static_cast<uint64_t>(c - '0');
    } else {
      product *= std::max<uint64_t>(number, 1);
      number = 0;
    }
    if (product > 1u << 24 || number > 1u << 24)
      return false; // refused
  }
  return product > 1u << 12;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static constexpr fovea_dtype types[] = {
      {FOVEA_FLOAT, 32, 1}, {FOVEA_FLOAT, 16, 1}, {FOVEA_BFLOAT, 16, 1},
      {FOVEA_FLOAT, 64, 1}, {FOVEA_INT, 64, 1},   {FOVEA_INT, 32, 1},
      {FOVEA_INT, 8, 1},    {FOVEA_UINT, 8, 1},   {FOVEA_BOOL, 8, 1}};
  static constexpr int64_t shape[] = {-1, 3, -1, 2};
  static constexpr const char *names[] = {"a", "", "b", ""};
  fuzz::Input input(data, size);
  fovea_value_info value = FOVEA_VALUE_INFO_INIT;
  value.name = "x";
  value.dtype = types[input.take<uint8_t>() % std::size(types)];
  value.ndim = input.take<uint8_t>() % 5;
  value.shape = shape;
  value.dimensions = names;
  (void)verbs::describe(value);
  if (isLong(input.rest()))
    return 0;
  verbs::Array array;
  std::string error;
  bool isRead = verbs::parseValues(std::string(input.rest()), value, {1, 32}, array, error);
  fuzz::require(isRead || !error.empty(), "what is refused has an error");
  if (isRead) {
    for (bool isFull : {false, true})
      (void)verbs::printValues(array, isFull);
    (void)verbs::toJson(array).dump();
  }
  return 0;
}
