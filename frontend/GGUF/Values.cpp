// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Values.h. Nothing is allocated from a number of the file before so many bytes are there.
#include "frontend/GGUF/Values.h"

using namespace fovea;

/// Arrays in arrays; nobody has published any.
static constexpr unsigned maxDepth = 4;
/// Of all arrays of a file: thrice what the largest vocabularies have. One takes 56 bytes once
/// read.
static constexpr uint64_t maxElements = uint64_t(1) << 22;

/// Bytes of a value that is neither text nor array; 0 of these and of what is no type.
static unsigned bytesOf(GgufType type) {
  switch (type) {
  case GgufType::U8:
  case GgufType::I8:
  case GgufType::Bool:
    return 1;
  case GgufType::U16:
  case GgufType::I16:
    return 2;
  case GgufType::U32:
  case GgufType::I32:
  case GgufType::F32:
    return 4;
  case GgufType::U64:
  case GgufType::I64:
  case GgufType::F64:
    return 8;
  case GgufType::String:
  case GgufType::Array:
    break;
  }
  return 0;
}

static std::string tooLong(const char *what, uint64_t found, const GgufCursor &cursor) {
  return std::string("expects ") + what + " within the " + std::to_string(cursor.left()) +
         " bytes that are left of the file, got " + std::to_string(found);
}

static std::string skipString(GgufCursor &cursor) {
  std::optional<uint64_t> size = cursor.take<uint64_t>();
  if (!size)
    return "expects the length of a text, got the end of the file";
  return cursor.skip(*size) ? "" : tooLong("a text", *size, cursor);
}

static std::string skipValue(GgufCursor &cursor, GgufType type, unsigned depth);

static std::string skipArray(GgufCursor &cursor, unsigned depth) {
  std::optional<uint32_t> type = cursor.take<uint32_t>();
  std::optional<uint64_t> count = cursor.take<uint64_t>();
  if (!type || !count)
    return "expects the type and the number of an array's elements, got the end of the file";
  auto element = static_cast<GgufType>(*type);
  if (*type > static_cast<uint32_t>(GgufType::F64))
    return "expects elements of a type from 0 to 12, got " + std::to_string(*type);
  if (depth == maxDepth)
    return "expects arrays nested at most " + std::to_string(maxDepth) + " deep, got more";
  // The least that an element takes: a text its length, an array its type and its number.
  unsigned least = element == GgufType::String ? 8 : element == GgufType::Array ? 12 : 0;
  if (unsigned bytes = bytesOf(element))
    least = bytes;
  if (*count > cursor.left() / least)
    return tooLong("an array's elements", *count, cursor);
  if ((cursor.elements += *count) > maxElements)
    return "expects at most " + std::to_string(maxElements) +
           " elements in the arrays of a file, got " + std::to_string(cursor.elements);
  for (uint64_t i = 0; i < *count; ++i)
    if (std::string fault = skipValue(cursor, element, depth + 1); !fault.empty())
      return fault;
  return "";
}

static std::string skipValue(GgufCursor &cursor, GgufType type, unsigned depth) {
  if (type == GgufType::String)
    return skipString(cursor);
  if (type == GgufType::Array)
    return skipArray(cursor, depth);
  if (type == GgufType::Bool) {
    std::optional<uint8_t> found = cursor.take<uint8_t>();
    return found && *found > 1 ? "expects 0 or 1 for a boolean, got " + std::to_string(*found)
           : found             ? ""
                               : "expects a boolean, got the end of the file";
  }
  if (unsigned bytes = bytesOf(type))
    return cursor.skip(bytes) ? "" : "expects a number, got the end of the file";
  return "expects a value of a type from 0 to 12, got " +
         std::to_string(static_cast<uint32_t>(type));
}

std::string fovea::skipGgufValue(GgufCursor &cursor, GgufType type) {
  return skipValue(cursor, type, 0);
}

template <typename T> static JsonValue readInteger(GgufCursor &cursor) {
  T value = cursor.take<T>().value_or(0);
  if constexpr (std::is_same_v<T, uint64_t>)
    if (value > static_cast<uint64_t>(INT64_MAX))
      return JsonValue::ofNumber(static_cast<double>(value));
  return JsonValue::ofInteger(static_cast<int64_t>(value));
}

static JsonValue readArray(GgufCursor &cursor) {
  auto type = static_cast<GgufType>(cursor.take<uint32_t>().value_or(0));
  uint64_t count = cursor.take<uint64_t>().value_or(0);
  std::vector<JsonValue> elements;
  for (uint64_t i = 0; i < count && cursor.left() > 0; ++i)
    elements.push_back(readGgufValue(cursor, type));
  return JsonValue::ofArray(std::move(elements));
}

JsonValue fovea::readGgufValue(GgufCursor &cursor, GgufType type) {
  switch (type) {
  case GgufType::U8:
    return readInteger<uint8_t>(cursor);
  case GgufType::I8:
    return readInteger<int8_t>(cursor);
  case GgufType::U16:
    return readInteger<uint16_t>(cursor);
  case GgufType::I16:
    return readInteger<int16_t>(cursor);
  case GgufType::U32:
    return readInteger<uint32_t>(cursor);
  case GgufType::I32:
    return readInteger<int32_t>(cursor);
  case GgufType::U64:
    return readInteger<uint64_t>(cursor);
  case GgufType::I64:
    return readInteger<int64_t>(cursor);
  case GgufType::F32:
    return JsonValue::ofNumber(double(cursor.take<float>().value_or(0)));
  case GgufType::F64:
    return JsonValue::ofNumber(cursor.take<double>().value_or(0));
  case GgufType::Bool:
    return JsonValue::ofBool(cursor.take<uint8_t>().value_or(0) != 0);
  case GgufType::Array:
    return readArray(cursor);
  case GgufType::String:
    break;
  }
  uint64_t size = cursor.take<uint64_t>().value_or(0);
  const auto *text = reinterpret_cast<const char *>(cursor.at);
  return JsonValue::ofString(cursor.skip(size) ? std::string(text, size) : std::string());
}
