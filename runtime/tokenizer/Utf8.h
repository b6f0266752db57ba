// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading and writing UTF-8 one code point at a time, and making valid UTF-8 of
// any bytes. Never reads past the end of its input.
#ifndef FOVEA_RUNTIME_TOKENIZER_UTF8_H
#define FOVEA_RUNTIME_TOKENIZER_UTF8_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace fovea {

/// A code point and the number of bytes that it takes.
struct Utf8Char {
  uint32_t codePoint;
  uint32_t size;
};

/// What a reader finds at the front of non-empty `text`.
enum class Utf8Status { Valid, Invalid, Incomplete };

/// Reads the first code point. `Invalid`: `out.size` bytes (at least one) are
/// the longest start of a code point that is none, as Unicode 15, section 3.9,
/// "maximal subpart" has it. `Incomplete`: more bytes could make it valid.
Utf8Status readUtf8(std::string_view text, Utf8Char &out);

/// The code point at `at` of valid UTF-8; U+FFFD of one byte if it is not.
inline Utf8Char utf8At(std::string_view text, size_t at) {
  unsigned char byte = static_cast<unsigned char>(text[at]);
  if (byte < 0x80)
    return {byte, 1};
  Utf8Char result;
  if (readUtf8(text.substr(at), result) != Utf8Status::Valid)
    return {0xFFFD, 1};
  return result;
}

/// The last code point of non-empty valid UTF-8.
Utf8Char lastUtf8(std::string_view text);

void appendUtf8(std::string &out, uint32_t codePoint);

/// Appends `bytes` to `out` with U+FFFD for each maximal invalid part. Without
/// `atEnd`, an incomplete code point at the end is left; returns what was used.
size_t appendLossy(std::string &out, std::string_view bytes, bool atEnd);

/// Whether all of `text` is UTF-8. Strings of tables are checked once by this:
/// patterns are matched without checking their subject again.
bool isUtf8(std::string_view text);

/// Number of code points of valid UTF-8.
size_t countUtf8(std::string_view text);

} // namespace fovea

#endif // FOVEA_RUNTIME_TOKENIZER_UTF8_H
