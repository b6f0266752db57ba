// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The JSON grammar is nlohmann-json's event parser (iterative, so nesting costs
// no stack); this file builds the tree from its events within the bounds and
// words what is wrong. The parser throws nothing: its events report errors.
#include "frontend/Json.h"

#define JSON_NOEXCEPTION 1
#include <nlohmann/json.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

using namespace fovea;

namespace fovea {

/// Receives the parser's events and builds the tree. Returning false from an
/// event stops the parser.
class JsonBuilder {
public:
  explicit JsonBuilder(const JsonLimits &limits) : limits(limits) {}

  std::string error;
  JsonValue root;

  bool null() { return add(JsonValue()); }
  bool boolean(bool value) { return addInteger(JsonValue::Kind::Bool, value); }
  bool number_integer(int64_t value) { return addInteger(JsonValue::Kind::Integer, value); }
  bool number_unsigned(uint64_t value) {
    if (value > static_cast<uint64_t>(INT64_MAX))
      return number_float(static_cast<double>(value), {});
    return addInteger(JsonValue::Kind::Integer, static_cast<int64_t>(value));
  }
  bool number_float(double value, const std::string &) {
    JsonValue result;
    result.kindOf = JsonValue::Kind::Number;
    result.numberValue = value;
    return add(std::move(result));
  }
  bool string(std::string &value) {
    JsonValue result;
    result.kindOf = JsonValue::Kind::String;
    result.text = std::move(value);
    return add(std::move(result));
  }
  bool binary(nlohmann::json::binary_t &) { return false; }
  bool key(std::string &value) {
    open.back().children->keys.push_back(std::move(value));
    return true;
  }
  bool start_object(size_t) { return start(JsonValue::Kind::Object); }
  bool start_array(size_t) { return start(JsonValue::Kind::Array); }
  bool end_object() {
    JsonValue::Children &children = *open.back().children;
    const std::vector<std::string> &keys = children.keys;
    children.sortKeys();
    auto twice = std::adjacent_find(children.byKey.begin(), children.byKey.end(),
                                    [&](uint32_t a, uint32_t b) { return keys[a] == keys[b]; });
    if (twice != children.byKey.end()) {
      error = "expects each key once; the key " + quote(keys[*twice]) + " is given twice";
      return false;
    }
    return finish();
  }
  bool end_array() { return finish(); }
  template <typename Exception>
  bool parse_error(size_t position, const std::string &, const Exception &exception) {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: why", or without a place.
    std::string_view why = exception.what();
    size_t start = why.find("column ");
    start = start == std::string_view::npos ? why.find("] ") : why.find(": ", start);
    why = start == std::string_view::npos ? why : why.substr(start + 2);
    error = "expects JSON, at byte " + std::to_string(position) + ": " + printable(why, 160);
    return false;
  }

private:
  struct Open {
    JsonValue::Kind kind;
    std::shared_ptr<JsonValue::Children> children;
  };

  bool addInteger(JsonValue::Kind kind, int64_t value) {
    JsonValue result;
    result.kindOf = kind;
    result.integerValue = value;
    return add(std::move(result));
  }
  bool add(JsonValue value) {
    if (++count > limits.maxValues) {
      error = "expects at most " + std::to_string(limits.maxValues) + " JSON values, got more";
      return false;
    }
    if (open.empty())
      root = std::move(value);
    else
      open.back().children->elements.push_back(std::move(value));
    return true;
  }
  bool start(JsonValue::Kind kind) {
    if (open.size() >= limits.maxDepth) {
      error = "expects JSON nested at most " + std::to_string(limits.maxDepth) +
              " deep, got deeper nesting";
      return false;
    }
    open.push_back({kind, std::make_shared<JsonValue::Children>()});
    return true;
  }
  bool finish() {
    JsonValue value;
    value.kindOf = open.back().kind;
    value.children = std::move(open.back().children);
    open.pop_back();
    return add(std::move(value));
  }

  const JsonLimits &limits;
  std::vector<Open> open;
  size_t count = 0;
};

} // namespace fovea

std::optional<JsonValue> fovea::parseJson(std::string_view text, const std::string &file,
                                          Problems &problems, const JsonLimits &limits) {
  if (text.size() > limits.maxBytes) {
    addError(problems, file, "",
             "expects at most " + std::to_string(limits.maxBytes) + " bytes of JSON, got " +
                 std::to_string(text.size()));
    return std::nullopt;
  }
  JsonBuilder builder(limits);
  if (nlohmann::json::sax_parse(text.begin(), text.end(), &builder))
    return std::move(builder.root);
  addError(problems, file, "", builder.error);
  return std::nullopt;
}

std::optional<JsonValue> fovea::parseJsonFile(const std::string &path, Problems &problems,
                                              const JsonLimits &limits) {
  std::optional<std::string> text = readFile(path, limits.maxBytes, problems);
  if (!text)
    return std::nullopt;
  return parseJson(*text, path, problems, limits);
}
