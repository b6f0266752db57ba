// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How problems of an input are put into words. Names that come from a file may
// hold anything, so they are escaped and cut before they are printed.
#include "frontend/Problem.h"

#include <algorithm>
#include <cstdio>

using namespace fovea;

std::string Problem::text() const {
  std::string result = file;
  if (!place.empty())
    result += (result.empty() ? "" : ": ") + place;
  if (!result.empty())
    result += ": ";
  return result + message;
}

bool fovea::hasErrors(const Problems &problems) {
  return std::any_of(problems.begin(), problems.end(), [](const Problem &problem) {
    return problem.severity == Problem::Severity::Error;
  });
}

void fovea::addError(Problems &problems, std::string file, std::string place, std::string message) {
  problems.push_back(
      {Problem::Severity::Error, std::move(file), std::move(place), std::move(message)});
}

void fovea::addNote(Problems &problems, std::string file, std::string place, std::string message) {
  problems.push_back(
      {Problem::Severity::Note, std::move(file), std::move(place), std::move(message)});
}

/// Length in bytes of the UTF-8 sequence that starts `text`, 0 if it is none.
/// Table 3-7 of the Unicode standard.
static size_t sequenceLength(std::string_view text) {
  auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  unsigned first = byte(0);
  if (first < 0x80)
    return 1;
  size_t length = first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
  unsigned low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  unsigned high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  for (size_t i = 1; i < length; ++i, low = 0x80, high = 0xBF)
    if (byte(i) < low || byte(i) > high)
      return 0;
  return length;
}

std::string fovea::printable(std::string_view text, size_t maxBytes) {
  std::string result;
  for (size_t i = 0; i < text.size();) {
    if (result.size() >= maxBytes)
      return result + "...";
    size_t length = sequenceLength(text.substr(i));
    auto byte = static_cast<unsigned char>(text[i]);
    // U+0080 to U+009F are control characters too.
    bool control = byte < 0x20 || byte == 0x7F ||
                   (length == 2 && byte == 0xC2 && static_cast<unsigned char>(text[i + 1]) < 0xA0);
    if (length == 0 || control) {
      char escape[8];
      std::snprintf(escape, sizeof(escape), "\\x%02X", byte);
      result += escape;
      ++i;
      continue;
    }
    result += text.substr(i, length);
    i += length;
  }
  return result;
}

std::string fovea::quote(std::string_view text) { return '"' + printable(text) + '"'; }

std::string fovea::printNumber(double value) {
  char buffer[40];
  std::snprintf(buffer, sizeof(buffer), "%.12g", value);
  return buffer;
}

std::string fovea::printShape(const std::vector<int64_t> &shape) {
  std::string result = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i == 8 && shape.size() > 9) {
      result += ", ... (" + std::to_string(shape.size()) + " sizes)";
      break;
    }
    result += (i ? ", " : "") + std::to_string(shape[i]);
  }
  return result + "]";
}
