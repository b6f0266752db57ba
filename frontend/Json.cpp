// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The JSON grammar is nlohmann-json's event parser (iterative, so nesting costs
// no stack); this file builds the tree from its events within the bounds and
// words what is wrong. The parser throws nothing: its events report errors.
#include "frontend/Json.h"

#define JSON_NOEXCEPTION 1
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <numeric>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

using namespace fovea;

//===-- Values -------------------------------------------------------------------------------===//

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

static std::string printNumber(double value) {
  char buffer[40];
  std::snprintf(buffer, sizeof(buffer), "%.12g", value);
  return buffer;
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

//===-- Parsing ------------------------------------------------------------------------------===//

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
    children.byKey.resize(keys.size());
    std::iota(children.byKey.begin(), children.byKey.end(), 0u);
    std::sort(children.byKey.begin(), children.byKey.end(),
              [&](uint32_t a, uint32_t b) { return keys[a] < keys[b]; });
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

std::optional<RegularFile> RegularFile::open(const std::string &path, Problems &problems) {
  auto fail = [&](const std::string &message) {
    addError(problems, path, "", message);
    return std::nullopt;
  };
  RegularFile result;
  // Without O_NONBLOCK, opening a pipe would wait for its writer.
  result.descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (result.descriptor < 0)
    return fail(std::string("cannot be opened: ") + std::strerror(errno));
  struct stat status;
  if (::fstat(result.descriptor, &status) != 0)
    return fail(std::string("cannot be read: ") + std::strerror(errno));
  if (!S_ISREG(status.st_mode))
    return fail(std::string("expects a regular file, got ") + (S_ISDIR(status.st_mode) ? "a folder"
                                                               : S_ISFIFO(status.st_mode)
                                                                   ? "a pipe"
                                                                   : "a device"));
  result.size = static_cast<uint64_t>(status.st_size);
  return result;
}

RegularFile::RegularFile(RegularFile &&other) noexcept
    : descriptor(std::exchange(other.descriptor, -1)), size(other.size) {}

RegularFile::~RegularFile() {
  if (descriptor >= 0)
    ::close(descriptor);
}

std::optional<std::string> fovea::readFile(const std::string &path, uint64_t maxBytes,
                                           Problems &problems) {
  auto fail = [&](const std::string &message) {
    addError(problems, path, "", message);
    return std::nullopt;
  };
  std::optional<RegularFile> opened = RegularFile::open(path, problems);
  if (!opened)
    return std::nullopt;
  if (opened->size > maxBytes)
    return fail("expects at most " + std::to_string(maxBytes) + " bytes, got " +
                std::to_string(opened->size));
  std::string content(static_cast<size_t>(opened->size), '\0');
  size_t done = 0;
  while (done < content.size()) {
    ssize_t got = ::read(opened->descriptor, content.data() + done, content.size() - done);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return fail(std::string("cannot be read: ") + std::strerror(errno));
    if (got == 0)
      return fail("expects " + std::to_string(content.size()) + " bytes, got only " +
                  std::to_string(done));
    done += static_cast<size_t>(got);
  }
  return content;
}

std::optional<JsonValue> fovea::parseJsonFile(const std::string &path, Problems &problems,
                                              const JsonLimits &limits) {
  std::optional<std::string> text = readFile(path, limits.maxBytes, problems);
  if (!text)
    return std::nullopt;
  return parseJson(*text, path, problems, limits);
}

//===-- Reading an object --------------------------------------------------------------------===//

JsonObject::JsonObject(const JsonValue &value, std::string file, std::string path,
                       Problems &problems)
    : fileName(std::move(file)), path(std::move(path)), problems(problems) {
  if (value.isObject())
    object = &value;
  else
    addError(problems, fileName, this->path, "expects an object, got " + value.describe());
}

std::string JsonObject::placeOf(std::string_view key) const {
  return (path.empty() ? "" : path + ".") + printable(key);
}

bool JsonObject::has(std::string_view key) const {
  const JsonValue *value = object ? object->find(key) : nullptr;
  return value && !value->isNull();
}

const JsonValue *JsonObject::find(std::string_view key) {
  read.emplace(key);
  return has(key) ? object->find(key) : nullptr;
}

const JsonValue *JsonObject::require(std::string_view key) {
  const JsonValue *value = find(key);
  if (!value && object)
    addError(problems, fileName, placeOf(key), "is required, but missing");
  return value;
}

void JsonObject::reject(std::string_view key, const std::string &expected) {
  const JsonValue *value = object ? object->find(key) : nullptr;
  addError(problems, fileName, placeOf(key),
           "expects " + expected + ", got " + (value ? value->describe() : "nothing"));
}

std::optional<int64_t> JsonObject::integer(std::string_view key, int64_t min, int64_t max) {
  const JsonValue *value = require(key);
  if (!value)
    return std::nullopt;
  if (value->isInteger() && value->integer() >= min && value->integer() <= max)
    return value->integer();
  reject(key, "an integer from " + std::to_string(min) + " to " + std::to_string(max));
  return std::nullopt;
}

int64_t JsonObject::integer(std::string_view key, int64_t min, int64_t max, int64_t fallback) {
  return find(key) ? integer(key, min, max).value_or(fallback) : fallback;
}

std::optional<double> JsonObject::number(std::string_view key, double min, double max) {
  const JsonValue *value = require(key);
  if (!value)
    return std::nullopt;
  double found = value->number();
  if (value->isNumber() && std::isfinite(found) && found >= min && found <= max)
    return found;
  reject(key, "a number from " + printNumber(min) + " to " + printNumber(max));
  return std::nullopt;
}

double JsonObject::number(std::string_view key, double min, double max, double fallback) {
  return find(key) ? number(key, min, max).value_or(fallback) : fallback;
}

std::optional<bool> JsonObject::boolean(std::string_view key) {
  const JsonValue *value = require(key);
  if (!value)
    return std::nullopt;
  if (value->isBool())
    return value->boolean();
  reject(key, "true or false");
  return std::nullopt;
}

bool JsonObject::boolean(std::string_view key, bool fallback) {
  return find(key) ? boolean(key).value_or(fallback) : fallback;
}

std::optional<std::string> JsonObject::string(std::string_view key) {
  const JsonValue *value = require(key);
  if (!value)
    return std::nullopt;
  if (value->isString())
    return value->string();
  reject(key, "a string");
  return std::nullopt;
}

std::string JsonObject::string(std::string_view key, std::string fallback) {
  return find(key) ? string(key).value_or(std::move(fallback)) : fallback;
}

const JsonValue *JsonObject::array(std::string_view key) {
  const JsonValue *value = require(key);
  if (!value || value->isArray())
    return value;
  reject(key, "an array");
  return nullptr;
}

std::optional<std::vector<double>> JsonObject::numbers(std::string_view key, double min,
                                                       double max) {
  const JsonValue *value = array(key);
  if (!value)
    return std::nullopt;
  std::vector<double> result;
  for (const JsonValue &element : value->elements()) {
    double found = element.number();
    if (!element.isNumber() || !std::isfinite(found) || found < min || found > max) {
      addError(problems, fileName, placeOf(key) + "[" + std::to_string(result.size()) + "]",
               "expects a number from " + printNumber(min) + " to " + printNumber(max) + ", got " +
                   element.describe());
      return std::nullopt;
    }
    result.push_back(found);
  }
  return result;
}

std::optional<std::vector<std::string>> JsonObject::strings(std::string_view key) {
  const JsonValue *value = array(key);
  if (!value)
    return std::nullopt;
  std::vector<std::string> result;
  for (const JsonValue &element : value->elements()) {
    if (!element.isString()) {
      addError(problems, fileName, placeOf(key) + "[" + std::to_string(result.size()) + "]",
               "expects a string, got " + element.describe());
      return std::nullopt;
    }
    result.push_back(element.string());
  }
  return result;
}

std::optional<JsonObject> JsonObject::member(std::string_view key) {
  const JsonValue *value = require(key);
  if (!value)
    return std::nullopt;
  JsonObject result(*value, fileName, placeOf(key), problems);
  if (!result.valid())
    return std::nullopt;
  return result;
}

void JsonObject::ignore(std::initializer_list<const char *> keys) {
  for (const char *key : keys)
    read.emplace(key);
}

void JsonObject::reportUnread(const std::string &message) {
  if (!object)
    return;
  for (const std::string &key : object->keys())
    if (!read.count(key) && has(key))
      addError(problems, fileName, placeOf(key), message);
}
