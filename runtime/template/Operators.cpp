// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Comparison, containment, sequences; see Operators.h.
#include "runtime/template/Operators.h"

#include "runtime/template/Functions.h"
#include "runtime/template/Text.h"
#include "runtime/tokenizer/Utf8.h"

#include <algorithm>
#include <cmath>

namespace fovea::jinja {

int64_t lengthOf(const Value &value) {
  switch (value.kind()) {
  case Kind::Undefined:
    return 0;
  case Kind::Text:
    return static_cast<int64_t>(countCharacters(value.text()));
  case Kind::List:
  case Kind::Tuple:
    return static_cast<int64_t>(value.items().size());
  case Kind::Dict:
    return static_cast<int64_t>(value.as<DictObject>().items.size());
  case Kind::View:
    return lengthOf(value.as<ViewObject>().dict);
  case Kind::Range:
    return value.as<RangeObject>().length();
  case Kind::Loop:
    return static_cast<int64_t>(value.as<LoopObject>().items.size());
  default:
    return -1;
  }
}

bool isTrue(const Value &value) {
  switch (value.kind()) {
  case Kind::None:
  case Kind::Undefined:
    return false;
  case Kind::Bool:
  case Kind::Integer:
    return value.asInteger() != 0;
  case Kind::Real:
    return value.asReal() != 0;
  case Kind::Text:
    return !value.text().empty();
  default:
    return lengthOf(value) != 0;
  }
}

/// -1, 0 or 1; 2 where one is no number.
static int compareNumbers(const Value &left, const Value &right) {
  if (left.isInteger() && right.isInteger())
    return left.asInteger() < right.asInteger() ? -1 : left.asInteger() > right.asInteger();
  double a = left.asReal(), b = right.asReal();
  if (std::isnan(a) || std::isnan(b))
    return 2;
  if (a != b || left.kind() == right.kind())
    return a < b ? -1 : a > b;
  // The integer may have been rounded to be equal.
  bool isLeft = left.isInteger();
  double real = isLeft ? b : a;
  int64_t integer = isLeft ? left.asInteger() : right.asInteger();
  if (real >= 0x1p63)
    return isLeft ? -1 : 1;
  auto other = static_cast<int64_t>(real);
  int sign = integer < other ? -1 : integer > other;
  return isLeft ? sign : -sign;
}

static bool areAllEqual(Rendering &rendering, const std::vector<Value> &left,
                        const std::vector<Value> &right) {
  if (left.size() != right.size())
    return false;
  for (size_t i = 0; i < left.size(); ++i)
    if (!areEqual(rendering, left[i], right[i]))
      return false;
  return true;
}

static bool areDictsEqual(Rendering &rendering, const DictObject &left, const DictObject &right) {
  if (left.items.size() != right.items.size())
    return false;
  for (const auto &[key, place] : left.places) {
    const Value *other = right.find(key);
    if (!other || !areEqual(rendering, left.items[place].second, *other))
      return false;
  }
  return true;
}

bool areEqual(Rendering &rendering, const Value &left, const Value &right) {
  Depth nested(rendering);
  if (!nested || !rendering.spend(1))
    return false;
  if (left.isNumber() && right.isNumber())
    return compareNumbers(left, right) == 0;
  if (left.kind() != right.kind())
    return false;
  switch (left.kind()) {
  case Kind::None:
  case Kind::Undefined:
    return true;
  case Kind::Text:
    rendering.spend(std::min(left.text().size(), right.text().size()) / 64);
    return left.text() == right.text();
  case Kind::List:
  case Kind::Tuple:
    return areAllEqual(rendering, left.items(), right.items());
  case Kind::Dict:
    return areDictsEqual(rendering, left.as<DictObject>(), right.as<DictObject>());
  case Kind::Range: {
    auto &a = left.as<RangeObject>(), &b = right.as<RangeObject>();
    return a.length() == b.length() &&
           (a.length() == 0 || (a.start == b.start && (a.length() == 1 || a.step == b.step)));
  }
  case Kind::Function:
    return left.as<FunctionObject>().function == right.as<FunctionObject>().function;
  default:
    return left.address() == right.address();
  }
}

/// What stands first in lists that differ, or which is shorter.
static bool isListLess(Rendering &rendering, const std::vector<Value> &left,
                       const std::vector<Value> &right) {
  size_t common = std::min(left.size(), right.size());
  for (size_t i = 0; i < common && !rendering.failed(); ++i)
    if (!areEqual(rendering, left[i], right[i]))
      return !rendering.failed() && isLess(rendering, left[i], right[i]);
  return left.size() < right.size();
}

bool isLess(Rendering &rendering, const Value &left, const Value &right) {
  Depth nested(rendering);
  if (!nested || !rendering.spend(1))
    return false;
  if (left.isNumber() && right.isNumber())
    return compareNumbers(left, right) == -1;
  if (left.is(Kind::Text) && right.is(Kind::Text)) {
    rendering.spend(std::min(left.text().size(), right.text().size()) / 64);
    return left.text() < right.text(); // as code points: so UTF-8 is made
  }
  if (left.isSequence() && left.kind() == right.kind())
    return isListLess(rendering, left.items(), right.items());
  if (left.isUndefined() || right.isUndefined())
    rendering.failUndefined(left.isUndefined() ? left : right);
  else
    rendering.fail(std::string("cannot order ") + typeName(left) + " and " + typeName(right));
  return false;
}

static bool isNotANumber(const Value &value) {
  return value.is(Kind::Real) && std::isnan(value.asReal());
}

bool compare(Rendering &rendering, const std::string &operation, const Value &left,
             const Value &right) {
  if (operation == "==")
    return areEqual(rendering, left, right);
  if (operation == "!=")
    return !areEqual(rendering, left, right);
  if (operation == "in")
    return contains(rendering, right, left);
  if (operation == "not in")
    return !contains(rendering, right, left);
  if (operation == "<")
    return isLess(rendering, left, right);
  if (operation == ">")
    return isLess(rendering, right, left);
  bool isReverse =
      operation == "<=" ? isLess(rendering, right, left) : isLess(rendering, left, right);
  return !isReverse && !isNotANumber(left) && !isNotANumber(right);
}

bool contains(Rendering &rendering, const Value &container, const Value &value) {
  switch (container.kind()) {
  case Kind::Text:
    if (!value.is(Kind::Text)) {
      rendering.fail(std::string("'in' expects a text to search in a text, got ") +
                     typeName(value));
      return false;
    }
    return rendering.spendBytes(container.text().size()) &&
           container.text().find(value.text()) != std::string::npos;
  case Kind::Dict: {
    std::optional<std::string> key = keyOf(value);
    if (!key)
      rendering.fail(std::string(typeName(value)) + " can be no key of a dict");
    return key && container.as<DictObject>().find(*key);
  }
  case Kind::View:
    if (container.as<ViewObject>().of == ViewObject::Of::Keys)
      return contains(rendering, container.as<ViewObject>().dict, value);
    break;
  default:
    break;
  }
  std::vector<Value> items;
  if (container.isSequence()) {
    for (const Value &item : container.items())
      if (areEqual(rendering, item, value) || rendering.failed())
        return !rendering.failed();
    return false;
  }
  if (!toItems(rendering, container, items))
    return false;
  for (size_t i = 0; i < items.size() && !rendering.failed(); ++i)
    if (areEqual(rendering, items[i], value)) {
      if (container.is(Kind::Iterator)) // it goes on behind what was found
        container.as<IteratorObject>().next -= items.size() - i - 1;
      return true;
    }
  return false;
}

bool isIterable(const Value &value) { return value.is(Kind::Iterator) || (lengthOf(value) >= 0); }

static void characters(Rendering &rendering, const Value &text, std::vector<Value> &items) {
  const std::string &all = text.text();
  for (size_t at = 0; at < all.size() && rendering.spend(1);) {
    uint32_t size = utf8At(all, at).size;
    items.push_back(rendering.makeText(all.substr(at, size))); // plain, of markup too
    at += size;
  }
}

static void viewItems(Rendering &rendering, const DictObject &dict, ViewObject::Of of,
                      std::vector<Value> &items) {
  for (const auto &[key, value] : dict.items)
    if (of == ViewObject::Of::Items)
      items.push_back(rendering.makeTuple({key, value}));
    else
      items.push_back(of == ViewObject::Of::Keys ? key : value);
}

bool toItems(Rendering &rendering, const Value &value, std::vector<Value> &items) {
  int64_t length = lengthOf(value);
  if (length > 0 && (!rendering.spend(static_cast<size_t>(length)) ||
                     !rendering.allow(static_cast<uint64_t>(length) * sizeof(Value))))
    return false;
  switch (value.kind()) {
  case Kind::Undefined:
    break;
  case Kind::Text:
    characters(rendering, value, items);
    break;
  case Kind::List:
  case Kind::Tuple:
    items = value.items();
    break;
  case Kind::Dict:
    viewItems(rendering, value.as<DictObject>(), ViewObject::Of::Keys, items);
    break;
  case Kind::View:
    viewItems(rendering, value.as<ViewObject>().dict.as<DictObject>(), value.as<ViewObject>().of,
              items);
    break;
  case Kind::Range:
    for (int64_t i = 0; i < length; ++i)
      items.push_back(Value::integer(value.as<RangeObject>().at(i)));
    break;
  case Kind::Iterator: {
    auto &iterator = value.as<IteratorObject>();
    items.assign(iterator.items.begin() + static_cast<ptrdiff_t>(iterator.next),
                 iterator.items.end());
    iterator.next = iterator.items.size();
    rendering.spend(items.size());
    break;
  }
  default:
    rendering.fail(std::string(typeName(value)) + " cannot be iterated over");
  }
  return !rendering.failed();
}

/// Python's slice.indices: where it begins, how it goes on, and how many there are.
static bool sliceIndices(Rendering &rendering, int64_t length, const Value *const (&given)[3],
                         int64_t &start, int64_t &step, int64_t &count) {
  for (const Value *one : given)
    if (one && !one->isInteger()) {
      rendering.fail(std::string("expects integers in a slice, got ") + typeName(*one));
      return false;
    }
  step = given[2] ? given[2]->asInteger() : 1;
  if (step == 0) {
    rendering.fail("expects a slice whose step is not 0");
    return false;
  }
  int64_t least = step < 0 ? -1 : 0, most = step < 0 ? length - 1 : length;
  auto place = [&](const Value *bound, int64_t fallback) {
    if (!bound)
      return fallback;
    int64_t at = bound->asInteger();
    if (at < 0)
      at = at < -length ? least : at + length;
    return std::clamp(at, least, most);
  };
  start = place(given[0], step < 0 ? most : least);
  int64_t stop = place(given[1], step < 0 ? least : most);
  int64_t distance = step < 0 ? start - stop : stop - start;
  if (distance <= 0) {
    count = 0;
    return true;
  }
  uint64_t size = step < 0 ? 0 - static_cast<uint64_t>(step) : static_cast<uint64_t>(step);
  count = static_cast<int64_t>((static_cast<uint64_t>(distance) - 1) / size) + 1;
  return true;
}

static Value sliceText(Rendering &rendering, const Value &value, int64_t start, int64_t step,
                       int64_t count) {
  const std::string &text = value.text();
  if (step == 1) {
    size_t from = byteOfCharacter(text, static_cast<size_t>(start));
    std::string_view rest = std::string_view(text).substr(from);
    size_t size = byteOfCharacter(rest, static_cast<size_t>(count));
    return rendering.makeText(std::string(rest.substr(0, size)), value.isMarkup());
  }
  std::vector<size_t> begins;
  for (size_t at = 0; at < text.size(); at += utf8At(text, at).size)
    begins.push_back(at);
  std::string out;
  for (int64_t i = 0; i < count; ++i) {
    size_t at = begins[static_cast<size_t>(start + i * step)];
    out.append(text, at, utf8At(text, at).size);
  }
  return rendering.makeText(std::move(out), value.isMarkup());
}

Value slice(Rendering &rendering, const Value &value, const Value *start, const Value *stop,
            const Value *step) {
  if (value.isUndefined())
    return rendering.failUndefined(value);
  int64_t from = 0, by = 1, count = 0, length = lengthOf(value);
  bool isText = value.is(Kind::Text);
  if (!isText && !value.isSequence() && !value.is(Kind::Range))
    return rendering.fail(std::string(typeName(value)) + " cannot be sliced");
  if (!sliceIndices(rendering, length, {start, stop, step}, from, by, count) ||
      !rendering.spendBytes(isText ? 8 * value.text().size()
                                   : static_cast<uint64_t>(count) * sizeof(Value)))
    return {};
  if (isText)
    return sliceText(rendering, value, from, by, count);
  if (value.is(Kind::Range)) {
    auto &range = value.as<RangeObject>();
    int64_t step = by * range.step, first = range.at(from);
    return rendering.keep(Kind::Range,
                          new RangeObject(rendering.memory(), first, first + count * step, step));
  }
  std::vector<Value> items;
  for (int64_t i = 0; i < count; ++i)
    items.push_back(value.items()[static_cast<size_t>(from + i * by)]);
  return value.is(Kind::List) ? rendering.makeList(std::move(items))
                              : rendering.makeTuple(std::move(items));
}

} // namespace fovea::jinja
