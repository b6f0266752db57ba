// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expressions; see Parser.h.
#include "runtime/template/Functions.h"
#include "runtime/template/Parser.h"

#include <algorithm>

namespace fovea::jinja {

using Form = Expression::Kind;

/// Of expressions in each other, whether by brackets or by many operators in a row.
static constexpr int mostNested = 150;

ExpressionPtr Parser::make(Form kind, int line) {
  auto expression = std::make_unique<Expression>();
  expression->kind = kind;
  expression->line = line;
  return expression;
}

ExpressionPtr Parser::constant(Value value, int line) {
  ExpressionPtr expression = make(Form::Constant, line);
  expression->constant = std::move(value);
  return expression;
}

/// Counts how deep it is, which bounds what evaluates it.
ExpressionPtr Parser::finish(ExpressionPtr expression) {
  auto take = [&](const ExpressionPtr &operand) {
    if (operand)
      expression->depth = std::max(expression->depth, operand->depth + 1);
  };
  for (const ExpressionPtr &operand : expression->operands)
    take(operand);
  if (const CallArguments *arguments = expression->arguments.get()) {
    for (const ExpressionPtr &operand : arguments->positional)
      take(operand);
    for (const auto &[name, operand] : arguments->keyword)
      take(operand);
    take(arguments->list);
    take(arguments->mapping);
  }
  if (expression->depth > mostNested)
    fail(expression->line,
         "an expression is nested more than " + std::to_string(mostNested) + " deep");
  return expression;
}

ExpressionPtr Parser::combine(Form kind, ExpressionPtr left, ExpressionPtr right, int line,
                              std::string operation) {
  ExpressionPtr expression = make(kind, line);
  expression->operands.push_back(std::move(left));
  if (right)
    expression->operands.push_back(std::move(right));
  if (!operation.empty())
    expression->operations.push_back(std::move(operation));
  return finish(std::move(expression));
}

ExpressionPtr Parser::parseExpression(bool withCondition) {
  if (++depth > mostNested) {
    fail(current().line,
         "an expression is nested more than " + std::to_string(mostNested) + " deep");
    --depth;
    return make(Form::Constant, current().line);
  }
  int line = current().line;
  bool wasOptional = isOptional;
  ExpressionPtr value = parseOr();
  while (withCondition && takeName("if")) {
    isOptional = true;
    ExpressionPtr condition = parseOr(), expression = make(Form::Conditional, line);
    expression->operands.push_back(std::move(condition));
    expression->operands.push_back(std::move(value));
    expression->operands.push_back(takeName("else") ? parseExpression() : nullptr);
    value = finish(std::move(expression));
  }
  isOptional = wasOptional;
  --depth;
  return value;
}

bool Parser::isTupleEnd(Ends ends) const {
  TokenKind kind = current().kind;
  return kind == TokenKind::PrintEnd || kind == TokenKind::BlockEnd || isOperator(")") ||
         isOneOf(ends);
}

ExpressionPtr Parser::parseTuple(bool withCondition, Ends ends, bool inParentheses) {
  ExpressionPtr tuple = make(Form::Tuple, current().line);
  bool isTuple = false;
  while (!failed() && !isTupleEnd(ends)) {
    tuple->operands.push_back(parseExpression(withCondition));
    if (!isOperator(","))
      break;
    take();
    isTuple = true;
  }
  if (!isTuple && !tuple->operands.empty())
    return std::move(tuple->operands[0]);
  if (!isTuple && !inParentheses)
    fail(current().line, "expects an expression, got '" + current().text + "'");
  return finish(std::move(tuple));
}

ExpressionPtr Parser::parseOr() {
  int line = current().line;
  ExpressionPtr left = parseAnd();
  while (takeName("or"))
    left = combine(Form::Or, std::move(left), parseAnd(), line);
  return left;
}

ExpressionPtr Parser::parseAnd() {
  int line = current().line;
  ExpressionPtr left = parseNot();
  while (takeName("and"))
    left = combine(Form::And, std::move(left), parseNot(), line);
  return left;
}

ExpressionPtr Parser::parseNot() {
  int line = current().line;
  int count = 0;
  while (takeName("not"))
    ++count;
  ExpressionPtr value = parseCompare();
  for (; count > 0 && !failed(); --count)
    value = combine(Form::Not, std::move(value), nullptr, line);
  return value;
}

ExpressionPtr Parser::parseCompare() {
  ExpressionPtr compare = make(Form::Compare, current().line);
  compare->operands.push_back(parseSum());
  while (!failed()) {
    std::string operation;
    for (const char *one : {"==", "!=", ">=", "<=", ">", "<"})
      if (isOperator(one))
        operation = one;
    if (isName("in"))
      operation = "in";
    if (isName("not") && following().kind == TokenKind::Name && following().text == "in") {
      take();
      operation = "not in";
    }
    if (operation.empty())
      break;
    take();
    compare->operations.push_back(operation);
    compare->operands.push_back(parseSum());
  }
  if (compare->operations.empty())
    return std::move(compare->operands[0]);
  return finish(std::move(compare));
}

ExpressionPtr Parser::parseSum() {
  int line = current().line;
  ExpressionPtr left = parseConcat();
  while (isOperator("+") || isOperator("-")) {
    std::string operation = take().text;
    left = combine(Form::Arithmetic, std::move(left), parseConcat(), line, operation);
  }
  return left;
}

ExpressionPtr Parser::parseConcat() {
  ExpressionPtr concat = make(Form::Concat, current().line);
  concat->operands.push_back(parseProduct());
  while (takeOperator("~"))
    concat->operands.push_back(parseProduct());
  if (concat->operands.size() == 1)
    return std::move(concat->operands[0]);
  return finish(std::move(concat));
}

ExpressionPtr Parser::parseProduct() {
  int line = current().line;
  ExpressionPtr left = parsePower();
  while (isOperator("*") || isOperator("/") || isOperator("//") || isOperator("%")) {
    std::string operation = take().text;
    left = combine(Form::Arithmetic, std::move(left), parsePower(), line, operation);
  }
  return left;
}

ExpressionPtr Parser::parsePower() {
  int line = current().line;
  ExpressionPtr left = parseUnary(true);
  while (takeOperator("**"))
    left = combine(Form::Arithmetic, std::move(left), parseUnary(true), line, "**");
  return left;
}

ExpressionPtr Parser::parseUnary(bool withFilter) {
  int line = current().line;
  ExpressionPtr value;
  if (isOperator("-") || isOperator("+")) {
    Form kind = take().text == "-" ? Form::Negative : Form::Positive;
    if (++depth > mostNested)
      fail(line, "an expression is nested more than " + std::to_string(mostNested) + " deep");
    value = combine(kind, failed() ? constant(Value(), line) : parseUnary(false), nullptr, line);
    --depth;
  } else {
    value = parsePrimary();
  }
  value = parsePostfix(std::move(value));
  return withFilter ? parseFilters(std::move(value)) : std::move(value);
}

ExpressionPtr Parser::parseName() {
  Token token = take();
  const std::string &name = token.text;
  if (name == "true" || name == "True" || name == "false" || name == "False")
    return constant(Value::boolean(name == "true" || name == "True"), token.line);
  if (name == "none" || name == "None")
    return constant(Value::none(), token.line);
  ExpressionPtr expression = make(Form::Name, token.line);
  expression->name = name;
  expression->symbol = symbol(name);
  auto place = static_cast<size_t>(expression->symbol);
  if (used.size() <= place)
    used.resize(place + 1);
  used[place] = true;
  return expression;
}

ExpressionPtr Parser::parseText() {
  int line = current().line;
  std::string text = take().text;
  while (current().kind == TokenKind::Text)
    text += take().text;
  return constant(Value(Kind::Text, new TextObject(nullptr, std::move(text), false)), line);
}

ExpressionPtr Parser::parsePrimary() {
  int line = current().line;
  switch (current().kind) {
  case TokenKind::Name:
    return parseName();
  case TokenKind::Text:
    return parseText();
  case TokenKind::Integer:
    return constant(Value::integer(take().integer), line);
  case TokenKind::Real:
    return constant(Value::real(take().real), line);
  default:
    break;
  }
  if (takeOperator("(")) {
    ExpressionPtr value = parseTuple(true, {}, true);
    expectOperator(")");
    return value;
  }
  if (takeOperator("["))
    return parseList();
  if (takeOperator("{"))
    return parseDict();
  fail(line,
       "expects an expression, got " + (current().text.empty() ? std::string("the end of the tag")
                                                               : "'" + current().text + "'"));
  return constant(Value(), line);
}

ExpressionPtr Parser::parseList() {
  ExpressionPtr list = make(Form::List, current().line);
  while (!failed() && !isOperator("]")) {
    if (!list->operands.empty())
      expectOperator(",");
    if (isOperator("]"))
      break;
    list->operands.push_back(parseExpression());
  }
  expectOperator("]");
  return finish(std::move(list));
}

ExpressionPtr Parser::parseDict() {
  ExpressionPtr dict = make(Form::Dict, current().line);
  while (!failed() && !isOperator("}")) {
    if (!dict->operands.empty())
      expectOperator(",");
    if (isOperator("}"))
      break;
    dict->operands.push_back(parseExpression());
    expectOperator(":");
    dict->operands.push_back(parseExpression());
  }
  expectOperator("}");
  return finish(std::move(dict));
}

ExpressionPtr Parser::parseCall(ExpressionPtr callee) {
  ExpressionPtr call = make(Form::Call, current().line);
  call->operands.push_back(std::move(callee));
  call->arguments = parseArguments();
  return finish(std::move(call));
}

ExpressionPtr Parser::parsePostfix(ExpressionPtr operand) {
  while (!failed()) {
    if (isOperator(".") || isOperator("[")) {
      operand = parseItem(std::move(operand));
    } else if (isOperator("(")) {
      operand = parseCall(std::move(operand));
    } else {
      break;
    }
  }
  return operand;
}

ExpressionPtr Parser::parseFilters(ExpressionPtr operand) {
  while (!failed()) {
    if (isOperator("|")) {
      operand = parseFilter(std::move(operand));
    } else if (isName("is")) {
      operand = parseTest(std::move(operand));
    } else if (isOperator("(")) { // what a filter or a test gives may be called
      operand = parseCall(std::move(operand));
    } else {
      break;
    }
  }
  return operand;
}

/// All filters in a row. Without an operand, those of a block, whose first needs no |.
ExpressionPtr Parser::parseFilter(ExpressionPtr operand) {
  bool isFirst = !operand && !isOperator("|");
  while (!failed() && (isFirst || isOperator("|"))) {
    if (!isFirst)
      take();
    isFirst = false;
    ExpressionPtr filter = make(Form::Filter, current().line);
    filter->name = expectName();
    while (takeOperator("."))
      filter->name += "." + expectName();
    if (!findFilter(filter->name) && !isOptional)
      fail(filter->line, "filter '" + filter->name + "' is not supported");
    filter->operands.push_back(std::move(operand));
    filter->arguments = isOperator("(") ? parseArguments() : std::make_unique<CallArguments>();
    operand = finish(std::move(filter));
  }
  return operand;
}

ExpressionPtr Parser::parseTest(ExpressionPtr operand) {
  ExpressionPtr test = make(Form::Test, take().line);
  bool isNegated = takeName("not");
  test->name = expectName();
  while (takeOperator("."))
    test->name += "." + expectName();
  if (!findTest(test->name) && !isOptional)
    fail(test->line, "test '" + test->name + "' is not supported");
  test->operands.push_back(std::move(operand));
  test->arguments = std::make_unique<CallArguments>();
  TokenKind kind = current().kind;
  bool isOperand = kind == TokenKind::Name || kind == TokenKind::Text ||
                   kind == TokenKind::Integer || kind == TokenKind::Real || isOperator("[") ||
                   isOperator("{");
  if (isOperator("(")) {
    test->arguments = parseArguments();
  } else if (isOperand && !isOneOf({"else", "or", "and"})) {
    if (isName("is"))
      fail(current().line, "tests cannot be chained by 'is'");
    test->arguments->positional.push_back(parsePostfix(parsePrimary()));
  }
  int line = test->line;
  test = finish(std::move(test));
  return isNegated ? combine(Form::Not, std::move(test), nullptr, line) : std::move(test);
}

ExpressionPtr Parser::parseItem(ExpressionPtr operand) {
  int line = current().line;
  if (takeOperator(".")) {
    if (current().kind == TokenKind::Integer)
      return combine(Form::Item, std::move(operand), constant(Value::integer(take().integer), line),
                     line);
    ExpressionPtr attribute = make(Form::Attribute, line);
    attribute->name = expectName();
    attribute->operands.push_back(std::move(operand));
    return finish(std::move(attribute));
  }
  take(); // [
  ExpressionPtr first = parseSubscript(operand, line);
  if (!operand || !isOperator(",")) { // a slice, or one index
    expectOperator("]");
    return operand ? combine(Form::Item, std::move(operand), std::move(first), line)
                   : std::move(first);
  }
  ExpressionPtr tuple = make(Form::Tuple, line);
  tuple->operands.push_back(std::move(first));
  while (!failed() && takeOperator(","))
    tuple->operands.push_back(parseExpression());
  expectOperator("]");
  return combine(Form::Item, std::move(operand), finish(std::move(tuple)), line);
}

ExpressionPtr Parser::parseSubscript(ExpressionPtr &operand, int line) {
  ExpressionPtr start = isOperator(":") ? nullptr : parseExpression();
  if (!takeOperator(":"))
    return start;
  ExpressionPtr slice = make(Form::Slice, line);
  slice->operands.push_back(std::move(operand));
  slice->operands.push_back(std::move(start));
  auto isEnd = [&] { return isOperator(":") || isOperator("]") || isOperator(","); };
  slice->operands.push_back(isEnd() ? nullptr : parseExpression());
  slice->operands.push_back(takeOperator(":") && !isEnd() ? parseExpression() : nullptr);
  return finish(std::move(slice));
}

std::unique_ptr<CallArguments> Parser::parseArguments() {
  auto arguments = std::make_unique<CallArguments>();
  expectOperator("(");
  bool needsComma = false;
  while (!failed() && !isOperator(")")) {
    if (needsComma) {
      expectOperator(",");
      if (isOperator(")"))
        break;
    }
    parseArgument(*arguments);
    needsComma = true;
  }
  expectOperator(")");
  return arguments;
}

void Parser::parseArgument(CallArguments &arguments) {
  int line = current().line;
  bool fits = true;
  if (takeOperator("*")) {
    fits = !arguments.list && !arguments.mapping;
    arguments.list = parseExpression();
  } else if (takeOperator("**")) {
    fits = !arguments.mapping;
    arguments.mapping = parseExpression();
  } else if (isName() && following().kind == TokenKind::Operator && following().text == "=") {
    fits = !arguments.mapping;
    std::string name = take().text;
    take(); // =
    for (const auto &[other, value] : arguments.keyword)
      fits &= other != name;
    arguments.keyword.emplace_back(std::move(name), parseExpression());
  } else {
    fits = !arguments.list && !arguments.mapping && arguments.keyword.empty();
    arguments.positional.push_back(parseExpression());
  }
  if (!fits)
    fail(line, "arguments of a call are in an order that Python does not know, or twice");
}

} // namespace fovea::jinja
