// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads a pattern once from left to right. Classes are written out through the
// measured tables, so that both engines agree on every code point; the few
// constructs whose meaning differs are rewritten or refused.
#include "frontend/tokenizer/RegexTranslator.h"

#include "runtime/tokenizer/Utf8.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <vector>

using namespace fovea;

namespace {
struct RegexClass {
  const char *name;
  const char *base; // the name of a class that it holds, or empty
  const char *items;
};
#include "frontend/tokenizer/RegexTables.inc"

/// The items of a class by name, or nothing.
std::string itemsOf(std::string_view name) {
  const RegexClass *found = std::lower_bound(
      std::begin(regexClasses), std::end(regexClasses), name,
      [](const RegexClass &entry, std::string_view key) { return entry.name < key; });
  if (found == std::end(regexClasses) || found->name != name)
    return "";
  return itemsOf(found->base) + found->items;
}

/// What a bracket holds: items of a PCRE2 class, and classes that are negated
/// inside it, which PCRE2 cannot write with exceptions.
struct ClassItems {
  std::string items;
  std::vector<std::string> complements;

  void add(const std::string &more, bool negated) {
    if (negated)
      complements.push_back(more);
    else
      items += more;
  }
};

class Translator {
public:
  Translator(std::string_view pattern, std::string &error) : pattern(pattern), error(error) {}

  std::optional<std::string> run() {
    if (!translateGroup(0))
      return std::nullopt;
    if (at < pattern.size()) {
      fail("a parenthesis that opens nothing");
      return std::nullopt;
    }
    return std::move(out);
  }

private:
  bool fail(const std::string &what) {
    if (error.empty())
      error = what + " at byte " + std::to_string(at);
    return false;
  }
  bool starts(std::string_view text) const { return pattern.substr(at, text.size()) == text; }
  bool atEnd() const { return at >= pattern.size(); }

  static std::string codePointText(uint32_t c) {
    char text[16];
    std::snprintf(text, sizeof text, "\\x{%X}", c);
    return text;
  }

  bool translateGroup(unsigned depth);
  bool openGroup(unsigned depth);
  bool translateEscape();
  bool readCodePoint(uint32_t &codePoint);
  bool readClassEscape(std::string &items, bool &negated, bool inBracket);
  bool readBracket(ClassItems &content, bool &negated, unsigned depth);
  bool readBracketItem(ClassItems &content, unsigned depth);
  bool readPosixClass(ClassItems &content);
  bool readNestedBracket(ClassItems &content, unsigned depth);
  bool readBracketEscape(ClassItems &content, std::optional<uint32_t> &character);
  uint32_t readCharacter();
  bool readRangeEnd(uint32_t first, uint32_t &last);
  bool quantify(size_t atom);
  void writeClass(const ClassItems &content, bool negated);
  bool checkFolding(uint32_t codePoint);

  std::string_view pattern;
  std::string &error;
  std::string out;
  size_t at = 0;
  bool ignoresCase = false;
  uint32_t lastLiteral = 0; ///< In case-blind text; 0 after anything else.
};

/// Whether the code point before and `c` together, in case-blind text, are what
/// one character folds to (ß, ligatures). Oniguruma then matches that too.
bool Translator::checkFolding(uint32_t c) {
  if (!ignoresCase)
    return true;
  if (c >= 0x80)
    return fail("case-blind text outside ASCII, which is not supported,");
  uint32_t low = c >= 'A' && c <= 'Z' ? c + 32 : c;
  uint32_t before = lastLiteral;
  lastLiteral = low;
  bool folds = (before == 's' && (low == 's' || low == 't')) ||
               (before == 'f' && (low == 'f' || low == 'i' || low == 'l'));
  return !folds || fail("case-blind text that one character folds to, which is not supported,");
}

/// Alternatives up to the closing parenthesis or the end.
bool Translator::translateGroup(unsigned depth) {
  if (depth > 50)
    return fail("groups nested deeper than 50");
  bool fresh = true; // nothing but options so far
  while (!atEnd()) {
    char c = pattern[at];
    size_t atom = out.size();
    bool isLiteral = false;
    if (c == ')')
      return true;
    if (c == '|') {
      out += c;
      ++at;
      lastLiteral = 0;
      fresh = false;
      continue;
    }
    if (c == '(') {
      // An option that is set in the middle of an alternative spans the
      // following alternatives differently in both engines.
      if (starts("(?i)") || starts("(?-i)")) {
        if (!fresh)
          return fail("an option in the middle of a group, which is not supported,");
        ignoresCase = pattern[at + 2] == 'i';
        out += ignoresCase ? "(?i)" : "(?-i)";
        at += ignoresCase ? 4 : 5;
        continue;
      }
      if (starts("(?#")) {
        size_t end = pattern.find(')', at);
        if (end == std::string_view::npos)
          return fail("a comment without end");
        at = end + 1;
        continue;
      }
      if (!openGroup(depth))
        return false;
    } else if (c == '[') {
      ClassItems content;
      bool negated = false;
      if (!readBracket(content, negated, 0))
        return false;
      writeClass(content, negated);
    } else if (c == '\\') {
      if (!translateEscape())
        return false;
    } else if (c == '*' || c == '+' || c == '?') {
      return fail("a quantifier without anything to repeat");
    } else if (c == '^' || c == '$' || c == '.') {
      out += c;
      ++at;
    } else {
      Utf8Char next = utf8At(pattern, at);
      if (!checkFolding(next.codePoint))
        return false;
      isLiteral = true;
      if (c == '{')
        out += '\\';
      out += pattern.substr(at, next.size);
      at += next.size;
    }
    if (!isLiteral)
      lastLiteral = 0;
    fresh = false;
    if (!quantify(atom))
      return false;
  }
  return depth == 0 || fail("a group without end");
}

bool Translator::openGroup(unsigned depth) {
  static constexpr const char *same[] = {"(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>"};
  bool outer = ignoresCase;
  bool opened = false;
  for (const char *opening : same)
    if (starts(opening)) {
      out += opening;
      at += std::string_view(opening).size();
      opened = true;
      break;
    }
  if (!opened && starts("(?i:")) {
    out += "(?i:";
    at += 4;
    ignoresCase = opened = true;
  } else if (!opened && starts("(?-i:")) {
    out += "(?-i:";
    at += 5;
    ignoresCase = false;
    opened = true;
  } else if (!opened && starts("(?m:")) { // "." also matches a newline
    out += "(?s:";
    at += 4;
    opened = true;
  } else if (!opened && starts("(?<")) { // a name: nothing refers to it
    size_t end = pattern.find('>', at);
    if (end == std::string_view::npos)
      return fail("a group name without end");
    out += "(?:";
    at = end + 1;
  } else if (!opened && starts("(?")) {
    return fail("a kind of group that is not supported");
  } else if (!opened) {
    out += "(?:";
    ++at;
  }
  lastLiteral = 0;
  if (!translateGroup(depth + 1))
    return false;
  out += ')';
  ++at;
  ignoresCase = outer;
  return true;
}

/// A quantifier after the atom that starts at `atom` of the output, if any.
bool Translator::quantify(size_t atom) {
  for (unsigned count = 0; !atEnd(); ++count) {
    char c = pattern[at];
    if (c == '*' || c == '+' || c == '?') {
      if (count > 0)
        return fail("a quantifier of a quantifier, which is not supported,");
      out += c;
      ++at;
      if (!atEnd() && (pattern[at] == '?' || pattern[at] == '+'))
        out += pattern[at++];
      lastLiteral = 0;
      continue;
    }
    if (c != '{')
      return true;
    // {n}, {n,}, {n,m}, {,m}; anything else is text.
    size_t end = at + 1;
    auto digits = [&] {
      size_t begin = end;
      while (end < pattern.size() && pattern[end] >= '0' && pattern[end] <= '9')
        ++end;
      return std::string(pattern.substr(begin, end - begin));
    };
    std::string least = digits(), most;
    bool comma = end < pattern.size() && pattern[end] == ',';
    if (comma) {
      ++end;
      most = digits();
    }
    if (end >= pattern.size() || pattern[end] != '}' || (least.empty() && most.empty()))
      return true;
    if (count > 0)
      return fail("a quantifier of a quantifier, which is not supported,");
    if (least.size() > 5 || most.size() > 5)
      return fail("a repetition of 100000 or more");
    at = end + 1;
    out += "{" + (least.empty() ? "0" : least) + (comma ? "," + most : "") + "}";
    if (!atEnd() && pattern[at] == '?') {
      if (!comma)
        return fail("{n}?, which the two engines read differently,");
      out += '?';
      ++at;
    } else if (!atEnd() && pattern[at] == '+') { // not possessive: repeats the repetition
      out.insert(atom, "(?:");
      out += ")+";
      ++at;
    }
    lastLiteral = 0;
  }
  return true;
}

/// The code point of an escape that is one; `at` stands behind the backslash.
bool Translator::readCodePoint(uint32_t &codePoint) {
  char c = pattern[at];
  static constexpr std::pair<char, uint32_t> named[] = {{'t', 9},  {'n', 10}, {'r', 13}, {'f', 12},
                                                        {'v', 11}, {'a', 7},  {'e', 27}};
  for (auto [letter, value] : named)
    if (c == letter) {
      codePoint = value;
      ++at;
      return true;
    }
  if (c == 'x' || c == 'u') {
    ++at;
    bool braces = c == 'x' && starts("{");
    at += braces;
    size_t most = braces ? 8 : c == 'x' ? 2 : 4, count = 0;
    uint64_t value = 0;
    for (; count < most && !atEnd() && std::isxdigit(static_cast<unsigned char>(pattern[at]));
         ++count, ++at)
      value = value * 16 + static_cast<uint64_t>(pattern[at] <= '9'   ? pattern[at] - '0'
                                                 : pattern[at] <= 'F' ? pattern[at] - 'A' + 10
                                                                      : pattern[at] - 'a' + 10);
    if (braces) {
      if (!starts("}"))
        return fail("a code point without closing brace");
      ++at;
    }
    // \x80 and above are bytes of UTF-8 there, code points here.
    bool isByte = c == 'x' && !braces && value >= 0x80;
    if (count == 0 || (c == 'u' && count < 4) || isByte || value > 0x10FFFF ||
        (value >= 0xD800 && value <= 0xDFFF))
      return fail("a code point that is none");
    codePoint = static_cast<uint32_t>(value);
    return true;
  }
  Utf8Char next = utf8At(pattern, at);
  if (std::isalnum(static_cast<unsigned char>(c)) || next.codePoint >= 0x80)
    return fail("an escape that is not supported");
  codePoint = next.codePoint;
  at += next.size;
  return true;
}

/// \s, \d, \w, \h, \p{..}, \pL and their negations; `at` stands behind the
/// backslash. `items` stays empty if the escape is no class.
bool Translator::readClassEscape(std::string &items, bool &negated, bool inBracket) {
  char c = pattern[at];
  char low = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  negated = c != low;
  std::string name;
  size_t end = at + 1;
  if (low == 's' || low == 'd' || low == 'w' || low == 'h') {
    name = low;
    if (low == 'w' && inBracket)
      name = "[w]"; // the two differ in six characters
  } else if (low == 'p') {
    size_t close = pattern.find('}', at);
    if (end >= pattern.size() || pattern[end] != '{' || close == std::string_view::npos)
      return fail("a property without braces");
    name = pattern.substr(end + 1, close - end - 1);
    if (!name.empty() && name[0] == '^') {
      negated = !negated;
      name.erase(0, 1);
    }
    static constexpr std::pair<const char *, const char *> longNames[] = {
        {"Letter", "L"}, {"Mark", "M"},      {"Number", "N"}, {"Punctuation", "P"},
        {"Symbol", "S"}, {"Separator", "Z"}, {"Other", "C"}};
    for (auto [longName, shortName] : longNames)
      if (name == longName)
        name = shortName;
    end = close + 1;
  } else {
    return true;
  }
  std::string found = itemsOf(name);
  if (found.empty())
    return fail("the property '" + name + "', which is not supported,");
  if (ignoresCase && low == 'p' && (name == "Lu" || name == "Ll" || name == "Lt"))
    return fail("a case property in case-blind text, which is not supported,");
  items = std::move(found);
  at = end;
  return true;
}

bool Translator::translateEscape() {
  ++at;
  if (atEnd())
    return fail("a backslash at the end");
  std::string items;
  bool negated = false;
  if (!readClassEscape(items, negated, /*inBracket=*/false))
    return false;
  if (!items.empty()) {
    out += (negated ? "[^" : "[") + items + "]";
    return true;
  }
  char c = pattern[at];
  if (c == 'b' || c == 'B') {
    std::string word = "[" + itemsOf("w") + "]";
    out += c == 'b' ? "(?:(?<=" + word + ")(?!" + word + ")|(?<!" + word + ")(?=" + word + "))"
                    : "(?:(?<=" + word + ")(?=" + word + ")|(?<!" + word + ")(?!" + word + "))";
    ++at;
    return true;
  }
  if (c == 'A' || c == 'z' || c == 'Z') {
    out += std::string("\\") + c;
    ++at;
    return true;
  }
  if (c == 'R') {
    out += "(?>\\x{D}\\x{A}|[\\x{A}-\\x{D}\\x{85}\\x{2028}\\x{2029}])";
    ++at;
    return true;
  }
  uint32_t codePoint = 0;
  if (!readCodePoint(codePoint))
    return false;
  lastLiteral = 0;
  if (!checkFolding(codePoint))
    return false;
  out += codePointText(codePoint);
  return true;
}

/// `[:alpha:]` or `[:^alpha:]`.
bool Translator::readPosixClass(ClassItems &content) {
  size_t end = pattern.find(":]", at);
  bool negated = starts("[:^");
  std::string name(end == std::string_view::npos
                       ? std::string_view()
                       : pattern.substr(at + 2 + negated, end - at - 2 - negated));
  std::string items = itemsOf(":" + name + ":");
  if (items.empty())
    return fail("a POSIX class that is not supported");
  content.add(items, negated);
  at = end + 2;
  return true;
}

bool Translator::readNestedBracket(ClassItems &content, unsigned depth) {
  ClassItems inner;
  bool negated = false;
  if (!readBracket(inner, negated, depth + 1))
    return false;
  if (negated && !inner.complements.empty())
    return fail("a negated class of negated classes, which is not supported,");
  content.add(inner.items, negated);
  if (!negated)
    content.complements.insert(content.complements.end(), inner.complements.begin(),
                               inner.complements.end());
  return true;
}

/// What stands after a backslash: a class, which goes to `content`, or a character.
bool Translator::readBracketEscape(ClassItems &content, std::optional<uint32_t> &character) {
  ++at;
  if (atEnd())
    return fail("a backslash at the end");
  std::string items;
  bool negated = false;
  if (!readClassEscape(items, negated, /*inBracket=*/true))
    return false;
  if (!items.empty()) {
    content.add(items, negated);
    return true;
  }
  character = 8;
  if (pattern[at] != 'b')
    return readCodePoint(*character);
  ++at; // a backspace
  return true;
}

uint32_t Translator::readCharacter() {
  Utf8Char next = utf8At(pattern, at);
  at += next.size;
  return next.codePoint;
}

/// The end of a range from `first`, if one begins here; else `last` stays.
bool Translator::readRangeEnd(uint32_t first, uint32_t &last) {
  if (!starts("-") || at + 1 >= pattern.size() || pattern[at + 1] == ']')
    return true;
  ++at;
  if (pattern[at] == '\\') {
    ++at;
    if (atEnd() || !readCodePoint(last))
      return fail("a range without end");
  } else if (pattern[at] == '[') {
    return fail("a range without end");
  } else {
    last = readCharacter();
  }
  return last >= first || fail("a range that ends before it starts");
}

/// One item of a bracket: a class, a character or a range.
bool Translator::readBracketItem(ClassItems &content, unsigned depth) {
  if (starts("[:"))
    return readPosixClass(content);
  if (pattern[at] == '[')
    return readNestedBracket(content, depth);
  if (starts("&&"))
    return fail("an intersection of classes, which is not supported,");
  std::optional<uint32_t> first;
  if (pattern[at] == '\\') {
    if (!readBracketEscape(content, first))
      return false;
    if (!first)
      return true; // a class
  } else {
    first = readCharacter();
  }
  uint32_t last = *first;
  if (!readRangeEnd(*first, last))
    return false;
  if (ignoresCase && last >= 0x80)
    return fail("a case-blind class outside ASCII, which is not supported,");
  content.items += codePointText(*first) + (last > *first ? "-" + codePointText(last) : "");
  return true;
}

bool Translator::readBracket(ClassItems &content, bool &negated, unsigned depth) {
  if (depth > 10)
    return fail("classes nested deeper than 10");
  ++at;
  if ((negated = starts("^")))
    ++at;
  if (starts("]"))
    return fail("an empty class");
  while (!atEnd() && pattern[at] != ']')
    if (!readBracketItem(content, depth))
      return false;
  if (atEnd())
    return fail("a class without end");
  ++at;
  return true;
}

/// A class with complements A|not(B)|... becomes alternatives of one character
/// each; its negation, a look ahead for each and then the last.
void Translator::writeClass(const ClassItems &content, bool negated) {
  if (content.complements.empty()) {
    out += (negated ? "[^" : "[") + content.items + "]";
    return;
  }
  if (content.complements.size() == 1 && content.items.empty()) {
    out += (negated ? "[" : "[^") + content.complements[0] + "]";
    return;
  }
  out += "(?:";
  if (!content.items.empty())
    out += negated ? "(?![" + content.items + "])" : "[" + content.items + "]|";
  for (size_t i = 0; i < content.complements.size(); ++i) {
    bool isLast = i + 1 == content.complements.size();
    const std::string &items = content.complements[i];
    if (negated)
      out += isLast ? "[" + items + "]" : "(?=[" + items + "])";
    else
      out += "[^" + items + "]" + (isLast ? "" : "|");
  }
  out += ")";
}
} // namespace

std::optional<std::string> fovea::translateRegex(std::string_view pattern, std::string &error) {
  error.clear();
  return Translator(pattern, error).run();
}
