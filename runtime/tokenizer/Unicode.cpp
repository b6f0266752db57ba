// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Classes and lower case by binary search in measured tables.
#include "runtime/tokenizer/Unicode.h"

#include "runtime/tokenizer/Utf8.h"

#include <algorithm>
#include <iterator>
#include <utf8proc.h>

using namespace fovea;

namespace {
struct CodePointRange {
  uint32_t first, last;
};
struct LowerCase {
  uint32_t from;
  uint32_t to[2];
};
#include "runtime/tokenizer/UnicodeTables.inc"

template <size_t N> bool contains(const CodePointRange (&ranges)[N], uint32_t codePoint) {
  const CodePointRange *found =
      std::upper_bound(ranges, ranges + N, codePoint,
                       [](uint32_t c, const CodePointRange &range) { return c < range.first; });
  return found != ranges && codePoint <= found[-1].last;
}

} // namespace

bool unicode::isWhitespace(uint32_t c) {
  return c < 0x80 ? c == ' ' || (c >= 9 && c <= 13) : contains(whitespaceRanges, c);
}
bool unicode::isNumeric(uint32_t c) { return contains(numericRanges, c); }
bool unicode::isPunctuation(uint32_t c) { return contains(punctuationRanges, c); }
bool unicode::isWord(uint32_t c) { return contains(wordRanges, c); }
bool unicode::isControl(uint32_t c) { return contains(controlRanges, c); }
bool unicode::isNonspacingMark(uint32_t c) { return c >= 0x300 && contains(nonspacingRanges, c); }
bool unicode::isCombiningMark(uint32_t c) { return c >= 0x300 && contains(combiningRanges, c); }

bool unicode::isUnnormalised(uint32_t codePoint) {
  return codePoint >= unnormalisedRanges[0].first && contains(unnormalisedRanges, codePoint);
}

bool unicode::isChinese(uint32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) ||
         (c >= 0x20000 && c <= 0x2A6DF) || (c >= 0x2A700 && c <= 0x2B73F) ||
         (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

void unicode::appendLowerCase(std::string &out, uint32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
    return;
  }
  const LowerCase *found =
      std::lower_bound(std::begin(lowerCases), std::end(lowerCases), c,
                       [](const LowerCase &entry, uint32_t key) { return entry.from < key; });
  if (found != std::end(lowerCases) && found->from == c) {
    appendUtf8(out, found->to[0]);
    if (found->to[1])
      appendUtf8(out, found->to[1]);
    return;
  }
  appendUtf8(out, static_cast<uint32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))));
}
