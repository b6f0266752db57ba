// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX as text in which single statements can be replaced. It shares nothing with the emulator, so
// a wrong idea of the one is no wrong idea of the other; what it does not understand it leaves
// alone.
#ifndef FOVEA_TEST_MUTATION_PTX_H
#define FOVEA_TEST_MUTATION_PTX_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fovea::mutation {

/// One instruction of a function's body.
struct Statement {
  size_t begin, end;     ///< its characters, with the semicolon
  uint32_t line;         ///< from one
  bool labelled = false; ///< another place may jump here
  std::string predicate; ///< "@%p1", "@!%p1" or empty
  std::string opcode;    ///< "ld.global.v2.b32"
  std::vector<std::string> operands;

  /// The opcode's first word, and whether one of the others is `word`.
  std::string base() const;
  bool has(const std::string &word) const;
  bool is(const std::string &prefix) const { return opcode.compare(0, prefix.size(), prefix) == 0; }
  /// Without the operand that it writes: bra, st, bar, red, ...
  bool isEffect() const;
  /// The registers that it writes, and that it reads (with its predicate and addresses).
  std::vector<std::string> writes() const, reads() const;
  std::string text() const;
};

class Ptx {
public:
  explicit Ptx(std::string text);

  const std::string &text() const { return source; }
  const std::vector<Statement> &statements() const { return all; }
  /// The text with statement `i` replaced; every line keeps its number.
  std::string replace(size_t i, const std::string &by) const;
  /// The same for two statements, `i` before `j`.
  std::string replace(size_t i, const std::string &by, size_t j, const std::string &by2) const;
  /// Statements that may run behind `i`. Empty behind ret.
  std::vector<size_t> successors(size_t i) const;

private:
  std::string source;
  std::vector<Statement> all;
  std::vector<std::pair<std::string, size_t>> labels; ///< and the statement behind each
};

/// `%r` of `%r12`; empty for what is no register.
std::string registerClass(std::string_view operand);
/// Splits at commas that stand in no brackets.
std::vector<std::string> splitOperands(std::string_view text);

} // namespace fovea::mutation

#endif // FOVEA_TEST_MUTATION_PTX_H
