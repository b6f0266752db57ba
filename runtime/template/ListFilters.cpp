// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Filters of lists, numbers and any values; see Functions.h.
#include "runtime/template/Functions.h"
#include "runtime/template/Operators.h"
#include "runtime/template/Text.h"

#include <algorithm>
#include <cmath>

namespace fovea::jinja {

/// Parts of an attribute's path: numbers are places.
static std::vector<Value> partsOf(Rendering &rendering, const Value &attribute) {
  if (!attribute.is(Kind::Text))
    return {attribute};
  std::vector<Value> parts;
  for (std::string_view part : splitText(attribute.text(), ".", -1, false)) {
    bool isNumber = !part.empty() && part.find_first_not_of("0123456789") == std::string::npos;
    std::optional<int64_t> number = isNumber ? parseInteger(part, 10) : std::nullopt;
    parts.push_back(number ? Value::integer(*number) : rendering.makeText(std::string(part)));
  }
  return parts;
}

Value getPath(Rendering &rendering, Value value, const Value &attribute, const Value *fallback) {
  if (attribute.is(Kind::None))
    return value;
  for (const Value &part : partsOf(rendering, attribute)) {
    if (rendering.failed())
      return {};
    value = rendering.getItem(value, part);
    if (value.isUndefined() && fallback && !fallback->is(Kind::None))
      value = *fallback;
  }
  return value;
}

Value ignoreCase(Rendering &rendering, const Value &value) {
  return value.is(Kind::Text) ? rendering.makeText(toLower(value.text())) : value;
}

/// What lists are sorted and compared by.
struct Keyed {
  Value key, value;
};

/// Stable, and sound whatever the comparison says.
static void sortKeyed(Rendering &rendering, std::vector<Keyed> &all, bool isReverse) {
  std::vector<Keyed> merged(all.size());
  for (size_t width = 1; width < all.size() && !rendering.failed(); width *= 2) {
    for (size_t begin = 0; begin < all.size(); begin += 2 * width) {
      size_t middle = std::min(begin + width, all.size());
      size_t end = std::min(begin + 2 * width, all.size()), left = begin, right = middle;
      for (size_t to = begin; to < end; ++to) {
        bool takesRight = left == middle;
        if (left < middle && right < end)
          takesRight = isReverse ? isLess(rendering, all[left].key, all[right].key)
                                 : isLess(rendering, all[right].key, all[left].key);
        merged[to] = std::move(all[takesRight ? right++ : left++]);
      }
    }
    std::swap(all, merged);
  }
}

static Value valuesOf(Rendering &rendering, std::vector<Keyed> all) {
  std::vector<Value> values;
  for (Keyed &one : all)
    values.push_back(std::move(one.value));
  return rendering.makeList(std::move(values));
}

static Value keyFor(Rendering &rendering, const Value &item, const Value *attribute,
                    bool caseSensitive) {
  Value key = attribute ? getPath(rendering, item, *attribute) : item;
  return caseSensitive ? key : ignoreCase(rendering, key);
}

static Value sortFilter(Rendering &rendering, const Value &self, const Arguments &arguments) {
  Bound bound(rendering, "sort", arguments, {"reverse", "case_sensitive", "attribute"});
  std::vector<Value> items;
  if (rendering.failed() || !toItems(rendering, self, items))
    return {};
  std::vector<Keyed> all;
  for (const Value &item : items) {
    std::vector<Value> keys; // of several attributes, with commas between
    if (bound[2] && bound[2]->is(Kind::Text))
      for (std::string_view part : splitText(bound[2]->text(), ",", -1, false)) {
        Value attribute = rendering.makeText(std::string(part));
        keys.push_back(keyFor(rendering, item, &attribute, bound.flag(1)));
      }
    else
      keys.push_back(keyFor(rendering, item, bound[2], bound.flag(1)));
    all.push_back({rendering.makeList(std::move(keys)), item});
    if (rendering.failed())
      return {};
  }
  sortKeyed(rendering, all, bound.flag(0));
  return valuesOf(rendering, std::move(all));
}

static Value dictsort(Rendering &rendering, const Value &self, const Arguments &arguments) {
  Bound bound(rendering, "dictsort", arguments, {"case_sensitive", "by", "reverse"});
  std::string by = bound[1] ? bound.text(1) : "key";
  if (rendering.failed())
    return {};
  if (self.isUndefined())
    return rendering.failUndefined(self);
  if (!self.is(Kind::Dict) || (by != "key" && by != "value"))
    return rendering.fail("dictsort: expects a dict, sorted by 'key' or 'value'");
  std::vector<Keyed> all;
  for (const auto &[key, value] : self.as<DictObject>().items)
    all.push_back({keyFor(rendering, by == "key" ? key : value, nullptr, bound.flag(0)),
                   rendering.makeTuple({key, value})});
  if (!rendering.spend(all.size()))
    return {};
  sortKeyed(rendering, all, bound.flag(2));
  return valuesOf(rendering, std::move(all));
}

static Value unique(Rendering &rendering, const Value &self, const Arguments &arguments) {
  Bound bound(rendering, "unique", arguments, {"case_sensitive", "attribute"});
  std::vector<Value> items, kept;
  if (rendering.failed() || !toItems(rendering, self, items))
    return {};
  std::unordered_map<std::string, bool> seen;
  for (const Value &item : items) {
    Value key = keyFor(rendering, item, bound[1], bound.flag(0));
    std::optional<std::string> name = keyOf(key);
    if (rendering.failed() || !name)
      return rendering.fail(std::string("unique: cannot tell apart ") + typeName(key));
    if (seen.emplace(std::move(*name), true).second)
      kept.push_back(item);
  }
  return rendering.makeIterator(std::move(kept));
}

static Value extreme(Rendering &rendering, const char *what, const Value &self,
                     const Arguments &arguments, bool isMost) {
  Bound bound(rendering, what, arguments, {"case_sensitive", "attribute"});
  std::vector<Value> items;
  if (rendering.failed() || !toItems(rendering, self, items))
    return {};
  if (items.empty())
    return rendering.makeUndefined("No aggregated item, sequence was empty.");
  Value best, bestKey;
  for (size_t i = 0; i < items.size() && !rendering.failed(); ++i) {
    Value key = keyFor(rendering, items[i], bound[1], bound.flag(0));
    bool isBetter =
        i == 0 || (isMost ? isLess(rendering, bestKey, key) : isLess(rendering, key, bestKey));
    if (isBetter) {
      best = items[i];
      bestKey = std::move(key);
    }
  }
  return best;
}

static Value minFilter(Rendering &rendering, const Value &self, const Arguments &arguments) {
  return extreme(rendering, "min", self, arguments, false);
}
static Value maxFilter(Rendering &rendering, const Value &self, const Arguments &arguments) {
  return extreme(rendering, "max", self, arguments, true);
}

static Value sum(Rendering &rendering, const Value &self, const Arguments &arguments) {
  Bound bound(rendering, "sum", arguments, {"attribute", "start"});
  std::vector<Value> items;
  if (rendering.failed() || !toItems(rendering, self, items))
    return {};
  Value total = bound[1] ? *bound[1] : Value::integer(0);
  if (total.is(Kind::Text))
    return rendering.fail("sum: expects numbers or lists, got str");
  for (const Value &item : items) {
    Value one = bound[0] ? getPath(rendering, item, *bound[0]) : item;
    if (rendering.failed())
      return {};
    total = calculate(rendering, "+", total, one);
  }
  return total;
}

static Value defaultFilter(Rendering &rendering, const Value &self, const Arguments &arguments) {
  Bound bound(rendering, "default", arguments, {"default_value", "boolean"});
  if (rendering.failed())
    return {};
  bool isMissing = self.isUndefined() || (bound.flag(1) && !isTrue(self));
  return !isMissing ? self : bound[0] ? *bound[0] : rendering.makeText("");
}

static Value length(Rendering &rendering, const Value &self, const Arguments &arguments) {
  Bound bound(rendering, "length", arguments, {});
  int64_t count = lengthOf(self);
  if (self.is(Kind::Text))
    rendering.spend(self.text().size() / 64);
  return count >= 0 ? Value::integer(count)
                    : rendering.fail(std::string("length: ") + typeName(self) + " has no length");
}

static Value first(Rendering &rendering, const Value &self, const Arguments &) {
  if (self.is(Kind::Iterator)) {
    auto &iterator = self.as<IteratorObject>();
    if (iterator.next < iterator.items.size())
      return iterator.items[iterator.next++];
    return rendering.makeUndefined("No first item, sequence was empty.");
  }
  std::vector<Value> items;
  if (!toItems(rendering, self, items))
    return {};
  return items.empty() ? rendering.makeUndefined("No first item, sequence was empty.") : items[0];
}

static Value last(Rendering &rendering, const Value &self, const Arguments &) {
  std::vector<Value> items;
  if (self.is(Kind::Iterator))
    return rendering.fail("last: expects a list, got an iterator; use the filter list");
  if (!toItems(rendering, self, items))
    return {};
  return items.empty() ? rendering.makeUndefined("No last item, sequence was empty.")
                       : items.back();
}

static Value list(Rendering &rendering, const Value &self, const Arguments &) {
  std::vector<Value> items;
  return toItems(rendering, self, items) ? rendering.makeList(std::move(items)) : Value();
}

static Value reverse(Rendering &rendering, const Value &self, const Arguments &) {
  std::vector<Value> items;
  if (self.is(Kind::Text)) {
    Value step = Value::integer(-1);
    return slice(rendering, self, nullptr, nullptr, &step);
  }
  if (!toItems(rendering, self, items))
    return {};
  std::reverse(items.begin(), items.end());
  return self.is(Kind::Iterator) ? rendering.makeList(std::move(items))
                                 : rendering.makeIterator(std::move(items));
}

static Value items(Rendering &rendering, const Value &self, const Arguments &) {
  if (!self.is(Kind::Dict) && !self.isUndefined())
    return rendering.fail(std::string("items: expects a dict, got ") + typeName(self));
  std::vector<Value> pairs;
  if (self.is(Kind::Dict))
    for (const auto &[key, value] : self.as<DictObject>().items)
      pairs.push_back(rendering.makeTuple({key, value}));
  rendering.spend(pairs.size());
  return rendering.makeIterator(std::move(pairs));
}

/// The arguments of the filter or test that another filter applies to each item.
static Arguments argumentsBehind(const Arguments &arguments, size_t count) {
  Arguments rest;
  rest.positional.assign(arguments.positional.begin() + static_cast<ptrdiff_t>(count),
                         arguments.positional.end());
  rest.keyword = arguments.keyword;
  return rest;
}

static Value map(Rendering &rendering, const Value &self, const Arguments &arguments) {
  std::vector<Value> items, mapped;
  if (!isTrue(self))
    return rendering.makeIterator({});
  const NamedFunction *filter = nullptr;
  Arguments rest;
  Bound *path = nullptr;
  std::optional<Bound> bound;
  if (arguments.positional.empty()) {
    bound.emplace(rendering, "map", arguments,
                  std::initializer_list<const char *>{"attribute", "default"}, 1);
    path = &*bound;
  } else {
    const Value &name = arguments.positional[0];
    filter = name.is(Kind::Text) ? findFilter(name.text()) : nullptr;
    if (!filter)
      return rendering.fail("map: filter '" + textOf(rendering, name) + "' is not supported");
    rest = argumentsBehind(arguments, 1);
  }
  if (rendering.failed() || !toItems(rendering, self, items))
    return {};
  for (const Value &item : items) {
    if (!rendering.spend(1))
      return {};
    mapped.push_back(path ? getPath(rendering, item, *(*path)[0], (*path)[1])
                          : filter->function(rendering, item, rest));
  }
  return rendering.makeIterator(std::move(mapped));
}

static Value selectItems(Rendering &rendering, const char *what, const Value &self,
                         const Arguments &arguments, bool wanted, bool byAttribute) {
  std::vector<Value> items, kept;
  if (!isTrue(self))
    return rendering.makeIterator({});
  size_t place = byAttribute ? 1 : 0;
  if (arguments.positional.size() < place)
    return rendering.fail(std::string(what) + ": expects the name of an attribute");
  const NamedTest *test = nullptr;
  Arguments rest;
  if (arguments.positional.size() > place) {
    const Value &name = arguments.positional[place];
    test = name.is(Kind::Text) ? findTest(name.text()) : nullptr;
    if (!test)
      return rendering.fail(std::string(what) + ": test '" + textOf(rendering, name) +
                            "' is not supported");
    rest = argumentsBehind(arguments, place + 1);
  }
  if (!toItems(rendering, self, items))
    return {};
  for (const Value &item : items) {
    if (!rendering.spend(1))
      return {};
    Value value = byAttribute ? getPath(rendering, item, arguments.positional[0]) : item;
    bool isChosen =
        !rendering.failed() && (test ? passes(rendering, *test, value, rest) : isTrue(value));
    if (rendering.failed())
      return {};
    if (isChosen == wanted)
      kept.push_back(item);
  }
  return rendering.makeIterator(std::move(kept));
}

static Value select(Rendering &rendering, const Value &self, const Arguments &arguments) {
  return selectItems(rendering, "select", self, arguments, true, false);
}
static Value reject(Rendering &rendering, const Value &self, const Arguments &arguments) {
  return selectItems(rendering, "reject", self, arguments, false, false);
}
static Value selectattr(Rendering &rendering, const Value &self, const Arguments &arguments) {
  return selectItems(rendering, "selectattr", self, arguments, true, true);
}
static Value rejectattr(Rendering &rendering, const Value &self, const Arguments &arguments) {
  return selectItems(rendering, "rejectattr", self, arguments, false, true);
}

static Value batch(Rendering &rendering, const Value &self, const Arguments &arguments) {
  Bound bound(rendering, "batch", arguments, {"linecount", "fill_with"}, 1);
  int64_t width = bound.integer(0, 1);
  std::vector<Value> items, rows, row;
  if (rendering.failed() || !toItems(rendering, self, items))
    return {};
  if (width < 1 || !rendering.spendBytes(static_cast<uint64_t>(width) * sizeof(Value)))
    return rendering.fail("batch: expects at least one item in a row");
  for (const Value &item : items) {
    if (static_cast<int64_t>(row.size()) == width)
      rows.push_back(rendering.makeList(std::exchange(row, {})));
    row.push_back(item);
  }
  if (!row.empty()) {
    if (bound[1] && !bound[1]->is(Kind::None))
      row.resize(static_cast<size_t>(width), *bound[1]);
    rows.push_back(rendering.makeList(std::move(row)));
  }
  return rendering.makeIterator(std::move(rows));
}

// Numbers --------------------------------------------------------------------

static Value absolute(Rendering &rendering, const Value &self, const Arguments &) {
  bool isNegative = self.isNumber() && (self.asReal() < 0 || std::signbit(self.asReal()));
  return negate(rendering, self, isNegative);
}

static Value toInteger(Rendering &rendering, const Value &self, const Arguments &arguments) {
  Bound bound(rendering, "int", arguments, {"default", "base"});
  int64_t base = bound.integer(1, 10);
  Value fallback = bound[0] ? *bound[0] : Value::integer(0);
  if (rendering.failed())
    return {};
  if (self.isUndefined())
    return rendering.failUndefined(self);
  if (self.isInteger())
    return Value::integer(self.asInteger());
  std::optional<double> real;
  if (self.is(Kind::Real))
    real = self.asReal();
  if (self.is(Kind::Text)) {
    if (base != 0 && (base < 2 || base > 36))
      return rendering.fail("int: expects a base from 2 to 36, or 0");
    if (std::optional<int64_t> integer = parseInteger(self.text(), base))
      return Value::integer(*integer);
    real = parseReal(self.text());
  }
  if (!real || !std::isfinite(*real))
    return fallback;
  if (std::fabs(*real) >= 0x1p63)
    return rendering.fail("int: an integer has more than 64 bits");
  return Value::integer(static_cast<int64_t>(*real));
}

static Value toReal(Rendering &rendering, const Value &self, const Arguments &arguments) {
  Bound bound(rendering, "float", arguments, {"default"});
  if (rendering.failed())
    return {};
  if (self.isUndefined())
    return rendering.failUndefined(self);
  if (self.isNumber())
    return Value::real(self.asReal());
  if (std::optional<double> real = self.is(Kind::Text) ? parseReal(self.text()) : std::nullopt)
    return Value::real(*real);
  return bound[0] ? *bound[0] : Value::real(0);
}

/// To the nearest with so many decimals, of two the even one, by the number's exact value.
static double roundTo(double value, int64_t precision) {
  if (!std::isfinite(value) || precision > 320)
    return value;
  if (precision < 0) {
    double power = std::pow(10.0, static_cast<double>(-precision));
    return std::isfinite(power) ? std::nearbyint(value / power) * power : std::copysign(0, value);
  }
  char text[700];
  std::snprintf(text, sizeof text, "%.*f", static_cast<int>(precision), value);
  return std::strtod(text, nullptr);
}

static Value roundFilter(Rendering &rendering, const Value &self, const Arguments &arguments) {
  Bound bound(rendering, "round", arguments, {"precision", "method"});
  int64_t precision = bound.integer(0, 0);
  std::string method = bound[1] ? bound.text(1) : "common";
  if (rendering.failed())
    return {};
  if (!self.isNumber())
    return self.isUndefined()
               ? rendering.failUndefined(self)
               : rendering.fail(std::string("round: expects a number, got ") + typeName(self));
  if (method == "common") {
    if (!self.isInteger())
      return Value::real(roundTo(self.asReal(), precision));
    return precision >= 0 ? Value::integer(self.asInteger())
                          : Value::integer(static_cast<int64_t>(
                                roundTo(self.asReal(), std::max<int64_t>(precision, -18))));
  }
  if (method != "ceil" && method != "floor")
    return rendering.fail("round: expects method common, ceil or floor, got " + method);
  double power = std::pow(10.0, static_cast<double>(precision)), scaled = self.asReal() * power;
  if (!std::isfinite(scaled) || power == 0)
    return rendering.fail("round: the number is too large");
  // An integer in between, which has no negative zero.
  return Value::real(((method == "ceil" ? std::ceil(scaled) : std::floor(scaled)) + 0.0) / power);
}

// Any value ------------------------------------------------------------------

static Value tojson(Rendering &rendering, const Value &self, const Arguments &arguments) {
  Bound bound(rendering, "tojson", arguments,
              {"ensure_ascii", "indent", "separators", "sort_keys"});
  if (rendering.failed())
    return {};
  JsonStyle style;
  style.asciiOnly = bound.flag(0);
  style.sortKeys = bound.flag(3);
  if (bound[1] && !bound[1]->is(Kind::None)) {
    int64_t width = bound[1]->is(Kind::Text) ? 0 : bound.integer(1, 0);
    if (width > 1000)
      return rendering.fail("tojson: expects an indent of at most 1000");
    style.indent = bound[1]->is(Kind::Text)
                       ? bound[1]->text()
                       : std::string(static_cast<size_t>(std::max<int64_t>(width, 0)), ' ');
    style.between = ",";
  }
  if (bound[2] && !bound[2]->is(Kind::None)) {
    std::vector<Value> pair;
    if (!toItems(rendering, *bound[2], pair))
      return {};
    if (pair.size() != 2 || !pair[0].is(Kind::Text) || !pair[1].is(Kind::Text))
      return rendering.fail("tojson: expects two texts as separators");
    style.between = pair[0].text();
    style.behindKey = pair[1].text();
  }
  std::string text;
  appendJson(rendering, text, self, style);
  return rendering.failed() ? Value() : rendering.makeText(std::move(text));
}

static Value attr(Rendering &rendering, const Value &self, const Arguments &arguments) {
  Bound bound(rendering, "attr", arguments, {"name"}, 1);
  std::string name = bound.text(0);
  if (rendering.failed() || self.is(Kind::Dict)) {
    bool isForbidden = false; // items of a dict are none
    if (!findMethod(self, name, isForbidden))
      return rendering.makeUndefined("'dict' object has no attribute '" + name + "'");
  }
  return rendering.getAttribute(self, name);
}

const NamedFunction *findListFilter(const std::string &name) {
  static constexpr NamedFunction filters[] = {{"abs", absolute},
                                              {"attr", attr},
                                              {"batch", batch},
                                              {"count", length},
                                              {"d", defaultFilter},
                                              {"default", defaultFilter},
                                              {"dictsort", dictsort},
                                              {"first", first},
                                              {"float", toReal},
                                              {"int", toInteger},
                                              {"items", items},
                                              {"last", last},
                                              {"length", length},
                                              {"list", list},
                                              {"map", map},
                                              {"max", maxFilter},
                                              {"min", minFilter},
                                              {"reject", reject},
                                              {"rejectattr", rejectattr},
                                              {"reverse", reverse},
                                              {"round", roundFilter},
                                              {"select", select},
                                              {"selectattr", selectattr},
                                              {"sort", sortFilter},
                                              {"sum", sum},
                                              {"tojson", tojson},
                                              {"unique", unique}};
  return findRow(filters, name);
}

} // namespace fovea::jinja
