// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A template's text as tokens, with the white space taken away that Jinja takes with trim_blocks
// and lstrip_blocks, and comments left out.
#ifndef FOVEA_RUNTIME_TEMPLATE_LEXER_H
#define FOVEA_RUNTIME_TEMPLATE_LEXER_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fovea::jinja {

enum class TokenKind {
  Data,
  PrintBegin,
  PrintEnd,
  BlockBegin,
  BlockEnd,
  Name,
  Text,
  Integer,
  Real,
  Operator,
  End
};

struct Token {
  TokenKind kind;
  int line;
  std::string text; ///< of data, names and operators; of text, what it means
  int64_t integer = 0;
  double real = 0;
};

/// The last token is of kind End. False, and `line` and `error` say what is wrong, if it is no
/// template.
bool tokenize(std::string_view source, std::vector<Token> &tokens, int &line, std::string &error);

} // namespace fovea::jinja

#endif // FOVEA_RUNTIME_TEMPLATE_LEXER_H
