// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Statements; see Parser.h. Expressions are in ParseExpressions.cpp.
#include "runtime/template/Parser.h"

#include <algorithm>

namespace fovea::jinja {

/// Blocks and expressions in each other.
static constexpr int mostNested = 100;

Parser::Parser(std::vector<Token> tokens, Syntax &syntax)
    : tokens(std::move(tokens)), syntax(syntax) {
  syntax.loop = symbol("loop");
  syntax.caller = symbol("caller");
  syntax.keywords = symbol("kwargs");
  syntax.positional = symbol("varargs");
}

bool Parser::run() {
  syntax.body = parseBlock({});
  if (!failed() && current().kind != TokenKind::End)
    fail(current().line, "unexpected " + current().text);
  return !failed();
}

void Parser::fail(int line, std::string message) {
  if (failed())
    return;
  errorLine = line;
  error = std::move(message);
  at = tokens.size() - 1;
}

Token Parser::take() {
  Token token = current();
  if (at + 1 < tokens.size())
    ++at;
  return token;
}

bool Parser::isOperator(const char *text) const {
  return current().kind == TokenKind::Operator && current().text == text;
}
bool Parser::isName(const char *text) const {
  return current().kind == TokenKind::Name && current().text == text;
}
bool Parser::isOneOf(Ends names) const {
  return std::any_of(names.begin(), names.end(), [&](const char *name) { return isName(name); });
}
bool Parser::takeOperator(const char *text) {
  bool found = isOperator(text);
  if (found)
    take();
  return found;
}
bool Parser::takeName(const char *text) {
  bool found = isName(text);
  if (found)
    take();
  return found;
}

static std::string describe(const Token &token) {
  switch (token.kind) {
  case TokenKind::End:
    return "the end of the template";
  case TokenKind::PrintEnd:
    return "}}";
  case TokenKind::BlockEnd:
    return "%}";
  case TokenKind::Text:
    return "text '" + token.text.substr(0, 40) + "'";
  case TokenKind::Integer:
  case TokenKind::Real:
    return "a number";
  default:
    return "'" + token.text + "'";
  }
}

void Parser::expect(TokenKind kind) {
  if (current().kind == kind)
    take();
  else
    fail(current().line, std::string("expects ") +
                             (kind == TokenKind::BlockEnd   ? "%}"
                              : kind == TokenKind::PrintEnd ? "}}"
                                                            : "a name") +
                             ", got " + describe(current()));
}

void Parser::expectOperator(const char *text) {
  if (!takeOperator(text))
    fail(current().line, std::string("expects '") + text + "', got " + describe(current()));
}

std::string Parser::expectName() {
  std::string name = isName() ? current().text : "";
  expect(TokenKind::Name);
  return name;
}

int Parser::symbol(const std::string &name) {
  auto [entry, isNew] = symbols.try_emplace(name, static_cast<int>(syntax.symbols.size()));
  if (isNew)
    syntax.symbols.push_back(name);
  return entry->second;
}

std::unique_ptr<Statement> Parser::make(Statement::Kind kind) {
  auto statement = std::make_unique<Statement>();
  statement->kind = kind;
  statement->line = current().line;
  return statement;
}

Block Parser::parseBlock(Ends ends) {
  Block block;
  while (current().kind != TokenKind::End) {
    if (current().kind == TokenKind::Data) {
      block.push_back(make(Statement::Kind::Text));
      block.back()->text = take().text;
    } else if (current().kind == TokenKind::PrintBegin) {
      block.push_back(make(Statement::Kind::Print));
      take();
      block.back()->expression = parseTuple(true, {}, false);
      expect(TokenKind::PrintEnd);
    } else {
      take(); // {%
      if (isOneOf(ends))
        return block;
      if (std::unique_ptr<Statement> statement = parseStatement())
        block.push_back(std::move(statement));
      expect(TokenKind::BlockEnd);
    }
  }
  if (ends.size() > 0 && !failed()) {
    std::string expected;
    for (const char *end : ends)
      expected += (expected.empty() ? "" : " or ") + std::string(end);
    fail(current().line, "expects " + expected + ", got the end of the template");
  }
  return block;
}

Block Parser::parseBody(const char *end) {
  expect(TokenKind::BlockEnd);
  Block block = parseBlock({end});
  take();
  return block;
}

std::unique_ptr<Statement> Parser::parseStatement() {
  using Kind = Statement::Kind;
  struct Tag {
    const char *name;
    Kind kind;
    void (Parser::*parse)(Statement &);
  };
  static constexpr Tag tags[] = {{"for", Kind::For, &Parser::parseFor},
                                 {"if", Kind::If, &Parser::parseIf},
                                 {"set", Kind::Set, &Parser::parseSet},
                                 {"macro", Kind::Macro, &Parser::parseMacro},
                                 {"call", Kind::CallBlock, &Parser::parseCallBlock},
                                 {"filter", Kind::FilterBlock, &Parser::parseFilterBlock},
                                 {"with", Kind::With, &Parser::parseWith},
                                 {"generation", Kind::Generation, &Parser::parseGeneration},
                                 {"break", Kind::Break, &Parser::parseLoopControl},
                                 {"continue", Kind::Continue, &Parser::parseLoopControl}};
  if (++depth > mostNested)
    fail(current().line, "blocks are nested more than " + std::to_string(mostNested) + " deep");
  std::unique_ptr<Statement> statement;
  for (const Tag &tag : tags)
    if (isName(tag.name)) {
      statement = make(tag.kind);
      take();
      (this->*tag.parse)(*statement);
      break;
    }
  if (!statement)
    fail(current().line, current().kind == TokenKind::Name
                             ? "tag '" + current().text + "' is not supported here"
                             : "expects the name of a tag, got " + describe(current()));
  --depth;
  return statement;
}

void Parser::parseFor(Statement &statement) {
  bool wasOptional = std::exchange(isOptional, false);
  statement.target = parseTarget(/*withAttribute=*/false, /*isLoop=*/true);
  if (!takeName("in"))
    fail(current().line, "expects 'in', got " + describe(current()));
  statement.expression = parseTuple(/*withCondition=*/false, {"recursive"}, false);
  if (takeName("if"))
    statement.condition = parseExpression();
  if (isName("recursive"))
    fail(current().line, "recursive loops are not supported");
  expect(TokenKind::BlockEnd);
  ++loops;
  statement.body = parseBlock({"endfor", "else"});
  --loops;
  if (take().text == "else")
    statement.otherwise = parseBody("endfor");
  isOptional = wasOptional;
}

void Parser::parseIf(Statement &statement) {
  bool wasOptional = std::exchange(isOptional, true);
  bool more = true;
  while (more && !failed()) {
    Branch branch;
    branch.condition = parseTuple(/*withCondition=*/false, {}, false);
    expect(TokenKind::BlockEnd);
    branch.body = parseBlock({"elif", "else", "endif"});
    statement.branches.push_back(std::move(branch));
    std::string end = take().text;
    more = end == "elif";
    if (end == "else")
      statement.branches.push_back({nullptr, parseBody("endif")});
  }
  isOptional = wasOptional;
}

void Parser::parseSet(Statement &statement) {
  statement.target = parseTarget(/*withAttribute=*/true, /*isLoop=*/false);
  if (takeOperator("=")) {
    statement.expression = parseTuple(true, {}, false);
    return;
  }
  statement.kind = Statement::Kind::SetBlock;
  bool wasOptional = std::exchange(isOptional, false);
  if (isOperator("|"))
    statement.expression = parseFilter(nullptr);
  statement.body = parseBody("endset");
  isOptional = wasOptional;
}

void Parser::parseSignature(Signature &signature) {
  expectOperator("(");
  while (!failed() && !isOperator(")")) {
    if (!signature.names.empty())
      expectOperator(",");
    int line = current().line;
    signature.names.push_back(expectName());
    signature.symbols.push_back(symbol(signature.names.back()));
    if (takeOperator("="))
      signature.defaults.push_back(parseExpression());
    else if (!signature.defaults.empty())
      fail(line,
           "parameter '" + signature.names.back() + "' has no default, and the one before it has");
  }
  expectOperator(")");
}

Block Parser::parseCallable(Signature &signature, const char *end) {
  std::vector<bool> outer = std::move(used);
  used.clear();
  int outerLoops = std::exchange(loops, 0);
  bool wasOptional = std::exchange(isOptional, false);
  Block body = parseBody(end);
  auto isUsed = [&](int name) {
    bool isParameter = std::find(signature.symbols.begin(), signature.symbols.end(), name) !=
                       signature.symbols.end();
    return static_cast<size_t>(name) < used.size() && used[static_cast<size_t>(name)] &&
           !isParameter;
  };
  signature.usesCaller = isUsed(syntax.caller);
  signature.usesKeywords = isUsed(syntax.keywords);
  signature.usesPositional = isUsed(syntax.positional);
  // What a macro within reads counts for the one around it, too.
  outer.resize(std::max(outer.size(), used.size()));
  for (int name : {syntax.caller, syntax.keywords, syntax.positional})
    if (isUsed(name))
      outer[static_cast<size_t>(name)] = true;
  used = std::move(outer);
  loops = outerLoops;
  isOptional = wasOptional;
  return body;
}

void Parser::parseMacro(Statement &statement) {
  statement.signature = std::make_unique<Signature>();
  statement.signature->name = expectName();
  statement.symbol = symbol(statement.signature->name);
  parseSignature(*statement.signature);
  statement.body = parseCallable(*statement.signature, "endmacro");
}

void Parser::parseCallBlock(Statement &statement) {
  statement.signature = std::make_unique<Signature>();
  statement.signature->name = "caller";
  if (isOperator("("))
    parseSignature(*statement.signature);
  statement.expression = parseExpression();
  if (statement.expression && statement.expression->kind != Expression::Kind::Call)
    fail(statement.line, "expects a call behind 'call'");
  statement.body = parseCallable(*statement.signature, "endcall");
}

void Parser::parseGeneration(Statement &statement) {
  statement.signature = std::make_unique<Signature>();
  statement.body = parseCallable(*statement.signature, "endgeneration");
}

void Parser::parseFilterBlock(Statement &statement) {
  statement.expression = parseFilter(nullptr);
  statement.body = parseBody("endfilter");
}

void Parser::parseWith(Statement &statement) {
  while (!failed() && current().kind != TokenKind::BlockEnd) {
    if (!statement.assignments.empty())
      expectOperator(",");
    ExpressionPtr target = parseTarget(/*withAttribute=*/false, /*isLoop=*/false);
    expectOperator("=");
    statement.assignments.emplace_back(std::move(target), parseExpression());
  }
  statement.body = parseBody("endwith");
}

void Parser::parseLoopControl(Statement &statement) {
  if (loops == 0)
    fail(statement.line, statement.kind == Statement::Kind::Break ? "break stands in no loop"
                                                                  : "continue stands in no loop");
}

/// Names, and tuples of targets.
ExpressionPtr Parser::parseTarget(bool withAttribute, bool isLoop) {
  int line = current().line;
  ExpressionPtr tuple = make(Expression::Kind::Tuple, line);
  bool isTuple = false;
  if (++depth > mostNested)
    fail(line, "targets are nested more than " + std::to_string(mostNested) + " deep");
  while (!failed()) {
    if (isTupleEnd({"in"}) || isOperator("="))
      break;
    if (takeOperator("(")) {
      tuple->operands.push_back(parseTarget(withAttribute, isLoop));
      expectOperator(")");
    } else {
      ExpressionPtr target = make(Expression::Kind::Name, current().line);
      target->name = expectName();
      static constexpr std::string_view reserved[] = {"true", "false", "none",
                                                      "True", "False", "None"};
      if (std::count(std::begin(reserved), std::end(reserved), target->name) ||
          (isLoop && target->name == "loop"))
        fail(line, "cannot assign to '" + target->name + "'");
      target->symbol = symbol(target->name);
      if (withAttribute && takeOperator(".")) {
        target->kind = Expression::Kind::NamespaceAttribute;
        target->operands.push_back(constant(Value(), line));
        target->operands[0]->name = expectName();
      }
      tuple->operands.push_back(std::move(target));
    }
    if (!isOperator(","))
      break;
    take();
    isTuple = true;
  }
  --depth;
  if (tuple->operands.empty())
    fail(line, "expects a name to assign to, got " + describe(current()));
  if (!isTuple && !failed())
    return std::move(tuple->operands[0]);
  return tuple;
}

} // namespace fovea::jinja
