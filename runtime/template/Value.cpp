// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Value.h.
#include "runtime/template/Value.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace fovea::jinja {

const std::string &Value::text() const { return as<TextObject>().text; }
bool Value::isMarkup() const { return is(Kind::Text) && as<TextObject>().markup; }
const std::vector<Value> &Value::items() const { return as<SequenceObject>().items; }

static uint32_t depthOf(const std::vector<Value> &values) {
  uint32_t depth = 0;
  for (const Value &value : values)
    depth = std::max(depth, value.depth());
  return depth + 1;
}

SequenceObject::SequenceObject(Memory *memory, std::vector<Value> values)
    : Object(memory, sizeof *this + values.size() * sizeof(Value), depthOf(values)),
      items(std::move(values)) {}

IteratorObject::IteratorObject(Memory *memory, std::vector<Value> values)
    : Object(memory, sizeof *this + values.size() * sizeof(Value), depthOf(values)),
      items(std::move(values)) {}

static uint32_t depthOf(const DictObject::Items &pairs) {
  uint32_t depth = 0;
  for (const auto &[key, value] : pairs)
    depth = std::max({depth, key.depth(), value.depth()});
  return depth + 1;
}

/// A node of the table beside the pair itself.
static constexpr size_t bytesOfPair = 2 * sizeof(Value) + 96;

DictObject::DictObject(Memory *memory, Items values, std::unordered_map<std::string, size_t> places)
    : Object(memory, sizeof *this + values.size() * bytesOfPair, depthOf(values)),
      items(std::move(values)), places(std::move(places)) {}

int64_t RangeObject::length() const {
  if (step > 0 ? start >= stop : start <= stop)
    return 0;
  // Without overflow: the distance may need 64 bits of its own.
  uint64_t distance = step > 0 ? static_cast<uint64_t>(stop) - static_cast<uint64_t>(start)
                               : static_cast<uint64_t>(start) - static_cast<uint64_t>(stop);
  uint64_t size = step > 0 ? static_cast<uint64_t>(step) : 0 - static_cast<uint64_t>(step);
  uint64_t count = (distance - 1) / size + 1;
  return count > INT64_MAX ? INT64_MAX : static_cast<int64_t>(count);
}

Value *NamespaceObject::find(const std::string &name) {
  for (auto &[key, value] : attributes)
    if (key == name)
      return &value;
  return nullptr;
}

/// Equal numbers are equal keys, whatever their type.
static std::string keyOfNumber(const Value &value) {
  if (value.isInteger())
    return "i" + std::to_string(value.asInteger());
  double number = value.asReal();
  if (number >= -9e18 && number <= 9e18 && number == std::floor(number))
    return "i" + std::to_string(static_cast<int64_t>(number));
  std::string key = "f";
  char bytes[sizeof number];
  std::memcpy(bytes, &number, sizeof number);
  return key.append(bytes, sizeof number);
}

std::optional<std::string> keyOf(const Value &value) {
  switch (value.kind()) {
  case Kind::None:
    return "n";
  case Kind::Bool:
  case Kind::Integer:
  case Kind::Real:
    return keyOfNumber(value);
  case Kind::Undefined:
    return "u";
  case Kind::Text:
    return "s" + value.text();
  case Kind::Tuple: {
    std::string key = "t";
    for (const Value &item : value.items()) {
      std::optional<std::string> part = keyOf(item);
      if (!part)
        return std::nullopt;
      key += std::to_string(part->size()) + ":" + *part;
    }
    return key;
  }
  case Kind::List:
  case Kind::Dict:
  case Kind::View:
    return std::nullopt;
  default: {
    auto address = reinterpret_cast<uintptr_t>(value.address());
    return "p" + std::to_string(address);
  }
  }
}

DictObject *makeDict(Memory *memory, DictObject::Items pairs) {
  DictObject::Items items;
  std::unordered_map<std::string, size_t> places;
  items.reserve(pairs.size());
  for (auto &[key, value] : pairs) {
    auto [at, isNew] = places.try_emplace(keyOf(key).value_or(""), items.size());
    if (isNew)
      items.emplace_back(std::move(key), std::move(value));
    else
      items[at->second].second = std::move(value);
  }
  return new DictObject(memory, std::move(items), std::move(places));
}

const char *typeName(const Value &value) {
  switch (value.kind()) {
  case Kind::None:
    return "None";
  case Kind::Bool:
    return "bool";
  case Kind::Integer:
    return "int";
  case Kind::Real:
    return "float";
  case Kind::Undefined:
    return "an undefined value";
  case Kind::Text:
    return "str";
  case Kind::List:
    return "list";
  case Kind::Tuple:
    return "tuple";
  case Kind::Dict:
    return "dict";
  case Kind::Range:
    return "range";
  case Kind::View:
    return "view of a dict";
  case Kind::Iterator:
    return "iterator";
  case Kind::Namespace:
    return "namespace";
  case Kind::Loop:
    return "loop";
  case Kind::Macro:
    return "macro";
  case Kind::Function:
    return "function";
  case Kind::Method:
    return "method";
  case Kind::Cycler:
    return "cycler";
  case Kind::Joiner:
    return "joiner";
  }
  return "";
}

} // namespace fovea::jinja
