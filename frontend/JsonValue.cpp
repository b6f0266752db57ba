// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A parsed value: making it, finding a member by its key, and describing it for messages.
#include "frontend/Json.h"

#include <algorithm>
#include <numeric>
#include <utility>

using namespace fovea;

void JsonValue::Children::sortKeys() {
  byKey.resize(keys.size());
  std::iota(byKey.begin(), byKey.end(), 0u);
  std::sort(byKey.begin(), byKey.end(), [&](uint32_t a, uint32_t b) { return keys[a] < keys[b]; });
}

JsonValue JsonValue::ofBool(bool value) {
  JsonValue result;
  result.kindOf = Kind::Bool;
  result.integerValue = value;
  return result;
}

JsonValue JsonValue::ofInteger(int64_t value) {
  JsonValue result;
  result.kindOf = Kind::Integer;
  result.integerValue = value;
  return result;
}

JsonValue JsonValue::ofNumber(double value) {
  JsonValue result;
  result.kindOf = Kind::Number;
  result.numberValue = value;
  return result;
}

JsonValue JsonValue::ofString(std::string value) {
  JsonValue result;
  result.kindOf = Kind::String;
  result.text = std::move(value);
  return result;
}

JsonValue JsonValue::ofArray(std::vector<JsonValue> elements) {
  JsonValue result;
  result.kindOf = Kind::Array;
  auto children = std::make_shared<Children>();
  children->elements = std::move(elements);
  result.children = std::move(children);
  return result;
}

JsonValue JsonValue::ofObject(std::vector<std::string> keys, std::vector<JsonValue> elements) {
  JsonValue result;
  result.kindOf = Kind::Object;
  auto children = std::make_shared<Children>();
  children->keys = std::move(keys);
  children->elements = std::move(elements);
  children->sortKeys();
  result.children = std::move(children);
  return result;
}

const std::vector<JsonValue> &JsonValue::elements() const {
  static const std::vector<JsonValue> none;
  return children ? children->elements : none;
}

const std::vector<std::string> &JsonValue::keys() const {
  static const std::vector<std::string> none;
  return children ? children->keys : none;
}

const JsonValue *JsonValue::find(std::string_view key) const {
  if (!isObject() || !children)
    return nullptr;
  const std::vector<uint32_t> &order = children->byKey;
  auto position =
      std::lower_bound(order.begin(), order.end(), key, [&](uint32_t i, std::string_view wanted) {
        return std::string_view(children->keys[i]) < wanted;
      });
  if (position == order.end() || children->keys[*position] != key)
    return nullptr;
  return &children->elements[*position];
}

const char *JsonValue::kindName() const {
  switch (kindOf) {
  case Kind::Null:
    return "null";
  case Kind::Bool:
    return "a boolean";
  case Kind::Integer:
    return "an integer";
  case Kind::Number:
    return "a number";
  case Kind::String:
    return "a string";
  case Kind::Array:
    return "an array";
  case Kind::Object:
    return "an object";
  }
  return "";
}

std::string JsonValue::describe() const {
  switch (kindOf) {
  case Kind::Bool:
    return boolean() ? "true" : "false";
  case Kind::Integer:
    return std::to_string(integerValue);
  case Kind::Number:
    return printNumber(numberValue);
  case Kind::String:
    return quote(text);
  case Kind::Array:
    return "an array of " + std::to_string(elements().size());
  default:
    return kindName();
  }
}
