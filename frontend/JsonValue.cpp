// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A parsed value: finding a member by its key, and describing it for messages.
#include "frontend/Json.h"

#include <algorithm>

using namespace fovea;

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
