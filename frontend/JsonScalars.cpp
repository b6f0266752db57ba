// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Members that are numbers, booleans and strings, or arrays of them, checked
// against the bounds that their reader gives.
#include "frontend/Json.h"

#include <cmath>
#include <utility>

using namespace fovea;

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
