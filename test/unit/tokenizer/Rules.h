// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Small rules of normalization in SentencePiece's layout.
#ifndef FOVEA_TEST_UNIT_TOKENIZER_RULES_H
#define FOVEA_TEST_UNIT_TOKENIZER_RULES_H

#include <cstdint>
#include <string>
#include <vector>

namespace fovea::test {

inline std::string base64(const std::string &bytes) {
  static const char *digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t bits = 0;
    for (size_t k = i; k < i + 3; ++k)
      bits = bits << 8 | (k < bytes.size() ? static_cast<unsigned char>(bytes[k]) : 0);
    for (size_t k = 0; k < 4; ++k)
      out += i + k > bytes.size() ? '=' : digits[bits >> (18 - 6 * k) & 63];
  }
  return out;
}

/// A double array of two states, "a" and "ab", in blocks of 256; their replacements begin at
/// `first` and `second`.
inline std::string rules(const std::string &replacements, uint32_t first, uint32_t second) {
  std::vector<uint32_t> units(4 * 256);
  auto link = [&](size_t place, size_t block, bool hasValue, uint32_t label) {
    units[place] = static_cast<uint32_t>((place ^ block * 256) << 10) | hasValue << 8 | label;
  };
  link(0, 1, false, 0);
  link(256 + 'a', 2, true, 'a');
  units[512] = 0x80000000u | first;
  link(512 + 'b', 3, true, 'b');
  units[768] = 0x80000000u | second;
  std::string bytes;
  auto number = [&](uint32_t value) {
    for (int shift = 0; shift < 32; shift += 8)
      bytes += static_cast<char>(value >> shift & 0xFF);
  };
  number(static_cast<uint32_t>(4 * units.size()));
  for (uint32_t unit : units)
    number(unit);
  return bytes + replacements;
}

/// The normalizer of a tokenizer.json that has them.
inline std::string precompiled(const std::string &bytes) {
  return R"("normalizer": {"type": "Precompiled", "precompiled_charsmap": ")" + base64(bytes) +
         R"("})";
}

} // namespace fovea::test

#endif // FOVEA_TEST_UNIT_TOKENIZER_RULES_H
