// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The lexer: one pass over the text, each token points into it.
#include "emulator/Lexer.h"

#include "emulator/Error.h"

#include <cstdlib>
#include <cstring>

namespace fovea::emulator {

namespace {
bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool startsName(char c) { return isLetter(c) || c == '%' || c == '$'; }
bool continuesName(char c) { return isLetter(c) || isDigit(c) || c == '$'; }
int digitOf(char c) {
  if (isDigit(c))
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  if (c >= 'A' && c <= 'F')
    return c - 'A' + 10;
  return 99;
}

class Lexer {
public:
  Lexer(std::string_view source, const std::string &file) : source(source), file(file) {}

  std::vector<Token> run() {
    std::vector<Token> tokens;
    tokens.reserve(source.size() / 4);
    do
      tokens.push_back(next());
    while (tokens.back().kind != Token::End);
    return tokens;
  }

private:
  char at(size_t offset = 0) const {
    return position + offset < source.size() ? source[position + offset] : '\0';
  }
  template <typename... Parts> [[noreturn]] void wrong(const Parts &...parts) {
    fail(file, ":", line, ": ", parts...);
  }
  Token token(Token::Kind kind, size_t start, uint64_t bits = 0) {
    return {kind, source.substr(start, position - start), line, bits};
  }

  void skipBlank() {
    for (; position < source.size(); ++position) {
      char c = at();
      if (c == '\n') {
        ++line;
      } else if (c == '/' && at(1) == '/') {
        while (position + 1 < source.size() && at(1) != '\n')
          ++position;
      } else if (c == '/' && at(1) == '*') {
        uint32_t first = line;
        for (position += 2; !(at() == '*' && at(1) == '/'); ++position) {
          if (position >= source.size()) {
            line = first;
            wrong("expects the comment that starts here to end with */");
          }
          line += at() == '\n';
        }
        ++position;
      } else if (!(c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v' || c == '\0')) {
        return;
      }
    }
  }

  Token next() {
    skipBlank();
    size_t start = position;
    if (position >= source.size())
      return token(Token::End, start);
    char c = at();
    if (startsName(c)) {
      ++position;
      word();
      return token(Token::Name, start);
    }
    if (c == '.' && (isLetter(at(1)) || isDigit(at(1)))) {
      start = ++position;
      word();
      return token(Token::Dot, start);
    }
    if (isDigit(c))
      return number(start);
    if (c == '"') {
      for (++position; at() != '"'; ++position)
        if (position >= source.size() || at() == '\n')
          wrong("expects the string that starts here to end with \"");
      ++position;
      return token(Token::String, start);
    }
    if (std::strchr("{}[]()<>,;:@!|+-*=/&~^.", c)) {
      ++position;
      return token(Token::Punctuation, start);
    }
    wrong("expects PTX, got the character ",
          (c > 32 && c < 127) ? text("'", c, "'")
                              : text("with code ", int(static_cast<unsigned char>(c))));
  }

  /// Letters and digits; `::` only between two words.
  void word() {
    while (true) {
      while (continuesName(at()))
        ++position;
      if (at() == ':' && at(1) == ':' && (isLetter(at(2)) || isDigit(at(2))))
        position += 2;
      else
        return;
    }
  }

  Token number(size_t start) {
    char kind = at() == '0' ? at(1) : '\0';
    if (kind == 'f' || kind == 'F' || kind == 'd' || kind == 'D') {
      bool isDouble = kind == 'd' || kind == 'D';
      position += 2;
      uint64_t bits = digits(16, start);
      if (position - start != (isDouble ? 18u : 10u))
        wrong("expects ", isDouble ? 16 : 8, " digits after 0", kind, ", got '",
              source.substr(start, position - start), "'");
      return token(isDouble ? Token::Float64 : Token::Float32, start, bits);
    }
    if (kind == 'x' || kind == 'X' || kind == 'b' || kind == 'B') {
      position += 2;
      return integer(digits(kind == 'x' || kind == 'X' ? 16 : 2, start), start);
    }
    // A fraction or an exponent makes it an f64.
    size_t end = position;
    while (end < source.size() && isDigit(source[end]))
      ++end;
    bool fraction = end + 1 < source.size() && source[end] == '.' && isDigit(source[end + 1]);
    bool exponent = end < source.size() && (source[end] == 'e' || source[end] == 'E');
    if (fraction || exponent) {
      std::string copy(source.substr(start, 64));
      char *stop = nullptr;
      double value = std::strtod(copy.c_str(), &stop);
      position = start + (stop - copy.c_str());
      uint64_t bits;
      std::memcpy(&bits, &value, 8);
      return token(Token::Float64, start, bits);
    }
    return integer(digits(at() == '0' ? 8 : 10, start), start);
  }

  uint64_t digits(unsigned base, size_t start) {
    uint64_t value = 0;
    size_t first = position;
    for (; digitOf(at()) < static_cast<int>(base); ++position) {
      unsigned __int128 wide = static_cast<unsigned __int128>(value) * base + digitOf(at());
      if (wide >> 64)
        wrong("expects a number of at most 64 bits, got '", source.substr(start, 40), "'");
      value = static_cast<uint64_t>(wide);
    }
    if (position == first)
      wrong("expects digits in '", source.substr(start, position - start + 1), "'");
    return value;
  }

  Token integer(uint64_t bits, size_t start) {
    if (at() == 'U')
      ++position;
    if (continuesName(at()))
      wrong("expects a number, got '", source.substr(start, position - start + 1), "'");
    return token(Token::Integer, start, bits);
  }

  std::string_view source;
  const std::string &file;
  size_t position = 0;
  uint32_t line = 1;
};
} // namespace

std::vector<Token> lex(std::string_view source, const std::string &file) {
  return Lexer(source, file).run();
}

} // namespace fovea::emulator
