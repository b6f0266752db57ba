// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arguments, tests, global functions, and methods of what is no text; see Functions.h.
#include "runtime/template/Functions.h"

#include "runtime/template/Operators.h"
#include "runtime/template/Text.h"

#include <algorithm>
#include <cmath>
#include <ctime>

namespace fovea::jinja {

Bound::Bound(Rendering &rendering, const char *what, const Arguments &arguments,
             std::initializer_list<const char *> names, size_t required)
    : rendering(rendering), what(what), places(names.size()) {
  std::string begin = std::string(what) + ": ";
  if (arguments.positional.size() > names.size()) {
    rendering.fail(begin + "expects at most " + std::to_string(names.size()) + " arguments, got " +
                   std::to_string(arguments.positional.size()));
    return;
  }
  for (size_t i = 0; i < arguments.positional.size(); ++i)
    places[i] = &arguments.positional[i];
  for (const auto &[name, value] : arguments.keyword) {
    const auto *at = std::find(names.begin(), names.end(), name);
    auto place = static_cast<size_t>(at - names.begin());
    if (at == names.end() || places[place]) {
      rendering.fail(begin + "argument '" + name + "' is " +
                     (at == names.end() ? "not known" : "given twice"));
      return;
    }
    places[place] = &value;
  }
  for (size_t i = 0; i < required; ++i)
    if (!places[i]) {
      rendering.fail(begin + "argument '" + names.begin()[i] + "' is missing");
      return;
    }
}

int64_t Bound::integer(size_t place, int64_t fallback) const {
  const Value *value = places[place];
  if (!value || rendering.failed())
    return fallback;
  if (!value->isInteger())
    rendering.fail(std::string(what) + ": expects an integer, got " + typeName(*value));
  return rendering.failed() ? fallback : value->asInteger();
}

bool Bound::flag(size_t place, bool fallback) const {
  return places[place] ? isTrue(*places[place]) : fallback;
}

std::string Bound::text(size_t place) const {
  return places[place] && !rendering.failed() ? textOf(rendering, *places[place]) : "";
}

const NamedFunction *findFilter(const std::string &name) {
  const NamedFunction *found = findTextFilter(name);
  return found ? found : findListFilter(name);
}

// Tests ----------------------------------------------------------------------

template <Kind Wanted> static bool isKind(Rendering &, const Value &self, const Arguments &) {
  return self.is(Wanted);
}

static bool isDefined(Rendering &, const Value &self, const Arguments &) {
  return !self.isUndefined();
}
static bool isFalse(Rendering &, const Value &self, const Arguments &) {
  return self.is(Kind::Bool) && !self.asInteger();
}
static bool isTrueTest(Rendering &, const Value &self, const Arguments &) {
  return self.is(Kind::Bool) && self.asInteger();
}
static bool isNumberTest(Rendering &, const Value &self, const Arguments &) {
  return self.isNumber();
}
static bool isSequenceTest(Rendering &, const Value &self, const Arguments &) {
  return self.is(Kind::Text) || self.isSequence() || self.is(Kind::Dict) || self.is(Kind::Range) ||
         self.isUndefined();
}
static bool isIterableTest(Rendering &, const Value &self, const Arguments &) {
  return isIterable(self);
}
static bool isCallable(Rendering &, const Value &self, const Arguments &) {
  return self.isUndefined() || self.is(Kind::Macro) || self.is(Kind::Function) ||
         self.is(Kind::Method) || self.is(Kind::Joiner) || self.is(Kind::Loop);
}
static bool isLower(Rendering &rendering, const Value &self, const Arguments &) {
  return isAllOf(textOf(rendering, self), CharacterClass::Lower);
}
static bool isUpper(Rendering &rendering, const Value &self, const Arguments &) {
  return isAllOf(textOf(rendering, self), CharacterClass::Upper);
}
static bool isEscaped(Rendering &, const Value &self, const Arguments &) { return self.isMarkup(); }

static bool hasRest(Rendering &rendering, const Value &self, const Value &divisor, int64_t rest) {
  Value found = calculate(rendering, "%", self, divisor);
  return !rendering.failed() && areEqual(rendering, found, Value::integer(rest));
}
static bool isOdd(Rendering &rendering, const Value &self, const Arguments &) {
  return hasRest(rendering, self, Value::integer(2), 1);
}
static bool isEven(Rendering &rendering, const Value &self, const Arguments &) {
  return hasRest(rendering, self, Value::integer(2), 0);
}
static bool isDivisibleBy(Rendering &rendering, const Value &self, const Arguments &arguments) {
  Bound bound(rendering, "divisibleby", arguments, {"num"}, 1);
  return !rendering.failed() && hasRest(rendering, self, *bound[0], 0);
}

static bool isSame(Rendering &rendering, const Value &self, const Arguments &arguments) {
  Bound bound(rendering, "sameas", arguments, {"other"}, 1);
  if (rendering.failed() || self.kind() != bound[0]->kind())
    return false;
  if (self.is(Kind::None))
    return true;
  if (self.isInteger())
    return self.asInteger() == bound[0]->asInteger();
  return self.address() && self.address() == bound[0]->address();
}

/// Whether it may be looked up in a table; fails if not.
static bool isName(Rendering &rendering, const Value &self) {
  if (!keyOf(self))
    rendering.fail(std::string("a name is no ") + typeName(self));
  return self.is(Kind::Text);
}
static bool isFilter(Rendering &rendering, const Value &self, const Arguments &) {
  return isName(rendering, self) && findFilter(self.text());
}
static bool isTest(Rendering &rendering, const Value &self, const Arguments &) {
  return isName(rendering, self) && findTest(self.text());
}

/// A comparison as a test: what it is called and what it does, in one.
#define FOVEA_COMPARISON(name, operation)                                                          \
  static bool name(Rendering &rendering, const Value &self, const Arguments &arguments) {          \
    Bound bound(rendering, operation, arguments, {"other"}, 1);                                    \
    return !rendering.failed() && compare(rendering, operation, self, *bound[0]);                  \
  }
FOVEA_COMPARISON(isEqual, "==")
FOVEA_COMPARISON(isUnequal, "!=")
FOVEA_COMPARISON(isGreater, ">")
FOVEA_COMPARISON(isAtLeast, ">=")
FOVEA_COMPARISON(isBelow, "<")
FOVEA_COMPARISON(isAtMost, "<=")
FOVEA_COMPARISON(isIn, "in")
#undef FOVEA_COMPARISON

static bool isUndefinedTest(Rendering &, const Value &self, const Arguments &) {
  return self.isUndefined();
}

const NamedTest *findTest(const std::string &name) {
  static constexpr NamedTest tests[] = {{"odd", isOdd},
                                        {"even", isEven},
                                        {"divisibleby", isDivisibleBy, true},
                                        {"defined", isDefined},
                                        {"undefined", isUndefinedTest},
                                        {"filter", isFilter},
                                        {"test", isTest},
                                        {"none", isKind<Kind::None>},
                                        {"boolean", isKind<Kind::Bool>},
                                        {"false", isFalse},
                                        {"true", isTrueTest},
                                        {"integer", isKind<Kind::Integer>},
                                        {"float", isKind<Kind::Real>},
                                        {"lower", isLower},
                                        {"upper", isUpper},
                                        {"string", isKind<Kind::Text>},
                                        {"mapping", isKind<Kind::Dict>},
                                        {"number", isNumberTest},
                                        {"sequence", isSequenceTest},
                                        {"iterable", isIterableTest},
                                        {"callable", isCallable},
                                        {"sameas", isSame, true},
                                        {"escaped", isEscaped},
                                        {"in", isIn, true},
                                        {"==", isEqual, true},
                                        {"eq", isEqual, true},
                                        {"equalto", isEqual, true},
                                        {"!=", isUnequal, true},
                                        {"ne", isUnequal, true},
                                        {">", isGreater, true},
                                        {"gt", isGreater, true},
                                        {"greaterthan", isGreater, true},
                                        {">=", isAtLeast, true},
                                        {"ge", isAtLeast, true},
                                        {"<", isBelow, true},
                                        {"lt", isBelow, true},
                                        {"lessthan", isBelow, true},
                                        {"<=", isAtMost, true},
                                        {"le", isAtMost, true}};
  return findRow(tests, name);
}

bool passes(Rendering &rendering, const NamedTest &test, const Value &value,
            const Arguments &arguments) {
  if (!test.takesArgument && (!arguments.positional.empty() || !arguments.keyword.empty()))
    rendering.fail(std::string("test '") + test.name + "' takes no arguments");
  return !rendering.failed() && test.test(rendering, value, arguments);
}

// Global functions -----------------------------------------------------------

/// What Jinja's sandbox allows.
static constexpr int64_t longestRange = 100'000;

static Value makeRange(Rendering &rendering, const Value &, const Arguments &arguments) {
  size_t count = arguments.positional.size();
  Bound bound(rendering, "range", arguments, {"start", "stop", "step"}, 1);
  int64_t first = bound.integer(0, 0), second = bound.integer(1, 0), step = bound.integer(2, 1);
  if (rendering.failed())
    return {};
  if (step == 0)
    return rendering.fail("range: expects a step that is not 0");
  auto *range =
      new RangeObject(rendering.memory(), count > 1 ? first : 0, count > 1 ? second : first, step);
  Value value = rendering.keep(Kind::Range, range);
  if (range->length() > longestRange)
    return rendering.fail("range: expects at most " + std::to_string(longestRange) +
                          " numbers, got " + std::to_string(range->length()));
  return value;
}

/// The pairs of `dict(...)`: of a dict or of pairs, then of keywords.
static bool collectPairs(Rendering &rendering, const char *what, const Arguments &arguments,
                         DictObject::Items &pairs) {
  if (arguments.positional.size() > 1)
    rendering.fail(std::string(what) + ": expects at most 1 argument without a name");
  if (rendering.failed())
    return false;
  if (!arguments.positional.empty()) {
    const Value &from = arguments.positional[0];
    if (from.isUndefined()) {
      rendering.failUndefined(from);
    } else if (from.is(Kind::Dict)) {
      pairs = from.as<DictObject>().items;
    } else {
      std::vector<Value> items;
      if (!toItems(rendering, from, items))
        return false;
      for (const Value &item : items) {
        std::vector<Value> pair;
        if (!toItems(rendering, item, pair))
          return false;
        if (pair.size() != 2) {
          rendering.fail(std::string(what) + ": expects pairs");
          return false;
        }
        pairs.emplace_back(pair[0], pair[1]);
      }
    }
  }
  for (const auto &[name, value] : arguments.keyword)
    pairs.emplace_back(rendering.makeText(name), value);
  return rendering.spend(pairs.size());
}

static Value makeDictGlobal(Rendering &rendering, const Value &, const Arguments &arguments) {
  DictObject::Items pairs;
  return collectPairs(rendering, "dict", arguments, pairs) ? rendering.makeDict(std::move(pairs))
                                                           : Value();
}

static Value makeNamespaceGlobal(Rendering &rendering, const Value &, const Arguments &arguments) {
  DictObject::Items pairs;
  if (!collectPairs(rendering, "namespace", arguments, pairs))
    return {};
  Value made = rendering.makeNamespace();
  auto &object = made.as<NamespaceObject>();
  for (const auto &[key, value] : pairs) {
    if (!key.is(Kind::Text) || key.text().rfind('_', 0) == 0)
      return rendering.fail("namespace: expects names of attributes that do not begin with _");
    if (Value *old = object.find(key.text()))
      *old = value;
    else
      object.attributes.emplace_back(key.text(), value);
  }
  return made;
}

static Value raiseException(Rendering &rendering, const Value &, const Arguments &arguments) {
  Bound bound(rendering, "raise_exception", arguments, {"message"}, 1);
  return rendering.fail("the template refuses the conversation: " + bound.text(0));
}

static Value strftimeNow(Rendering &rendering, const Value &, const Arguments &arguments) {
  Bound bound(rendering, "strftime_now", arguments, {"format"}, 1);
  std::string format = bound.text(0);
  if (rendering.failed())
    return {};
  // What Python fills in itself, of a time without a zone.
  if (format.size() > 200 || format.find("%f") != std::string::npos ||
      format.find('\0') != std::string::npos)
    return rendering.fail("strftime_now: expects a format of at most 200 bytes without %f");
  for (const char *zone : {"%z", "%Z"})
    for (size_t at = 0; (at = format.find(zone, at)) != std::string::npos;)
      format.erase(at, 2);
  auto now = static_cast<std::time_t>(
      rendering.limits().now.value_or(static_cast<int64_t>(std::time(nullptr))));
  std::tm parts = {};
  if (!::localtime_r(&now, &parts))
    return rendering.fail("strftime_now: the clock tells no time");
  char text[8192]; // %c and its like write at most some thirty bytes
  size_t size = std::strftime(text, sizeof text, format.c_str(), &parts);
  return rendering.makeText(std::string(text, size));
}

static Value makeCycler(Rendering &rendering, const Value &, const Arguments &arguments) {
  if (arguments.positional.empty() || !arguments.keyword.empty())
    return rendering.fail("cycler: expects at least one item");
  return rendering.keep(Kind::Cycler, new CyclerObject(rendering.memory(), arguments.positional));
}

static Value makeJoiner(Rendering &rendering, const Value &, const Arguments &arguments) {
  Bound bound(rendering, "joiner", arguments, {"sep"});
  if (rendering.failed())
    return {};
  return rendering.keep(
      Kind::Joiner,
      new JoinerObject(rendering.memory(), bound[0] ? *bound[0] : rendering.makeText(", ")));
}

const NamedFunction *findGlobal(const std::string &name) {
  static constexpr NamedFunction globals[] = {{"range", makeRange},
                                              {"dict", makeDictGlobal},
                                              {"namespace", makeNamespaceGlobal},
                                              {"raise_exception", raiseException},
                                              {"strftime_now", strftimeNow},
                                              {"cycler", makeCycler},
                                              {"joiner", makeJoiner}};
  return findRow(globals, name);
}

// Methods --------------------------------------------------------------------

template <ViewObject::Of Of>
static Value viewOf(Rendering &rendering, const Value &self, const Arguments &arguments) {
  Bound bound(rendering, "the method of a dict", arguments, {});
  return rendering.failed()
             ? Value()
             : rendering.keep(Kind::View, new ViewObject(rendering.memory(), self, Of));
}

static Value getOfDict(Rendering &rendering, const Value &self, const Arguments &arguments) {
  if (!arguments.keyword.empty())
    return rendering.fail("get: takes no keyword arguments");
  Bound bound(rendering, "get", arguments, {"key", "default"}, 1);
  if (rendering.failed())
    return {};
  std::optional<std::string> key = keyOf(*bound[0]);
  if (!key)
    return rendering.fail(std::string("get: ") + typeName(*bound[0]) + " can be no key of a dict");
  const Value *found = self.as<DictObject>().find(*key);
  return found ? *found : bound[1] ? *bound[1] : Value::none();
}

static Value copyOf(Rendering &, const Value &self, const Arguments &) { return self; }

static Value countIn(Rendering &rendering, const Value &self, const Arguments &arguments) {
  Bound bound(rendering, "count", arguments, {"value"}, 1);
  int64_t count = 0;
  if (!rendering.failed())
    for (const Value &item : self.items())
      count += areEqual(rendering, item, *bound[0]);
  return Value::integer(count);
}

static Value indexIn(Rendering &rendering, const Value &self, const Arguments &arguments) {
  Bound bound(rendering, "index", arguments, {"value"}, 1);
  for (size_t i = 0; !rendering.failed() && i < self.items().size(); ++i)
    if (areEqual(rendering, self.items()[i], *bound[0]))
      return Value::integer(static_cast<int64_t>(i));
  return rendering.fail("index: the value is not in the list");
}

static Value cycleOf(Rendering &rendering, const Value &self, const Arguments &arguments) {
  if (arguments.positional.empty())
    return rendering.fail("cycle: expects at least one item");
  return arguments.positional[self.as<LoopObject>().index % arguments.positional.size()];
}

static Value changedOf(Rendering &rendering, const Value &self, const Arguments &arguments) {
  auto &last = self.as<LoopObject>().changed;
  Value before = last ? rendering.makeTuple(*last) : Value::none();
  bool changed = !areEqual(rendering, before, rendering.makeTuple(arguments.positional));
  if (changed)
    last = arguments.positional;
  return Value::boolean(changed);
}

static Value nextOf(Rendering &, const Value &self, const Arguments &) {
  auto &cycler = self.as<CyclerObject>();
  Value current = cycler.items[cycler.at];
  cycler.at = (cycler.at + 1) % cycler.items.size();
  return current;
}

static Value resetOf(Rendering &, const Value &self, const Arguments &) {
  self.as<CyclerObject>().at = 0;
  return Value::none();
}

static bool isOneOf(const std::string &name, std::initializer_list<const char *> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

const NamedFunction *findMethod(const Value &value, const std::string &name, bool &isForbidden) {
  static constexpr NamedFunction ofDict[] = {{"get", getOfDict},
                                             {"items", viewOf<ViewObject::Of::Items>},
                                             {"keys", viewOf<ViewObject::Of::Keys>},
                                             {"values", viewOf<ViewObject::Of::Values>},
                                             {"copy", copyOf}};
  static constexpr NamedFunction ofList[] = {
      {"count", countIn}, {"index", indexIn}, {"copy", copyOf}};
  static constexpr NamedFunction ofLoop[] = {{"cycle", cycleOf}, {"changed", changedOf}};
  static constexpr NamedFunction ofCycler[] = {{"next", nextOf}, {"reset", resetOf}};
  switch (value.kind()) {
  case Kind::Text:
    return findTextMethod(name);
  case Kind::Dict:
    isForbidden = isOneOf(name, {"clear", "pop", "popitem", "setdefault", "update"});
    return findRow(ofDict, name);
  case Kind::List:
    isForbidden =
        isOneOf(name, {"append", "clear", "pop", "reverse", "insert", "sort", "extend", "remove"});
    return findRow(ofList, name);
  case Kind::Tuple:
    return name == "copy" ? nullptr : findRow(ofList, name);
  case Kind::Loop:
    return findRow(ofLoop, name);
  case Kind::Cycler:
    return findRow(ofCycler, name);
  default:
    return nullptr;
  }
}

} // namespace fovea::jinja
