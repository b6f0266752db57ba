// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See JsonTree.h. Trees that are deep or large are left to changes of bytes: what goes over them
// calls itself.
#include "test/fuzz/support/JsonTree.h"

#include "test/fuzz/support/Fuzz.h"

#include <nlohmann/json.hpp>

namespace fovea::fuzz {

namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostDepth = 100;
constexpr size_t kMostValues = 20000;

/// All values of a tree; false if there are too many.
bool collect(Json &value, std::vector<Json *> &values, size_t depth = 0) {
  values.push_back(&value);
  if (depth > kMostDepth || values.size() > kMostValues)
    return false;
  if (value.is_structured())
    for (Json &child : value)
      if (!collect(child, values, depth + 1))
        return false;
  return true;
}

/// Before parsing, whose result would be freed by calls that are as deep.
bool isDeep(std::string_view text) {
  size_t depth = 0;
  for (char c : text) {
    if (c == '[' || c == '{')
      ++depth;
    else if ((c == ']' || c == '}') && depth)
      --depth;
    if (depth > kMostDepth)
      return true;
  }
  return false;
}

std::string print(const Json &value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json oddValue(Random &random) {
  static const Json values[] = {nullptr,
                                true,
                                false,
                                "",
                                "\uFFFD",
                                "gelu",
                                "(a+)+$",
                                "\\s+|\\p{L}+",
                                0.5,
                                1e308,
                                -1e-308,
                                1e-6,
                                Json::array(),
                                Json::object(),
                                Json::array({0, 1, 2}),
                                Json::array({nullptr})};
  switch (random.below(4)) {
  case 0:
    return static_cast<int64_t>(oddNumber(random));
  case 1:
    return random.oneIn(4) ? Json(oddNumber(random)) : Json(random.below(4096));
  case 2:
    return random.oneIn(8) ? Json(std::string(1 + random.below(300), 'a')) : random.of(values);
  default:
    return random.of(values);
  }
}

void changeScalar(Json &value, Random &random) {
  if (value.is_number_integer()) {
    value = static_cast<int64_t>(changedNumber(value.get<uint64_t>(), random));
  } else if (value.is_number()) {
    value = value.get<double>() * random.of({-1.0, 0.5, 2.0, 1e6, 1e-6});
  } else if (value.is_string()) {
    auto text = value.get<std::string>();
    changeText(text, random);
    value = text;
  } else if (value.is_boolean()) {
    value = !value.get<bool>();
  } else {
    value = oddValue(random);
  }
}

Json &childOf(Json &value, Random &random) {
  return *std::next(value.begin(), static_cast<ptrdiff_t>(random.below(value.size())));
}

void change(Json &root, Random &random) {
  std::vector<Json *> values;
  if (!collect(root, values))
    return;
  Json &value = *random.of(values);
  bool isFull = value.is_structured() && !value.empty();
  switch (random.below(8)) {
  case 0: // remove
    if (isFull)
      value.erase(std::next(value.begin(), static_cast<ptrdiff_t>(random.below(value.size()))));
    else
      value = oddValue(random);
    return;
  case 1: { // copy from another place
    Json copy = *random.of(values);
    value = std::move(copy);
    return;
  }
  case 2: // add
    if (value.is_array())
      value.push_back(isFull ? Json(childOf(value, random)) : oddValue(random));
    else if (value.is_object())
      value["k" + std::to_string(random.below(9))] = oddValue(random);
    else
      changeScalar(value, random);
    return;
  case 3: // exchange
    if (isFull)
      std::swap(childOf(value, random), childOf(value, random));
    else
      changeScalar(value, random);
    return;
  case 4: { // wrap
    Json copy = value;
    value = Json::array({std::move(copy)});
    return;
  }
  case 5: // a key of another name
    if (value.is_object() && isFull) {
      auto from = std::next(value.begin(), static_cast<ptrdiff_t>(random.below(value.size())));
      std::string key = from.key();
      Json child = from.value();
      value.erase(key);
      changeText(key, random);
      value[key] = std::move(child);
      return;
    }
    changeScalar(value, random);
    return;
  case 6:
    value = oddValue(random);
    return;
  default:
    changeScalar(value, random);
  }
}

} // namespace

size_t mutateJson(uint8_t *data, size_t size, size_t most, unsigned seed) {
  Random random(seed);
  std::string_view text(reinterpret_cast<char *>(data), size);
  if (random.oneIn(12) || isDeep(text))
    return LLVMFuzzerMutate(data, size, most);
  Json root = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (root.is_discarded())
    return LLVMFuzzerMutate(data, size, most);
  for (size_t changes = 1 + random.below(3); changes; --changes)
    change(root, random);
  return give(print(root), data, size, most);
}

} // namespace fovea::fuzz
