// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is searched for in text: a literal or a regular expression (PCRE2, whose
// types stay inside the .cpp). Searching is reentrant.
#ifndef FOVEA_RUNTIME_TOKENIZER_REGEX_H
#define FOVEA_RUNTIME_TOKENIZER_REGEX_H

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace fovea {

/// A part of a text, in bytes, and whether a pattern matched it.
struct Span {
  size_t begin, end;
  bool isMatch;
};

/// A compiled pattern.
class Pattern {
public:
  ~Pattern();
  /// Matches `text` (not empty) itself.
  static std::unique_ptr<Pattern> literal(std::string_view text);
  /// A PCRE2 pattern; without one, `error` says why and where.
  static std::unique_ptr<Pattern> regex(std::string_view pattern, std::string &error);

  /// Cuts valid UTF-8 into matches and what lies between, in order and without
  /// gaps. An empty match is given only where no other match has just ended.
  /// Fails as invalid where one match takes more steps, or memory, than a pattern that
  /// backtracks within reason takes of a text of this size.
  void search(std::string_view text, std::vector<Span> &spans) const;

  /// The literal, or empty for a regular expression.
  const std::string &literalText() const { return needle; }

private:
  Pattern();
  struct Code;
  std::string needle;
  std::unique_ptr<Code> code;
};

} // namespace fovea

#endif // FOVEA_RUNTIME_TOKENIZER_REGEX_H
