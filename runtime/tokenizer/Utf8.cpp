// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// UTF-8 after table 3-7 of the Unicode standard: the range of the second byte
// depends on the first, which excludes overlong forms and surrogates.
#include "runtime/tokenizer/Utf8.h"

using namespace fovea;

Utf8Status fovea::readUtf8(std::string_view text, Utf8Char &out) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned char first = byte(0);
  out = {first, 1};
  if (first < 0x80)
    return Utf8Status::Valid;
  uint32_t size = first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
  if (size == 0)
    return Utf8Status::Invalid;
  unsigned char low = 0x80, high = 0xBF;
  if (first == 0xE0)
    low = 0xA0;
  else if (first == 0xED)
    high = 0x9F;
  else if (first == 0xF0)
    low = 0x90;
  else if (first == 0xF4)
    high = 0x8F;
  uint32_t codePoint = first & (0x7F >> size);
  for (uint32_t i = 1; i < size; ++i) {
    if (i >= text.size())
      return Utf8Status::Incomplete;
    if (byte(i) < low || byte(i) > high)
      return Utf8Status::Invalid;
    codePoint = codePoint << 6 | (byte(i) & 0x3F);
    low = 0x80;
    high = 0xBF;
    out.size = i + 1;
  }
  out.codePoint = codePoint;
  return Utf8Status::Valid;
}

Utf8Char fovea::lastUtf8(std::string_view text) {
  size_t at = text.size() - 1;
  while (at > 0 && text.size() - at < 4 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80)
    --at;
  Utf8Char found = utf8At(text, at);
  return at + found.size == text.size() ? found : Utf8Char{0xFFFD, 1};
}

void fovea::appendUtf8(std::string &out, uint32_t codePoint) {
  if (codePoint < 0x80) {
    out += static_cast<char>(codePoint);
  } else if (codePoint < 0x800) {
    out += static_cast<char>(0xC0 | codePoint >> 6);
    out += static_cast<char>(0x80 | (codePoint & 0x3F));
  } else if (codePoint < 0x10000) {
    out += static_cast<char>(0xE0 | codePoint >> 12);
    out += static_cast<char>(0x80 | (codePoint >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (codePoint & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | codePoint >> 18);
    out += static_cast<char>(0x80 | (codePoint >> 12 & 0x3F));
    out += static_cast<char>(0x80 | (codePoint >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (codePoint & 0x3F));
  }
}

size_t fovea::appendLossy(std::string &out, std::string_view bytes, bool atEnd) {
  size_t at = 0;
  while (at < bytes.size()) {
    Utf8Char next;
    Utf8Status status = readUtf8(bytes.substr(at), next);
    if (status == Utf8Status::Incomplete && !atEnd)
      break;
    if (status == Utf8Status::Valid)
      out.append(bytes, at, next.size);
    else
      appendUtf8(out, 0xFFFD);
    at += next.size;
  }
  return at;
}

bool fovea::isUtf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    Utf8Char next;
    if (readUtf8(text.substr(at), next) != Utf8Status::Valid)
      return false;
    at += next.size;
  }
  return true;
}

size_t fovea::countUtf8(std::string_view text) {
  size_t count = 0;
  for (char c : text)
    count += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return count;
}
