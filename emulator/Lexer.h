// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Splits PTX text into tokens (PTX ISA 9.0, "Syntax"). Comments vanish. Refuses characters that
// PTX does not have, numbers that do not fit 64 bits, and comments and strings without an end.
#ifndef FOVEA_EMULATOR_LEXER_H
#define FOVEA_EMULATOR_LEXER_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fovea::emulator {

struct Token {
  enum Kind : uint8_t {
    End,
    Name,    ///< identifier: `%r1`, `$L__BB0_2`, `ld`
    Dot,     ///< a word after a point, without it: `global`, `v4`, `shared::cta`
    Integer, ///< `bits` holds the value
    Float32, ///< `bits` holds the bits of an f32: `0f3F800000`
    Float64, ///< `bits` holds the bits of an f64: `0d...` or a decimal fraction
    String,
    Punctuation, ///< one character
  };
  Kind kind;
  std::string_view text; ///< into the source
  uint32_t line;         ///< from one
  uint64_t bits = 0;

  bool is(char c) const { return kind == Punctuation && text[0] == c; }
};

/// All tokens of `source`, the last of kind End. `file` is for messages. Throws Error.
std::vector<Token> lex(std::string_view source, const std::string &file);

} // namespace fovea::emulator

#endif // FOVEA_EMULATOR_LEXER_H
