// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tokens to statements and expressions, in the grammar of Jinja 3.1.
#ifndef FOVEA_RUNTIME_TEMPLATE_PARSER_H
#define FOVEA_RUNTIME_TEMPLATE_PARSER_H

#include "runtime/template/Lexer.h"
#include "runtime/template/Syntax.h"

#include <map>

namespace fovea::jinja {

/// Refuses what chat templates do not use (blocks of inheritance, imports, recursive loops), and
/// what is nested more than a bound.
class Parser {
public:
  Parser(std::vector<Token> tokens, Syntax &syntax);
  /// False, and the two below say what is wrong, if it is no template.
  bool run();

  int errorLine = 0;
  std::string error;

private:
  using Ends = std::initializer_list<const char *>;

  // Tokens. After a failure all that is left is the end.
  const Token &current() const { return tokens[at]; }
  const Token &following() const { return tokens[std::min(at + 1, tokens.size() - 1)]; }
  Token take();
  bool isOperator(const char *text) const;
  bool isName(const char *text) const;
  bool isName() const { return current().kind == TokenKind::Name; }
  bool isOneOf(Ends names) const;
  bool takeOperator(const char *text);
  bool takeName(const char *text);
  void expect(TokenKind kind);
  void expectOperator(const char *text);
  std::string expectName();
  void fail(int line, std::string message);
  bool failed() const { return !error.empty(); }

  // Statements.
  /// Up to a tag that is one of `ends`, which is left.
  Block parseBlock(Ends ends);
  /// The rest of a tag, its block, and the tag that ends it.
  Block parseBody(const char *end);
  std::unique_ptr<Statement> parseStatement();
  std::unique_ptr<Statement> make(Statement::Kind kind);
  void parseFor(Statement &statement);
  void parseIf(Statement &statement);
  void parseSet(Statement &statement);
  void parseMacro(Statement &statement);
  void parseCallBlock(Statement &statement);
  void parseFilterBlock(Statement &statement);
  void parseWith(Statement &statement);
  void parseGeneration(Statement &statement);
  void parseLoopControl(Statement &statement);
  void parseSignature(Signature &signature);
  /// The body of a macro or the like, whose use of some names is part of its signature.
  Block parseCallable(Signature &signature, const char *end);
  ExpressionPtr parseTarget(bool withAttribute, bool isLoop);

  // Expressions, by precedence.
  ExpressionPtr parseExpression(bool withCondition = true);
  ExpressionPtr parseTuple(bool withCondition, Ends ends, bool inParentheses);
  ExpressionPtr parseOr();
  ExpressionPtr parseAnd();
  ExpressionPtr parseNot();
  ExpressionPtr parseCompare();
  ExpressionPtr parseSum();
  ExpressionPtr parseConcat();
  ExpressionPtr parseProduct();
  ExpressionPtr parsePower();
  ExpressionPtr parseUnary(bool withFilter);
  ExpressionPtr parsePrimary();
  ExpressionPtr parseName();
  ExpressionPtr parseText();
  ExpressionPtr parseList();
  ExpressionPtr parseDict();
  ExpressionPtr parseCall(ExpressionPtr callee);
  ExpressionPtr parsePostfix(ExpressionPtr operand);
  ExpressionPtr parseFilters(ExpressionPtr operand);
  ExpressionPtr parseFilter(ExpressionPtr operand);
  ExpressionPtr parseTest(ExpressionPtr operand);
  ExpressionPtr parseItem(ExpressionPtr operand);
  /// What stands in brackets behind an operand: an index, or a slice of it.
  ExpressionPtr parseSubscript(ExpressionPtr &operand, int line);
  std::unique_ptr<CallArguments> parseArguments();
  void parseArgument(CallArguments &arguments);
  ExpressionPtr make(Expression::Kind kind, int line);
  ExpressionPtr constant(Value value, int line);
  ExpressionPtr finish(ExpressionPtr expression);
  ExpressionPtr combine(Expression::Kind kind, ExpressionPtr left, ExpressionPtr right, int line,
                        std::string operation = {});
  bool isTupleEnd(Ends ends) const;
  int symbol(const std::string &name);

  std::vector<Token> tokens;
  size_t at = 0;
  Syntax &syntax;
  std::map<std::string, int, std::less<>> symbols;
  std::vector<bool> used;  ///< symbols that the innermost macro reads
  int loops = 0;           ///< around, in this macro
  int depth = 0;           ///< of nested expressions and blocks
  bool isOptional = false; ///< in the branch of an if: a filter may be missing if it is not used
};

} // namespace fovea::jinja

#endif // FOVEA_RUNTIME_TEMPLATE_PARSER_H
