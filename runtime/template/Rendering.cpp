// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Statements and scopes; see Rendering.h. Expressions are in Expressions.cpp.
#include "runtime/template/Rendering.h"

#include "runtime/template/Operators.h"

#include <algorithm>

namespace fovea::jinja {

/// Of expressions, blocks and macros in each other, together; and of macros alone.
static constexpr int mostDepth = 500, mostCalls = 60;
/// Of lists in lists.
static constexpr uint32_t mostNested = 150;

Rendering::Rendering(const Syntax &syntax, const Options &options)
    : syntax(syntax), options(options), stepsLeft(options.maxSteps) {
  scope = makeScope({});
}

Rendering::~Rendering() {
  // One by one, while the lists still hold all of them: nothing is destroyed in a chain.
  for (Ref<NamespaceObject> &object : namespaces)
    object->attributes.clear();
  for (Ref<Scope> &one : captured)
    one->variables.clear();
  for (Ref<Scope> &one : captured)
    one->parent = {};
}

Value Rendering::fail(const std::string &message) {
  if (!failed())
    failure = syntax.name + ":" + std::to_string(line) + ": " + message;
  return {};
}

bool Rendering::spend(size_t count) {
  if (failed())
    return false;
  if (count >= stepsLeft) {
    fail("the template takes more than " + std::to_string(options.maxSteps) + " steps");
    return false;
  }
  stepsLeft -= count;
  return true;
}

bool Rendering::allow(uint64_t bytes) {
  if (!failed() && bytes > options.maxBytes - std::min(options.maxBytes, used.live))
    fail("the template needs more than " + std::to_string(options.maxBytes >> 20) +
         " MiB of memory");
  return !failed();
}

bool Rendering::enter() {
  if (++depth > mostDepth)
    fail("expressions, blocks or values are nested more than " + std::to_string(mostDepth) +
         " deep");
  return !failed();
}

Value Rendering::keep(Kind kind, Object *object) {
  Value value(kind, object);
  allow(0);
  if (object->depth > mostNested)
    return fail("values are nested more than " + std::to_string(mostNested) + " deep");
  return value;
}

Value Rendering::makeText(std::string text, bool markup) {
  return keep(Kind::Text, new TextObject(&used, std::move(text), markup));
}
Value Rendering::makeList(std::vector<Value> items) {
  return keep(Kind::List, new SequenceObject(&used, std::move(items)));
}
Value Rendering::makeTuple(std::vector<Value> items) {
  return keep(Kind::Tuple, new SequenceObject(&used, std::move(items)));
}
Value Rendering::makeIterator(std::vector<Value> items) {
  return keep(Kind::Iterator, new IteratorObject(&used, std::move(items)));
}
Value Rendering::makeUndefined(std::string message) {
  return keep(Kind::Undefined, new UndefinedObject(&used, std::move(message)));
}

Value Rendering::makeDict(DictObject::Items pairs) {
  for (const auto &[key, value] : pairs)
    if (!keyOf(key))
      return fail(std::string(typeName(key)) + " can be no key of a dict");
  return keep(Kind::Dict, jinja::makeDict(&used, std::move(pairs)));
}

Value Rendering::makeNamespace() {
  namespaces.push_back(Ref<NamespaceObject>(new NamespaceObject(&used)));
  return keep(Kind::Namespace, namespaces.back().get());
}

Value Rendering::failUndefined(const Value &value) {
  auto *object = static_cast<UndefinedObject *>(value.address());
  return fail(object ? object->message : "a value is undefined");
}

Ref<Scope> Rendering::makeScope(Ref<Scope> parent) {
  return Ref<Scope>(new Scope(&used, std::move(parent)));
}

void Rendering::setVariable(int symbol, const Value &value) {
  for (auto &[name, old] : scope->variables)
    if (name == symbol) {
      old = value;
      return;
    }
  scope->variables.emplace_back(symbol, value);
}

void Rendering::assign(const Expression &target, const Value &value) {
  line = target.line;
  if (target.kind == Expression::Kind::Name)
    return setVariable(target.symbol, value);
  if (target.kind == Expression::Kind::NamespaceAttribute) {
    Value object = evaluateName(target);
    const std::string &name = target.operands[0]->name;
    if (!object.is(Kind::Namespace)) {
      fail("'" + target.name + "' is " + typeName(object) +
           "; only a namespace has attributes that can be set");
    } else if (name[0] == '_') {
      fail("a namespace has no attribute '" + name + "', names that begin with _ are not allowed");
    } else if (Value *old = object.as<NamespaceObject>().find(name)) {
      *old = value;
    } else {
      object.as<NamespaceObject>().attributes.emplace_back(name, value);
    }
    return;
  }
  std::vector<Value> items;
  if (!toItems(*this, value, items))
    return;
  if (items.size() != target.operands.size()) {
    fail("expects " + std::to_string(target.operands.size()) + " values to unpack, got " +
         std::to_string(items.size()));
    return;
  }
  for (size_t i = 0; i < items.size() && !failed(); ++i)
    assign(*target.operands[i], items[i]);
}

void Rendering::print(const Value &value) {
  if (!failed() && spend(1)) {
    size_t before = out->size();
    appendText(*this, *out, value);
    // What is printed counts like a value, for all of the rendering.
    used.live += out->size() - before;
    allow(0);
  }
}

Rendering::Flow Rendering::execute(const Block &block) {
  Flow flow = Flow::On;
  for (const auto &statement : block) {
    if (failed() || flow != Flow::On)
      break;
    flow = execute(*statement);
  }
  return flow;
}

Rendering::Flow Rendering::executeIn(const Ref<Scope> &inner, const Block &block) {
  Ref<Scope> outer = std::exchange(scope, inner);
  Flow flow = execute(block);
  scope = outer;
  return flow;
}

Rendering::Flow Rendering::execute(const Statement &statement) {
  Depth nested(*this);
  line = statement.line;
  if (!nested || !spend(1))
    return Flow::On;
  Flow flow = Flow::On;
  switch (statement.kind) {
  case Statement::Kind::Text:
    if (spendBytes(statement.text.size())) {
      *out += statement.text;
      used.live += statement.text.size();
    }
    break;
  case Statement::Kind::Print:
    print(evaluate(statement.expression.get()));
    break;
  case Statement::Kind::If:
    return executeIf(statement);
  case Statement::Kind::For:
    return executeFor(statement);
  case Statement::Kind::Set:
    executeSet(statement);
    break;
  case Statement::Kind::SetBlock: {
    Value text = capture(statement.body, makeScope(scope), flow);
    if (statement.expression)
      text = filterBlock(*statement.expression, text);
    if (!failed() && flow == Flow::On)
      assign(*statement.target, text);
    break;
  }
  case Statement::Kind::Macro:
    setVariable(statement.symbol, makeMacro(statement));
    break;
  case Statement::Kind::CallBlock:
    executeCallBlock(statement);
    break;
  case Statement::Kind::FilterBlock:
    if (Value text = capture(statement.body, makeScope(scope), flow); flow == Flow::On)
      print(filterBlock(*statement.expression, text));
    break;
  case Statement::Kind::With:
    return executeWith(statement);
  case Statement::Kind::Generation:
    return executeIn(makeScope(scope), statement.body);
  case Statement::Kind::Break:
    return Flow::Break;
  case Statement::Kind::Continue:
    return Flow::Continue;
  }
  return flow;
}

void Rendering::executeSet(const Statement &statement) {
  Value value = evaluate(statement.expression.get());
  if (!failed())
    assign(*statement.target, value);
}

Rendering::Flow Rendering::executeWith(const Statement &statement) {
  Ref<Scope> inner = makeScope(scope);
  for (const auto &[target, expression] : statement.assignments) {
    Value value = evaluate(expression.get());
    Ref<Scope> outer = std::exchange(scope, inner);
    if (!failed())
      assign(*target, value);
    scope = outer;
  }
  return executeIn(inner, statement.body);
}

Rendering::Flow Rendering::executeIf(const Statement &statement) {
  for (const Branch &branch : statement.branches) {
    bool holds = !branch.condition || isTrue(evaluate(branch.condition.get()));
    if (failed())
      break;
    if (holds)
      return execute(branch.body);
  }
  return Flow::On;
}

/// Those for which the loop's condition holds.
std::vector<Value> Rendering::chooseItems(const Statement &statement, std::vector<Value> items) {
  std::vector<Value> chosen;
  for (Value &item : items) {
    if (failed() || !spend(1))
      break;
    Ref<Scope> outer = std::exchange(scope, makeScope(scope));
    assign(*statement.target, item);
    if (!failed() && isTrue(evaluate(statement.condition.get())))
      chosen.push_back(std::move(item));
    scope = outer;
  }
  return chosen;
}

Rendering::Flow Rendering::executeFor(const Statement &statement) {
  Value iterable = evaluate(statement.expression.get());
  std::vector<Value> items;
  if (failed() || !toItems(*this, iterable, items))
    return Flow::On;
  size_t total = items.size();
  bool isIterator = iterable.is(Kind::Iterator);
  if (statement.condition)
    items = chooseItems(statement, std::move(items));
  if (!allow(items.size() * sizeof(Value)))
    return Flow::On;
  Value loop = keep(Kind::Loop, new LoopObject(&used, std::move(items)));
  auto &state = loop.as<LoopObject>();
  // As Jinja: a first pass that ends by break or continue counts as none for `else`.
  bool completed = false;
  for (state.index = 0; state.index < state.items.size() && !failed() && spend(1); ++state.index) {
    Ref<Scope> outer = std::exchange(scope, makeScope(scope));
    setVariable(syntax.loop, loop);
    assign(*statement.target, state.items[state.index]);
    Flow flow = failed() ? Flow::On : execute(statement.body);
    scope = outer;
    if (flow == Flow::Break) {
      // An iterator goes on behind it; with a condition, what was passed over is gone.
      if (isIterator && !statement.condition)
        iterable.as<IteratorObject>().next -= total - state.index - 1;
      break;
    }
    completed |= flow == Flow::On;
  }
  if (completed || failed())
    return Flow::On;
  return executeIn(makeScope(scope), statement.otherwise);
}

Value Rendering::capture(const Block &block, const Ref<Scope> &inner, Flow &flow) {
  std::string text;
  std::string *outer = std::exchange(out, &text);
  flow = executeIn(inner, block);
  out = outer;
  used.live -= text.size(); // counted as it was printed
  return makeText(std::move(text));
}

Value Rendering::makeMacro(const Statement &definition) {
  if (captured.empty() || captured.back().get() != scope.get())
    captured.push_back(scope);
  return keep(Kind::Macro, new MacroObject(&used, &definition, scope));
}

void Rendering::executeCallBlock(const Statement &statement) {
  Value caller = makeMacro(statement);
  print(evaluateCall(*statement.expression, &caller));
}

Value Rendering::callMacro(MacroObject &macro, Arguments &arguments) {
  const Signature &signature = *macro.definition->signature;
  if (calls >= mostCalls)
    return fail("macros call each other more than " + std::to_string(mostCalls) + " deep");
  ++calls;
  Ref<Scope> inner = makeScope(macro.scope), outer = std::exchange(scope, inner);
  bindParameters(signature, arguments);
  Flow flow = Flow::On;
  Value text;
  if (!failed())
    text = capture(macro.definition->body, inner, flow);
  scope = outer;
  --calls;
  return text;
}

/// The arguments as variables of the macro's scope.
void Rendering::bindParameters(const Signature &signature, Arguments &arguments) {
  auto &keyword = arguments.keyword;
  size_t count = signature.names.size(), given = std::min(count, arguments.positional.size());
  auto takeKeyword = [&](const std::string &name, Value &value) {
    auto at = std::find_if(keyword.begin(), keyword.end(),
                           [&](const auto &one) { return one.first == name; });
    if (at == keyword.end())
      return false;
    value = std::move(at->second);
    keyword.erase(at);
    return true;
  };
  bool hasCaller = std::count(signature.names.begin(), signature.names.end(), "caller") > 0;
  std::vector<bool> missing(count);
  for (size_t i = 0; i < count; ++i) {
    Value value;
    if (i < given)
      value = arguments.positional[i];
    else
      missing[i] = !takeKeyword(signature.names[i], value);
    if (!missing[i])
      setVariable(signature.symbols[i], value);
  }
  Value caller;
  if (signature.usesCaller && !hasCaller) {
    if (!takeKeyword("caller", caller) || caller.is(Kind::None))
      caller = makeUndefined("No caller defined");
    setVariable(syntax.caller, caller);
  }
  std::string place = "macro '" + signature.name + "' ";
  if (signature.usesKeywords) {
    DictObject::Items pairs;
    for (auto &[name, value] : keyword)
      pairs.emplace_back(makeText(name), value);
    setVariable(syntax.keywords, makeDict(std::move(pairs)));
  } else if (!keyword.empty()) {
    fail(place + "takes no keyword argument '" + keyword.front().first + "'");
  }
  if (signature.usesPositional)
    setVariable(syntax.positional,
                makeTuple({arguments.positional.begin() + static_cast<ptrdiff_t>(given),
                           arguments.positional.end()}));
  else if (arguments.positional.size() > count)
    fail(place + "takes not more than " + std::to_string(count) + " arguments, got " +
         std::to_string(arguments.positional.size()));
  size_t first = count - signature.defaults.size();
  for (size_t i = 0; i < count && !failed(); ++i)
    if (missing[i])
      setVariable(signature.symbols[i],
                  i >= first
                      ? evaluate(signature.defaults[i - first].get())
                      : makeUndefined("parameter '" + signature.names[i] + "' was not provided"));
}

bool Rendering::takeVariables(std::string_view json) {
  Value all;
  std::string error;
  if (!readJson(*this, json, all, error) || !all.is(Kind::Dict)) {
    fail("the variables are no JSON object" + (error.empty() ? "" : ": " + error));
    return false;
  }
  for (const auto &[key, value] : all.as<DictObject>().items)
    variables[key.text()] = value;
  return true;
}

bool Rendering::run(std::string_view json, std::string &result) {
  if (!options.defaults.empty() && !takeVariables(options.defaults))
    return false;
  if (!takeVariables(json))
    return false;
  std::string text;
  out = &text;
  execute(syntax.body);
  used.live -= text.size();
  if (failed())
    return false;
  result = std::move(text);
  return true;
}

} // namespace fovea::jinja
