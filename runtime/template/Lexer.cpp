// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Lexer.h. Refuses numbers of more than 64 bits, \N{...} and halves of surrogates in texts,
// which Python would take.
#include "runtime/template/Lexer.h"

#include "runtime/template/Text.h"
#include "runtime/tokenizer/Utf8.h"

#include <algorithm>
#include <charconv>

namespace fovea::jinja {

namespace {

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isNameStart(char c) {
  return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         static_cast<unsigned char>(c) >= 0x80;
}

class Lexer {
public:
  Lexer(std::string_view text, std::vector<Token> &tokens) : tokens(tokens) {
    for (size_t i = 0; i < text.size(); ++i)
      if (text[i] != '\r')
        source += text[i];
      else if (i + 1 == text.size() || text[i + 1] != '\n')
        source += '\n';
    if (!source.empty() && source.back() == '\n')
      source.pop_back();
  }

  bool run() {
    while (at < source.size() && error.empty())
      readData();
    add(TokenKind::End);
    return error.empty();
  }

  int line = 1;
  std::string error;

private:
  void fail(std::string message) {
    if (error.empty())
      error = std::move(message);
  }

  void add(TokenKind kind, std::string text = {}) {
    tokens.push_back({kind, line, std::move(text)});
  }

  bool startsWith(size_t place, std::string_view text) const {
    return source.compare(place, text.size(), text) == 0;
  }

  void advance(size_t to) {
    line += static_cast<int>(std::count(source.begin() + static_cast<ptrdiff_t>(at),
                                        source.begin() + static_cast<ptrdiff_t>(to), '\n'));
    lineStarting = to > at && source[to - 1] == '\n';
    at = to;
  }

  /// Behind the white space from `place` on.
  size_t skipSpace(size_t place) const {
    while (place < source.size()) {
      Utf8Char next = utf8At(source, place);
      if (!isSpace(next.codePoint))
        break;
      place += next.size;
    }
    return place;
  }

  char signAt(size_t place) const {
    return place < source.size() && (source[place] == '-' || source[place] == '+') ? source[place]
                                                                                   : 0;
  }

  /// Behind the end of a tag at `place`, of the delimiter `close`; 0 if there is none.
  size_t endOfTag(size_t place, std::string_view close, bool keeps, bool trims) const {
    char sign = signAt(place);
    if (sign == '-' && startsWith(place + 1, close))
      return skipSpace(place + 1 + close.size());
    if (sign == '+' && keeps && startsWith(place + 1, close))
      return place + 1 + close.size();
    if (!startsWith(place, close))
      return 0;
    place += close.size();
    return trims && place < source.size() && source[place] == '\n' ? place + 1 : place;
  }

  /// `text` stands before a tag with that sign.
  std::string_view strip(std::string_view text, char sign, bool isPrint) const {
    if (sign == '-')
      return stripText(text, /*left=*/false, /*right=*/true);
    if (sign == '+' || isPrint)
      return text;
    size_t start = text.rfind('\n') + 1;
    bool isLine = start > 0 || lineStarting;
    std::string_view last = text.substr(start);
    return isLine && !last.empty() && stripText(last, true, true).empty() ? text.substr(0, start)
                                                                          : text;
  }

  void addData(std::string_view text) {
    if (!text.empty())
      add(TokenKind::Data, std::string(text));
  }

  bool isTagAt(size_t place) const {
    return startsWith(place, "{{") || startsWith(place, "{%") || startsWith(place, "{#");
  }

  /// Text up to the next tag, and the tag.
  void readData() {
    size_t open = at;
    while ((open = source.find('{', open)) != std::string::npos && !isTagAt(open))
      ++open;
    std::string_view text = std::string_view(source).substr(at, open - at);
    if (open == std::string::npos) {
      addData(text);
      at = source.size();
      return;
    }
    char kind = source[open + 1], sign = signAt(open + 2);
    addData(strip(text, sign, kind == '{'));
    size_t inside = open + 2 + (sign != 0);
    size_t raw = kind == '%' ? beginOfRaw(inside) : 0;
    advance(raw ? raw : inside);
    if (raw)
      readRaw();
    else if (kind == '#')
      readComment();
    else
      readTag(kind == '{');
  }

  /// Behind `raw %}`, if that is what stands at `place`; else 0.
  size_t beginOfRaw(size_t place) const {
    place = skipSpace(place);
    if (!startsWith(place, "raw"))
      return 0;
    return endOfTag(skipSpace(place + 3), "%}", /*keeps=*/false, /*trims=*/false);
  }

  void readRaw() {
    for (size_t open = at; (open = source.find("{%", open)) != std::string::npos; open += 2) {
      char sign = signAt(open + 2);
      size_t place = skipSpace(open + 2 + (sign != 0));
      if (!startsWith(place, "endraw"))
        continue;
      size_t end = endOfTag(skipSpace(place + 6), "%}", true, true);
      if (!end)
        continue;
      addData(strip(std::string_view(source).substr(at, open - at), sign, false));
      advance(end);
      return;
    }
    fail("expects {% endraw %}, got the end of the template");
  }

  void readComment() {
    size_t close = source.find("#}", at);
    if (close == std::string::npos)
      return fail("expects #}, which ends a comment, got the end of the template");
    size_t begin = close > at && signAt(close - 1) ? close - 1 : close;
    advance(endOfTag(begin, "#}", true, true));
  }

  void readTag(bool isPrint) {
    add(isPrint ? TokenKind::PrintBegin : TokenKind::BlockBegin);
    std::string open;
    while (at < source.size() && error.empty()) {
      size_t end = 0;
      if (open.empty())
        end = isPrint ? endOfTag(at, "}}", false, false) : endOfTag(at, "%}", true, true);
      if (end) {
        add(isPrint ? TokenKind::PrintEnd : TokenKind::BlockEnd);
        advance(end);
        return;
      }
      size_t word = skipSpace(at);
      if (word > at)
        advance(word);
      else
        readWord(open);
    }
  }

  void readWord(std::string &open) {
    char c = source[at];
    if (isDigit(c))
      readNumber();
    else if (isNameStart(c))
      readName();
    else if (c == '\'' || c == '"')
      readText(c);
    else
      readOperator(open);
  }

  void readName() {
    size_t end = at;
    while (end < source.size() && (isNameStart(source[end]) || isDigit(source[end])))
      ++end;
    add(TokenKind::Name, source.substr(at, end - at));
    at = end;
  }

  /// Digits with single _ between, from `place` on; `place` if there are none.
  size_t skipDigits(size_t place) const {
    size_t end = place;
    while (end < source.size() && isDigit(source[end])) {
      ++end;
      if (end + 1 < source.size() && source[end] == '_' && isDigit(source[end + 1]))
        ++end;
    }
    return end;
  }

  /// Behind a number with a fraction or an exponent; `at` if there is none.
  size_t endOfReal() const {
    if (at > 0 && source[at - 1] == '.')
      return at;
    size_t end = skipDigits(at), fraction = end;
    if (end < source.size() && source[end] == '.')
      fraction = skipDigits(end + 1);
    bool hasFraction = fraction > end + 1;
    end = hasFraction ? fraction : end;
    if (end < source.size() && (source[end] == 'e' || source[end] == 'E')) {
      size_t digits = end + 1 + (signAt(end + 1) != 0), exponent = skipDigits(digits);
      if (exponent > digits)
        return exponent;
    }
    return hasFraction ? end : at;
  }

  std::string digits(size_t from, size_t to) const {
    std::string text = source.substr(from, to - from);
    text.erase(std::remove(text.begin(), text.end(), '_'), text.end());
    return text;
  }

  void readNumber() {
    if (size_t end = endOfReal(); end > at) {
      add(TokenKind::Real);
      std::string text = digits(at, end);
      std::from_chars(text.data(), text.data() + text.size(), tokens.back().real);
      at = end;
      return;
    }
    static constexpr std::pair<char, int> bases[] = {{'b', 2}, {'o', 8}, {'x', 16}};
    size_t begin = at, end = at;
    int base = 10;
    char letter = at + 1 < source.size() && source[at] == '0' ? source[at + 1] | 0x20 : 0;
    for (auto [name, value] : bases)
      if (letter == name && endOfBased(at + 2, value) > at + 2) {
        base = value;
        begin = at + 2;
        end = endOfBased(begin, value);
      }
    if (base == 10) {
      end = skipDigits(at);
      if (source[at] == '0') // 0 and 00, but 07 is two numbers
        for (end = at; end < source.size() && source[end] == '0';)
          ++end;
    }
    add(TokenKind::Integer);
    std::string text = digits(begin, end);
    auto [rest, code] =
        std::from_chars(text.data(), text.data() + text.size(), tokens.back().integer, base);
    if (code != std::errc())
      fail("number " + source.substr(at, std::min<size_t>(end - at, 40)) +
           " has more than 64 bits");
    at = end;
  }

  size_t endOfBased(size_t place, int base) const {
    auto isOne = [&](size_t i) {
      if (i >= source.size())
        return false;
      char c = source[i];
      int value = isDigit(c)                               ? c - '0'
                  : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 87
                                                           : 99;
      return value < base;
    };
    while (isOne(place) || (place < source.size() && source[place] == '_' && isOne(place + 1)))
      ++place;
    return place;
  }

  void readText(char quote) {
    size_t end = at + 1;
    while (end < source.size() && source[end] != quote)
      end += source[end] == '\\' ? 2 : 1;
    if (end >= source.size())
      return fail("a text has no end");
    std::string value;
    std::string_view raw = std::string_view(source).substr(at + 1, end - at - 1);
    if (!unescape(raw, value))
      return fail("text '" + std::string(raw.substr(0, 60)) +
                  "' has an escape that is not supported");
    add(TokenKind::Text, std::move(value));
    advance(end + 1);
  }

  void readOperator(std::string &open) {
    static constexpr std::string_view two[] = {"//", "**", "==", "!=", ">=", "<="};
    for (std::string_view text : two)
      if (startsWith(at, text)) {
        add(TokenKind::Operator, std::string(text));
        at += 2;
        return;
      }
    char c = source[at];
    if (std::string_view("+-/*%~[](){}><=.:|,;").find(c) == std::string_view::npos)
      return fail("unexpected character '" + source.substr(at, utf8At(source, at).size) + "'");
    if (c == '(' || c == '[' || c == '{')
      open += c == '(' ? ')' : c == '[' ? ']' : '}';
    if (c == ')' || c == ']' || c == '}') {
      if (open.empty() || open.back() != c)
        return fail(std::string("unexpected '") + c + "'" +
                    (open.empty() ? "" : std::string(", expects '") + open.back() + "'"));
      open.pop_back();
    }
    add(TokenKind::Operator, std::string(1, c));
    ++at;
  }

  std::vector<Token> &tokens;
  std::string source;
  size_t at = 0;
  bool lineStarting = true; ///< what was read last ended a line
};

} // namespace

bool tokenize(std::string_view source, std::vector<Token> &tokens, int &line, std::string &error) {
  Lexer lexer(source, tokens);
  bool done = lexer.run();
  line = lexer.line;
  error = lexer.error;
  return done;
}

} // namespace fovea::jinja
