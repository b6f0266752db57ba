// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Character classes and normal forms as the `tokenizers` package has them, code
// point by code point (see scripts/generate-unicode-tables).
#ifndef FOVEA_RUNTIME_TOKENIZER_UNICODE_H
#define FOVEA_RUNTIME_TOKENIZER_UNICODE_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace fovea::unicode {

bool isWhitespace(uint32_t codePoint);
bool isNumeric(uint32_t codePoint);
bool isPunctuation(uint32_t codePoint);
bool isWord(uint32_t codePoint);
/// What BERT's cleaning drops, and what it takes for an accent.
bool isControl(uint32_t codePoint);
bool isNonspacingMark(uint32_t codePoint);
bool isCombiningMark(uint32_t codePoint);
/// What the reference, of an older Unicode, does not know: normal forms leave it alone.
bool isUnnormalised(uint32_t codePoint);
/// The blocks that BERT surrounds by spaces.
bool isChinese(uint32_t codePoint);

void appendLowerCase(std::string &out, uint32_t codePoint);

/// The size in bytes of the grapheme that begins at `at` in valid UTF-8.
size_t graphemeAt(std::string_view text, size_t at);

enum class NormalForm { Nfc, Nfd, Nfkc, Nfkd };

/// The normal form of valid UTF-8, in time linear in its size (times a
/// logarithm for long runs of marks). `prefix` is a number of leading bytes of
/// `text`; it becomes the number of leading bytes that they turned into.
std::string normalise(std::string_view text, NormalForm form, size_t &prefix);

} // namespace fovea::unicode

#endif // FOVEA_RUNTIME_TOKENIZER_UNICODE_H
