// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expressions; see Rendering.h.
#include "runtime/template/Functions.h"
#include "runtime/template/Operators.h"
#include "runtime/template/Text.h"
#include "runtime/tokenizer/Utf8.h"

#include <algorithm>

namespace fovea::jinja {

Value Rendering::evaluate(const Expression *expression) {
  Depth nested(*this);
  if (!nested || !spend(1))
    return {};
  line = expression->line;
  Value value = evaluateKind(*expression);
  return failed() ? Value() : value;
}

Value Rendering::evaluateKind(const Expression &expression) {
  auto operand = [&](size_t i) { return evaluate(expression.operands[i].get()); };
  switch (expression.kind) {
  case Expression::Kind::Constant:
    return expression.constant;
  case Expression::Kind::Name:
  case Expression::Kind::NamespaceAttribute:
    return evaluateName(expression);
  case Expression::Kind::List:
    return makeList(evaluateAll(expression.operands));
  case Expression::Kind::Tuple:
    return makeTuple(evaluateAll(expression.operands));
  case Expression::Kind::Dict:
    return evaluateDict(expression);
  case Expression::Kind::Attribute: {
    Value value = operand(0);
    return failed() ? Value() : getAttribute(value, expression.name);
  }
  case Expression::Kind::Item: {
    Value value = operand(0), key = operand(1);
    return failed() ? Value() : getItem(value, key);
  }
  case Expression::Kind::Slice:
    return evaluateSlice(expression);
  case Expression::Kind::Call:
    return evaluateCall(expression, nullptr);
  case Expression::Kind::Filter: {
    Value input = expression.operands[0] ? operand(0) : blockText ? *blockText : Value();
    return failed() ? Value() : evaluateFilter(expression, input);
  }
  case Expression::Kind::Test:
    return evaluateTest(expression);
  case Expression::Kind::Not:
    return Value::boolean(!isTrue(operand(0)));
  case Expression::Kind::Negative:
  case Expression::Kind::Positive:
    return negate(*this, operand(0), expression.kind == Expression::Kind::Negative);
  case Expression::Kind::Arithmetic: {
    Value left = operand(0), right = operand(1);
    line = expression.line;
    return failed() ? Value() : calculate(*this, expression.operations[0], left, right);
  }
  case Expression::Kind::Concat:
    return evaluateConcat(expression);
  case Expression::Kind::Compare:
    return evaluateCompare(expression);
  case Expression::Kind::And:
  case Expression::Kind::Or:
  case Expression::Kind::Conditional:
    return evaluateChoice(expression);
  }
  return {};
}

/// What evaluates one of its operands only.
Value Rendering::evaluateChoice(const Expression &expression) {
  auto operand = [&](size_t i) { return evaluate(expression.operands[i].get()); };
  if (expression.kind != Expression::Kind::Conditional) {
    Value left = operand(0);
    bool isDecided = isTrue(left) == (expression.kind == Expression::Kind::Or);
    return failed() || isDecided ? left : operand(1);
  }
  if (isTrue(operand(0)))
    return operand(1);
  if (failed())
    return {};
  return expression.operands[2] ? operand(2)
                                : makeUndefined("an inline if without else gave nothing");
}

Value Rendering::evaluateName(const Expression &expression) {
  for (Scope *at = scope.get(); at; at = at->parent.get()) {
    if (!spend(1))
      return {};
    for (const auto &[symbol, value] : at->variables)
      if (symbol == expression.symbol)
        return value;
  }
  if (auto at = variables.find(expression.name); at != variables.end())
    return at->second;
  if (const NamedFunction *function = findGlobal(expression.name))
    return keep(Kind::Function, new FunctionObject(&used, function));
  return makeUndefined("'" + expression.name + "' is undefined");
}

std::vector<Value> Rendering::evaluateAll(const std::vector<ExpressionPtr> &expressions) {
  std::vector<Value> values;
  for (const ExpressionPtr &expression : expressions)
    values.push_back(evaluate(expression.get()));
  return values;
}

Value Rendering::evaluateDict(const Expression &expression) {
  std::vector<Value> all = evaluateAll(expression.operands);
  DictObject::Items pairs;
  for (size_t i = 0; i + 1 < all.size(); i += 2)
    pairs.emplace_back(all[i], all[i + 1]);
  return failed() ? Value() : makeDict(std::move(pairs));
}

Value Rendering::evaluateSlice(const Expression &expression) {
  Value value = evaluate(expression.operands[0].get()), bounds[3];
  const Value *given[3] = {};
  for (size_t i = 0; i < 3; ++i)
    if (const Expression *bound = expression.operands[i + 1].get()) {
      bounds[i] = evaluate(bound);
      if (!bounds[i].is(Kind::None))
        given[i] = &bounds[i];
    }
  return failed() ? Value() : slice(*this, value, given[0], given[1], given[2]);
}

bool Rendering::evaluateArguments(const CallArguments &from, Arguments &to) {
  to.positional = evaluateAll(from.positional);
  for (const auto &[name, expression] : from.keyword)
    to.keyword.emplace_back(name, evaluate(expression.get()));
  if (from.list && !failed()) {
    std::vector<Value> more;
    Value list = evaluate(from.list.get());
    if (failed() || !toItems(*this, list, more))
      return false;
    to.positional.insert(to.positional.end(), more.begin(), more.end());
  }
  if (from.mapping && !failed()) {
    Value mapping = evaluate(from.mapping.get());
    if (!mapping.is(Kind::Dict))
      fail(std::string("expects a dict behind **, got ") + typeName(mapping));
    else
      for (const auto &pair : mapping.as<DictObject>().items) {
        const Value &key = pair.first;
        bool isTwice = std::any_of(to.keyword.begin(), to.keyword.end(), [&](const auto &one) {
          return key.is(Kind::Text) && one.first == key.text();
        });
        if (!key.is(Kind::Text) || isTwice)
          fail("a dict behind ** has a key that is no text, or is an argument already");
        else
          to.keyword.emplace_back(key.text(), pair.second);
      }
  }
  return !failed();
}

Value Rendering::evaluateCall(const Expression &expression, const Value *caller) {
  Value callee = evaluate(expression.operands[0].get());
  Arguments arguments;
  if (failed() || !evaluateArguments(*expression.arguments, arguments))
    return {};
  if (caller)
    arguments.keyword.emplace_back("caller", *caller);
  line = expression.line;
  return call(callee, arguments);
}

Value Rendering::call(const Value &callee, Arguments &arguments) {
  Depth nested(*this);
  if (!nested)
    return {};
  switch (callee.kind()) {
  case Kind::Macro:
    return callMacro(callee.as<MacroObject>(), arguments);
  case Kind::Function:
    return callee.as<FunctionObject>().function->function(*this, {}, arguments);
  case Kind::Method: {
    auto &method = callee.as<MethodObject>();
    return method.method->function(*this, method.self, arguments);
  }
  case Kind::Joiner: {
    auto &joiner = callee.as<JoinerObject>();
    return std::exchange(joiner.used, true) ? joiner.separator : makeText("");
  }
  case Kind::Undefined:
    return failUndefined(callee);
  default:
    return fail(std::string(typeName(callee)) + " cannot be called");
  }
}

Value Rendering::evaluateFilter(const Expression &expression, const Value &input) {
  const NamedFunction *filter = findFilter(expression.name);
  if (!filter)
    return fail("filter '" + expression.name + "' is not supported");
  Arguments arguments;
  if (!evaluateArguments(*expression.arguments, arguments))
    return {};
  line = expression.line;
  return filter->function(*this, input, arguments);
}

Value Rendering::filterBlock(const Expression &filter, const Value &text) {
  const Value *outer = std::exchange(blockText, &text);
  Value value = evaluate(&filter);
  blockText = outer;
  return value;
}

Value Rendering::evaluateTest(const Expression &expression) {
  const NamedTest *test = findTest(expression.name);
  if (!test)
    return fail("test '" + expression.name + "' is not supported");
  Value input = evaluate(expression.operands[0].get());
  Arguments arguments;
  if (failed() || !evaluateArguments(*expression.arguments, arguments))
    return {};
  line = expression.line;
  return Value::boolean(passes(*this, *test, input, arguments));
}

Value Rendering::evaluateCompare(const Expression &expression) {
  Value left = evaluate(expression.operands[0].get());
  for (size_t i = 0; i < expression.operations.size() && !failed(); ++i) {
    Value right = evaluate(expression.operands[i + 1].get());
    line = expression.line;
    if (failed() || !compare(*this, expression.operations[i], left, right))
      return Value::boolean(false);
    left = std::move(right);
  }
  return Value::boolean(true);
}

Value Rendering::evaluateConcat(const Expression &expression) {
  std::string text;
  for (const ExpressionPtr &operand : expression.operands) {
    Value value = evaluate(operand.get());
    if (failed())
      return {};
    appendText(*this, text, value);
  }
  return spendBytes(text.size()) ? makeText(std::move(text)) : Value();
}

/// What `object.name` is where no method is meant: the attributes of loops and the like.
static bool getOwnAttribute(Rendering &rendering, const Value &value, const std::string &name,
                            Value &found) {
  if (value.is(Kind::Namespace)) {
    Value *attribute = value.as<NamespaceObject>().find(name);
    if (attribute)
      found = *attribute;
    return attribute != nullptr;
  }
  if (value.is(Kind::Macro) && name == "name") {
    found = rendering.makeText(value.as<MacroObject>().definition->signature->name);
    return true;
  }
  if (value.is(Kind::Cycler) && name == "current") {
    auto &cycler = value.as<CyclerObject>();
    found = cycler.items[cycler.at];
    return true;
  }
  if (!value.is(Kind::Loop))
    return false;
  auto &loop = value.as<LoopObject>();
  auto index = static_cast<int64_t>(loop.index), length = static_cast<int64_t>(loop.items.size());
  if (name == "previtem" || name == "nextitem") {
    size_t other = name == "nextitem" ? loop.index + 1 : loop.index - 1;
    found =
        other < loop.items.size()
            ? loop.items[other]
            : rendering.makeUndefined(
                  "there is no " + std::string(name == "nextitem" ? "next" : "previous") + " item");
    return true;
  }
  if (name == "first" || name == "last") {
    found = Value::boolean(name == "first" ? index == 0 : index + 1 == length);
    return true;
  }
  const std::pair<const char *, int64_t> numbers[] = {{"index", index + 1},
                                                      {"index0", index},
                                                      {"length", length},
                                                      {"revindex", length - index},
                                                      {"revindex0", length - index - 1},
                                                      {"depth", 1},
                                                      {"depth0", 0}};
  for (auto [key, number] : numbers)
    if (name == key) {
      found = Value::integer(number);
      return true;
    }
  return false;
}

/// Attributes and methods; not what a dict holds.
static bool getPythonAttribute(Rendering &rendering, const Value &value, const std::string &name,
                               Value &found) {
  if (getOwnAttribute(rendering, value, name, found))
    return true;
  bool isForbidden = false;
  if (const NamedFunction *method = findMethod(value, name, isForbidden)) {
    found = rendering.keep(Kind::Method, new MethodObject(rendering.memory(), value, method));
    return true;
  }
  bool isInternal = name.size() > 4 && name.compare(0, 2, "__") == 0 &&
                    name.compare(name.size() - 2, 2, "__") == 0;
  // Of what is undefined already Jinja finds its class, and fails for the rest.
  if ((!isForbidden && !isInternal) || (value.isUndefined() && name != "__class__"))
    return false;
  found = rendering.makeUndefined("access to attribute '" + name + "' of '" + typeName(value) +
                                  "' object is unsafe");
  return true;
}

static Value missingAttribute(Rendering &rendering, const Value &value, const std::string &name) {
  return rendering.makeUndefined("'" + std::string(typeName(value)) +
                                 "' object has no attribute '" + name.substr(0, 100) + "'");
}

Value Rendering::getAttribute(const Value &value, const std::string &name) {
  Value found;
  if (getPythonAttribute(*this, value, name, found))
    return found;
  if (value.isUndefined())
    return failUndefined(value);
  if (value.is(Kind::Dict))
    if (const Value *item = value.as<DictObject>().find("s" + name))
      return *item;
  return missingAttribute(*this, value, name);
}

/// An item by its number, from the end if that is negative.
static bool getByNumber(Rendering &rendering, const Value &value, int64_t index, Value &found) {
  int64_t length = lengthOf(value);
  if (index < 0)
    index += length;
  if (index < 0 || index >= length)
    return false;
  auto place = static_cast<size_t>(index);
  if (value.isSequence()) {
    found = value.items()[place];
  } else if (value.is(Kind::Range)) {
    found = Value::integer(value.as<RangeObject>().at(index));
  } else {
    const std::string &text = value.text();
    rendering.spend(place / 64);
    size_t at = byteOfCharacter(text, place);
    found = rendering.makeText(text.substr(at, utf8At(text, at).size), value.isMarkup());
  }
  return true;
}

Value Rendering::getItem(const Value &value, const Value &key) {
  if (value.isUndefined())
    return failUndefined(value);
  Value found;
  if (value.is(Kind::Dict)) {
    std::optional<std::string> name = keyOf(key);
    if (const Value *item = name ? value.as<DictObject>().find(*name) : nullptr)
      return *item;
  } else if (key.isInteger() &&
             (value.isSequence() || value.is(Kind::Range) || value.is(Kind::Text)) &&
             getByNumber(*this, value, key.asInteger(), found)) {
    return found;
  }
  if (!key.is(Kind::Text)) {
    std::string text;
    appendRepr(*this, text, key);
    return makeUndefined("'" + std::string(typeName(value)) + "' object has no element " +
                         text.substr(0, 100));
  }
  if (getPythonAttribute(*this, value, key.text(), found))
    return found;
  return missingAttribute(*this, value, key.text());
}

} // namespace fovea::jinja
