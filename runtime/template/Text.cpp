// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Text.h. Characters are classified by utf8proc.
#include "runtime/template/Text.h"

#include "runtime/tokenizer/Unicode.h"
#include "runtime/tokenizer/Utf8.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <utf8proc.h>

namespace fovea::jinja {

namespace {

struct SpecialCase {
  uint32_t from;
  uint32_t upper[3], title[3];
};
#include "runtime/template/CaseTables.inc"

const SpecialCase *findSpecial(uint32_t c) {
  const SpecialCase *at =
      std::lower_bound(std::begin(specialCases), std::end(specialCases), c,
                       [](const SpecialCase &entry, uint32_t key) { return entry.from < key; });
  return c >= 0x80 && at != std::end(specialCases) && at->from == c ? at : nullptr;
}

int32_t signedPoint(uint32_t c) { return static_cast<int32_t>(c); }
utf8proc_category_t categoryOf(uint32_t c) { return utf8proc_category(signedPoint(c)); }

void appendUpper(std::string &out, uint32_t c) {
  if (const SpecialCase *special = findSpecial(c)) {
    for (uint32_t part : special->upper)
      if (part)
        appendUtf8(out, part);
    return;
  }
  appendUtf8(out, static_cast<uint32_t>(utf8proc_toupper(signedPoint(c))));
}

void appendTitle(std::string &out, uint32_t c) {
  if (const SpecialCase *special = findSpecial(c)) {
    for (uint32_t part : special->title)
      if (part)
        appendUtf8(out, part);
    return;
  }
  appendUtf8(out, static_cast<uint32_t>(utf8proc_totitle(signedPoint(c))));
}

bool isCased(uint32_t c) {
  utf8proc_category_t category = categoryOf(c);
  return category == UTF8PROC_CATEGORY_LU || category == UTF8PROC_CATEGORY_LL ||
         category == UTF8PROC_CATEGORY_LT;
}

/// What stands between the letters of a word and is none.
bool isCaseIgnorable(uint32_t c) {
  switch (categoryOf(c)) {
  case UTF8PROC_CATEGORY_MN:
  case UTF8PROC_CATEGORY_ME:
  case UTF8PROC_CATEGORY_CF:
  case UTF8PROC_CATEGORY_LM:
  case UTF8PROC_CATEGORY_SK:
    return true;
  default:
    return c == '\'' || c == '.' || c == ':' || c == 0xB7 || c == 0x2019;
  }
}

/// Whether the sigma at `at` is the last letter of a word, as Unicode's Final_Sigma has it.
bool isFinalSigma(std::string_view text, size_t at) {
  std::string_view before = text.substr(0, at), after = text.substr(at + 2);
  while (!before.empty() && isCaseIgnorable(lastUtf8(before).codePoint))
    before.remove_suffix(lastUtf8(before).size);
  while (!after.empty() && isCaseIgnorable(utf8At(after, 0).codePoint))
    after.remove_prefix(utf8At(after, 0).size);
  return !before.empty() && isCased(lastUtf8(before).codePoint) &&
         (after.empty() || !isCased(utf8At(after, 0).codePoint));
}

void appendLower(std::string &out, std::string_view text, size_t at, uint32_t c) {
  if (c == 0x3A3)
    appendUtf8(out, isFinalSigma(text, at) ? 0x3C2 : 0x3C3);
  else
    unicode::appendLowerCase(out, c);
}

template <typename Take> void eachCharacter(std::string_view text, Take take) {
  for (size_t at = 0; at < text.size();) {
    Utf8Char next = utf8At(text, at);
    take(next.codePoint, at, next.size);
    at += next.size;
  }
}

bool isLetter(uint32_t c) {
  utf8proc_category_t category = categoryOf(c);
  return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
}
bool isNumber(uint32_t c) {
  utf8proc_category_t category = categoryOf(c);
  return category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO;
}

bool isPrintable(uint32_t c) {
  if (c < 0x7F)
    return c >= 0x20;
  utf8proc_category_t category = categoryOf(c);
  return category != UTF8PROC_CATEGORY_CN && category < UTF8PROC_CATEGORY_ZS;
}

bool isLineEnd(uint32_t c) {
  return (c >= 0x0A && c <= 0x0D) || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 ||
         c == 0x2029;
}

} // namespace

bool isSpace(uint32_t c) {
  return c == ' ' || (c >= 9 && c <= 13) || (c >= 0x1C && c <= 0x1F) || c == 0x85 || c == 0xA0 ||
         c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F ||
         c == 0x205F || c == 0x3000;
}

size_t byteOfCharacter(std::string_view text, size_t character) {
  size_t at = 0;
  while (character > 0 && at < text.size()) {
    at += utf8At(text, at).size;
    --character;
  }
  return at;
}

size_t countCharacters(std::string_view text) { return countUtf8(text); }

std::string toUpper(std::string_view text) {
  std::string out;
  eachCharacter(text, [&](uint32_t c, size_t, size_t) { appendUpper(out, c); });
  return out;
}

std::string toLower(std::string_view text) {
  std::string out;
  eachCharacter(text, [&](uint32_t c, size_t at, size_t) { appendLower(out, text, at, c); });
  return out;
}

std::string capitalize(std::string_view text) {
  std::string out;
  eachCharacter(text, [&](uint32_t c, size_t at, size_t) {
    if (at == 0)
      appendTitle(out, c);
    else
      appendLower(out, text, at, c);
  });
  return out;
}

std::string toTitle(std::string_view text) {
  std::string out;
  bool inWord = false;
  eachCharacter(text, [&](uint32_t c, size_t at, size_t) {
    if (inWord)
      appendLower(out, text, at, c);
    else
      appendTitle(out, c);
    inWord = isCased(c);
  });
  return out;
}

std::string swapCase(std::string_view text) {
  std::string out;
  eachCharacter(text, [&](uint32_t c, size_t at, size_t) {
    utf8proc_category_t category = categoryOf(c);
    if (category == UTF8PROC_CATEGORY_LU)
      appendLower(out, text, at, c);
    else if (category == UTF8PROC_CATEGORY_LL)
      appendUpper(out, c);
    else
      appendUtf8(out, c);
  });
  return out;
}

template <typename Belongs>
static std::string_view stripBy(std::string_view text, Belongs belongs, bool left, bool right) {
  while (left && !text.empty() && belongs(utf8At(text, 0).codePoint))
    text.remove_prefix(utf8At(text, 0).size);
  while (right && !text.empty() && belongs(lastUtf8(text).codePoint))
    text.remove_suffix(lastUtf8(text).size);
  return text;
}

std::string_view stripText(std::string_view text, bool left, bool right) {
  return stripBy(text, isSpace, left, right);
}

std::string_view stripText(std::string_view text, std::string_view characters, bool left,
                           bool right) {
  std::vector<uint32_t> set;
  eachCharacter(characters, [&](uint32_t c, size_t, size_t) { set.push_back(c); });
  std::sort(set.begin(), set.end());
  return stripBy(
      text, [&](uint32_t c) { return std::binary_search(set.begin(), set.end(), c); }, left, right);
}

std::vector<std::string_view> splitLines(std::string_view text, bool keepEnds) {
  std::vector<std::string_view> lines;
  size_t begin = 0;
  for (size_t at = 0; at < text.size();) {
    Utf8Char next = utf8At(text, at);
    size_t end = at;
    at += next.size;
    if (!isLineEnd(next.codePoint))
      continue;
    if (next.codePoint == '\r' && at < text.size() && text[at] == '\n')
      ++at;
    lines.push_back(text.substr(begin, (keepEnds ? at : end) - begin));
    begin = at;
  }
  if (begin < text.size())
    lines.push_back(text.substr(begin));
  return lines;
}

std::vector<std::string_view> splitWords(std::string_view text, int64_t most, bool fromRight) {
  std::vector<std::string_view> words;
  auto isFull = [&] { return most >= 0 && static_cast<int64_t>(words.size()) >= most; };
  while (true) {
    text = stripText(text, !fromRight, fromRight);
    if (text.empty())
      break;
    if (isFull()) { // the rest, without the white space of its other end only if it was split off
      words.push_back(text);
      break;
    }
    std::string_view rest = text;
    if (fromRight)
      while (!rest.empty() && !isSpace(lastUtf8(rest).codePoint))
        rest.remove_suffix(lastUtf8(rest).size);
    else
      while (!rest.empty() && !isSpace(utf8At(rest, 0).codePoint))
        rest.remove_prefix(utf8At(rest, 0).size);
    words.push_back(fromRight ? text.substr(rest.size())
                              : text.substr(0, text.size() - rest.size()));
    text = rest;
  }
  if (fromRight)
    std::reverse(words.begin(), words.end());
  return words;
}

std::vector<std::string_view> splitText(std::string_view text, std::string_view separator,
                                        int64_t most, bool fromRight) {
  std::vector<std::string_view> parts;
  while (most < 0 || static_cast<int64_t>(parts.size()) < most) {
    size_t at = fromRight ? text.rfind(separator) : text.find(separator);
    if (at == std::string_view::npos)
      break;
    parts.push_back(fromRight ? text.substr(at + separator.size()) : text.substr(0, at));
    text = fromRight ? text.substr(0, at) : text.substr(at + separator.size());
  }
  parts.push_back(text);
  if (fromRight)
    std::reverse(parts.begin(), parts.end());
  return parts;
}

/// As `islower`, `isupper` and `istitle`: what has no case does not count, but something must have.
static bool isAllOfCase(std::string_view text, CharacterClass wanted) {
  bool any = false, all = true, behindCased = false;
  eachCharacter(text, [&](uint32_t c, size_t, size_t) {
    utf8proc_category_t category = categoryOf(c);
    bool isLower = category == UTF8PROC_CATEGORY_LL, isUpper = category == UTF8PROC_CATEGORY_LU;
    bool isTitle = category == UTF8PROC_CATEGORY_LT;
    bool cased = isLower || isUpper || isTitle;
    any |= cased;
    if (wanted == CharacterClass::Lower)
      all &= !isUpper && !isTitle;
    else if (wanted == CharacterClass::Upper)
      all &= !isLower && !isTitle;
    else
      all &= !cased || (isLower == behindCased);
    behindCased = cased;
  });
  return any && all;
}

static bool belongsTo(uint32_t c, CharacterClass wanted) {
  switch (wanted) {
  case CharacterClass::Alpha:
    return isLetter(c);
  case CharacterClass::Alphanumeric:
    return isLetter(c) || isNumber(c);
  case CharacterClass::Ascii:
    return c < 0x80;
  case CharacterClass::Decimal:
    return categoryOf(c) == UTF8PROC_CATEGORY_ND;
  case CharacterClass::Digit:
    return categoryOf(c) == UTF8PROC_CATEGORY_ND || c == 0xB2 || c == 0xB3 || c == 0xB9 ||
           (c >= 0x2070 && c <= 0x2089 && isNumber(c));
  case CharacterClass::Numeric:
    return isNumber(c);
  case CharacterClass::Printable:
    return isPrintable(c);
  case CharacterClass::Space:
    return isSpace(c);
  default:
    return false;
  }
}

bool isAllOf(std::string_view text, CharacterClass wanted) {
  if (wanted == CharacterClass::Lower || wanted == CharacterClass::Upper ||
      wanted == CharacterClass::Title)
    return isAllOfCase(text, wanted);
  if (text.empty())
    return wanted == CharacterClass::Ascii || wanted == CharacterClass::Printable;
  bool all = true;
  eachCharacter(text, [&](uint32_t c, size_t, size_t) { all &= belongsTo(c, wanted); });
  return all;
}

static void appendHex(std::string &out, const char *prefix, uint32_t value, int digits) {
  char text[16];
  std::snprintf(text, sizeof text, "%s%0*x", prefix, digits, value);
  out += text;
}

void appendQuoted(std::string &out, std::string_view text) {
  bool useDouble =
      text.find('\'') != std::string_view::npos && text.find('"') == std::string_view::npos;
  char quote = useDouble ? '"' : '\'';
  out += quote;
  eachCharacter(text, [&](uint32_t c, size_t at, size_t size) {
    if (c == static_cast<uint32_t>(quote) || c == '\\')
      (out += '\\') += static_cast<char>(c);
    else if (c == '\n' || c == '\r' || c == '\t')
      out += c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t";
    else if (isPrintable(c))
      out += text.substr(at, size);
    else if (c < 0x100)
      appendHex(out, "\\x", c, 2);
    else if (c < 0x10000)
      appendHex(out, "\\u", c, 4);
    else
      appendHex(out, "\\U", c, 8);
  });
  out += quote;
}

void appendJson(std::string &out, std::string_view text, bool asciiOnly) {
  static constexpr std::string_view escaped = "\"\\\n\r\t\f\b", letters = "\"\\nrtfb";
  out += '"';
  eachCharacter(text, [&](uint32_t c, size_t at, size_t size) {
    size_t place = c < 0x80 ? escaped.find(static_cast<char>(c)) : std::string_view::npos;
    if (place != std::string_view::npos)
      (out += '\\') += letters[place];
    else if (c < 0x20 || (asciiOnly && c >= 0x7F && c < 0x10000))
      appendHex(out, "\\u", c, 4);
    else if (asciiOnly && c >= 0x10000) {
      appendHex(out, "\\u", 0xD800 + ((c - 0x10000) >> 10), 4);
      appendHex(out, "\\u", 0xDC00 + ((c - 0x10000) & 0x3FF), 4);
    } else
      out += text.substr(at, size);
  });
  out += '"';
}

std::string escapeHtml(std::string_view text) {
  std::string out;
  for (char c : text)
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '\'')
      out += "&#39;";
    else if (c == '"')
      out += "&#34;";
    else
      out += c;
  return out;
}

std::string realText(double value) {
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value > 0 ? "inf" : "-inf";
  char shortest[64];
  auto [end, code] =
      std::to_chars(shortest, shortest + sizeof shortest, value, std::chars_format::scientific);
  std::string text(shortest, end);
  size_t e = text.find('e');
  int exponent = std::atoi(text.c_str() + e + 1);
  if (exponent < -4 || exponent >= 16)
    return text;
  std::string sign = text[0] == '-' ? "-" : "", digits;
  for (char c : text.substr(0, e))
    if (c >= '0' && c <= '9')
      digits += c;
  if (exponent < 0)
    return sign + "0." + std::string(static_cast<size_t>(-exponent - 1), '0') + digits;
  auto whole = static_cast<size_t>(exponent) + 1;
  if (digits.size() <= whole)
    return sign + digits + std::string(whole - digits.size(), '0') + ".0";
  return sign + digits.substr(0, whole) + "." + digits.substr(whole);
}

/// The number of `count` hexadecimal digits; -1 if there are not as many.
static int64_t readHex(std::string_view text, size_t count) {
  uint32_t value = 0;
  if (text.size() < count)
    return -1;
  auto [end, code] = std::from_chars(text.data(), text.data() + count, value, 16);
  return code == std::errc() && end == text.data() + count ? static_cast<int64_t>(value) : -1;
}

/// An escape of digits at the front of `raw`, behind its backslash; false if it is none.
static bool unescapeNumber(std::string_view &raw, std::string &value) {
  char c = raw[0];
  if (c >= '0' && c <= '7') {
    uint32_t number = 0;
    size_t count = 0;
    for (; count < 3 && count < raw.size() && raw[count] >= '0' && raw[count] <= '7'; ++count)
      number = number * 8 + static_cast<uint32_t>(raw[count] - '0');
    appendUtf8(value, number);
    raw.remove_prefix(count);
    return true;
  }
  size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : 8;
  int64_t number = readHex(raw.substr(1), digits);
  if (number < 0 || number > 0x10FFFF || (number >= 0xD800 && number < 0xE000))
    return false;
  appendUtf8(value, static_cast<uint32_t>(number));
  raw.remove_prefix(1 + digits);
  return true;
}

bool unescape(std::string_view raw, std::string &value) {
  static constexpr std::string_view letters = "\\'\"abfnrtv", meanings = "\\'\"\a\b\f\n\r\t\v";
  while (!raw.empty()) {
    char c = raw[0];
    if (c != '\\' || raw.size() == 1) {
      value += c;
      raw.remove_prefix(1);
      continue;
    }
    raw.remove_prefix(1);
    c = raw[0];
    size_t place = letters.find(c);
    if (c == '\n') {
      raw.remove_prefix(1);
    } else if (place != std::string_view::npos) {
      value += meanings[place];
      raw.remove_prefix(1);
    } else if ((c >= '0' && c <= '7') || c == 'x' || c == 'u' || c == 'U') {
      if (!unescapeNumber(raw, value))
        return false;
    } else if (c == 'N') {
      return false;
    } else if (static_cast<unsigned char>(c) >= 0x80) {
      // Python writes what is no ASCII as an escape first, whose backslash this one then escapes.
      Utf8Char next = utf8At(raw, 0);
      value += '\\';
      if (next.codePoint < 0x100)
        appendHex(value, "x", next.codePoint, 2);
      else if (next.codePoint < 0x10000)
        appendHex(value, "u", next.codePoint, 4);
      else
        appendHex(value, "U", next.codePoint, 8);
      raw.remove_prefix(next.size);
    } else {
      (value += '\\') += c;
      raw.remove_prefix(1);
    }
  }
  return true;
}

} // namespace fovea::jinja
