// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What Python's `str` does, on UTF-8. Places and lengths are in characters (code points).
#ifndef FOVEA_RUNTIME_TEMPLATE_TEXT_H
#define FOVEA_RUNTIME_TEMPLATE_TEXT_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fovea::jinja {

/// What `str.isspace` and the \s of `re` take for white space.
bool isSpace(uint32_t codePoint);

/// The byte at which a character begins; the size of `text` behind the last.
size_t byteOfCharacter(std::string_view text, size_t character);
size_t countCharacters(std::string_view text);

std::string toUpper(std::string_view text);
std::string toLower(std::string_view text);
/// The first character as in a title, all others small.
std::string capitalize(std::string_view text);
/// As `str.title`: a letter behind one that is none is large.
std::string toTitle(std::string_view text);
std::string swapCase(std::string_view text);

std::string_view stripText(std::string_view text, bool left, bool right);
/// The same of the characters in `characters`.
std::string_view stripText(std::string_view text, std::string_view characters, bool left,
                           bool right);

/// As `str.splitlines`.
std::vector<std::string_view> splitLines(std::string_view text, bool keepEnds);
/// By white space, at most `most` times if that is not negative; `fromRight` as `rsplit`.
std::vector<std::string_view> splitWords(std::string_view text, int64_t most, bool fromRight);
/// By `separator`, which is not empty.
std::vector<std::string_view> splitText(std::string_view text, std::string_view separator,
                                        int64_t most, bool fromRight);

/// `str.isalpha` and its like.
enum class CharacterClass {
  Alpha,
  Alphanumeric,
  Ascii,
  Decimal,
  Digit,
  Lower,
  Numeric,
  Printable,
  Space,
  Title,
  Upper
};
bool isAllOf(std::string_view text, CharacterClass wanted);

/// As `repr`: in quotes, with escapes.
void appendQuoted(std::string &out, std::string_view text);
/// As JSON, in quotes.
void appendJson(std::string &out, std::string_view text, bool asciiOnly);
/// & < > ' " as HTML has them.
std::string escapeHtml(std::string_view text);

/// The shortest digits that give the number back, as Python writes them.
std::string realText(double value);

/// What stands between the quotes of a literal; false if an escape is not known.
bool unescape(std::string_view raw, std::string &value);

} // namespace fovea::jinja

#endif // FOVEA_RUNTIME_TEMPLATE_TEXT_H
