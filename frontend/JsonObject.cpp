// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Members of an object: which are there, which were read, and what is said of
// those that are missing or of the wrong kind.
#include "frontend/Json.h"

#include <utility>

using namespace fovea;

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

const JsonValue *JsonObject::array(std::string_view key) {
  const JsonValue *value = require(key);
  if (!value || value->isArray())
    return value;
  reject(key, "an array");
  return nullptr;
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
