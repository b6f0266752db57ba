// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Methods of texts, as Python's `str` has them; see Functions.h. Of markup those that take another
// text are refused: they would escape it.
#include "runtime/template/Functions.h"
#include "runtime/template/Operators.h"
#include "runtime/template/Text.h"
#include "runtime/tokenizer/Utf8.h"

#include <algorithm>

namespace fovea::jinja {

/// What a method takes: `types` has a letter for each argument, t a text, i an integer, T and I the
/// same or none, o anything. Fails for others.
static bool check(Rendering &rendering, const char *what, const Value &self, const Bound &bound,
                  const char *types) {
  for (size_t i = 0; types[i] && !rendering.failed(); ++i) {
    const Value *value = bound[i];
    char type = types[i];
    if (!value || type == 'o' || (value->is(Kind::None) && (type == 'T' || type == 'I')))
      continue;
    bool isText = type == 't' || type == 'T';
    if (isText ? !value->is(Kind::Text) : !value->isInteger())
      rendering.fail(std::string(what) + ": expects " + (isText ? "a text" : "an integer") +
                     ", got " + typeName(*value));
    else if (isText && self.isMarkup())
      rendering.fail(std::string(what) + ": is not supported for what `safe` or `escape` made");
  }
  return rendering.spendBytes(4 * self.text().size());
}

static const Value *given(const Bound &bound, size_t place) {
  const Value *value = bound[place];
  return value && !value->is(Kind::None) ? value : nullptr;
}

using TextOf = std::string (*)(std::string_view);

template <TextOf Make>
static Value changed(Rendering &rendering, const Value &self, const Arguments &arguments) {
  Bound bound(rendering, "the method of a text", arguments, {});
  return check(rendering, "", self, bound, "")
             ? rendering.makeText(Make(self.text()), self.isMarkup())
             : Value();
}

template <CharacterClass Wanted>
static Value belongs(Rendering &rendering, const Value &self, const Arguments &arguments) {
  Bound bound(rendering, "the method of a text", arguments, {});
  return check(rendering, "", self, bound, "") ? Value::boolean(isAllOf(self.text(), Wanted))
                                               : Value();
}

template <bool Left, bool Right>
static Value strip(Rendering &rendering, const Value &self, const Arguments &arguments) {
  Bound bound(rendering, "strip", arguments, {"chars"});
  if (!check(rendering, "strip", self, bound, "T"))
    return {};
  std::string_view stripped = given(bound, 0)
                                  ? stripText(self.text(), bound[0]->text(), Left, Right)
                                  : stripText(self.text(), Left, Right);
  return rendering.makeText(std::string(stripped), self.isMarkup());
}

static Value listOf(Rendering &rendering, const std::vector<std::string_view> &parts, bool markup) {
  std::vector<Value> items;
  for (std::string_view part : parts) {
    if (!rendering.spend(1))
      return {};
    items.push_back(rendering.makeText(std::string(part), markup));
  }
  return rendering.makeList(std::move(items));
}

template <bool FromRight>
static Value split(Rendering &rendering, const Value &self, const Arguments &arguments) {
  Bound bound(rendering, "split", arguments, {"sep", "maxsplit"});
  if (!check(rendering, "split", self, bound, "Ti"))
    return {};
  int64_t most = bound.integer(1, -1);
  if (!rendering.allow(self.text().size() * sizeof(std::string_view)))
    return {};
  if (!given(bound, 0))
    return listOf(rendering, splitWords(self.text(), most, FromRight), self.isMarkup());
  if (bound[0]->text().empty())
    return rendering.fail("split: expects a separator that is not empty");
  return listOf(rendering, splitText(self.text(), bound[0]->text(), most, FromRight), false);
}

static Value splitlines(Rendering &rendering, const Value &self, const Arguments &arguments) {
  Bound bound(rendering, "splitlines", arguments, {"keepends"});
  if (!check(rendering, "splitlines", self, bound, "o") ||
      !rendering.allow(self.text().size() * sizeof(std::string_view)))
    return {};
  return listOf(rendering, splitLines(self.text(), bound.flag(0)), self.isMarkup());
}

template <bool FromRight>
static Value partition(Rendering &rendering, const Value &self, const Arguments &arguments) {
  Bound bound(rendering, "partition", arguments, {"sep"}, 1);
  if (!check(rendering, "partition", self, bound, "t"))
    return {};
  const std::string &text = self.text(), &separator = bound[0]->text();
  if (separator.empty())
    return rendering.fail("partition: expects a separator that is not empty");
  size_t at = FromRight ? text.rfind(separator) : text.find(separator);
  auto make = [&](std::string part) { return rendering.makeText(std::move(part)); };
  if (at == std::string::npos)
    return FromRight ? rendering.makeTuple({make(""), make(""), self})
                     : rendering.makeTuple({self, make(""), make("")});
  return rendering.makeTuple(
      {make(text.substr(0, at)), make(separator), make(text.substr(at + separator.size()))});
}

/// The part that `start` and `stop` leave, as a slice would; false if `start` is behind the end.
static bool window(const Value &self, const Bound &bound, size_t place, std::string_view &text,
                   int64_t &offset) {
  text = self.text();
  if (!given(bound, place) && !given(bound, place + 1))
    return true;
  auto length = static_cast<int64_t>(countCharacters(text));
  auto clamp = [&](const Value *value, int64_t fallback) {
    int64_t at = value ? value->asInteger() : fallback;
    if (at < 0)
      at = std::max<int64_t>(at < -length ? 0 : at + length, 0);
    return at;
  };
  int64_t start = clamp(given(bound, place), 0);
  int64_t stop = std::min(clamp(given(bound, place + 1), length), length);
  offset = start;
  if (start > stop)
    return false;
  size_t from = byteOfCharacter(text, static_cast<size_t>(start));
  text = text.substr(from);
  text = text.substr(0, byteOfCharacter(text, static_cast<size_t>(stop - start)));
  return true;
}

/// -1 if it is not there.
static int64_t findIn(Rendering &rendering, const char *what, const Value &self,
                      const Arguments &arguments, bool fromRight) {
  Bound bound(rendering, what, arguments, {"sub", "start", "end"}, 1);
  std::string_view text;
  int64_t offset = 0;
  if (!check(rendering, what, self, bound, "tII") || !window(self, bound, 1, text, offset))
    return -1;
  size_t at = fromRight ? text.rfind(bound[0]->text()) : text.find(bound[0]->text());
  return at == std::string_view::npos
             ? -1
             : offset + static_cast<int64_t>(countCharacters(text.substr(0, at)));
}

template <bool FromRight>
static Value find(Rendering &rendering, const Value &self, const Arguments &arguments) {
  return Value::integer(findIn(rendering, "find", self, arguments, FromRight));
}

template <bool FromRight>
static Value index(Rendering &rendering, const Value &self, const Arguments &arguments) {
  int64_t at = findIn(rendering, "index", self, arguments, FromRight);
  return at >= 0 ? Value::integer(at) : rendering.fail("index: the text is not found");
}

static Value count(Rendering &rendering, const Value &self, const Arguments &arguments) {
  Bound bound(rendering, "count", arguments, {"sub", "start", "end"}, 1);
  std::string_view text;
  int64_t offset = 0, number = 0;
  if (!check(rendering, "count", self, bound, "tII") || !window(self, bound, 1, text, offset))
    return Value::integer(0);
  const std::string &part = bound[0]->text();
  if (part.empty())
    return Value::integer(static_cast<int64_t>(countCharacters(text)) + 1);
  for (size_t at = 0; (at = text.find(part, at)) != std::string_view::npos; at += part.size())
    ++number;
  return Value::integer(number);
}

/// startswith and endswith, also of one of a tuple.
template <bool AtEnd>
static Value hasAffix(Rendering &rendering, const Value &self, const Arguments &arguments) {
  const char *what = AtEnd ? "endswith" : "startswith";
  Bound bound(rendering, what, arguments, {"affix", "start", "end"}, 1);
  std::string_view text;
  int64_t offset = 0;
  if (!check(rendering, what, self, bound, "oII"))
    return {};
  bool inside = window(self, bound, 1, text, offset);
  std::vector<Value> affixes = {*bound[0]};
  if (bound[0]->is(Kind::Tuple))
    affixes = bound[0]->items();
  bool found = false;
  for (const Value &affix : affixes) {
    if (!affix.is(Kind::Text))
      return rendering.fail(std::string(what) + ": expects a text or a tuple of texts, got " +
                            typeName(affix));
    size_t size = affix.text().size();
    found |= inside && size <= text.size() &&
             text.substr(AtEnd ? text.size() - size : 0, size) == affix.text();
  }
  return Value::boolean(found);
}

template <bool AtEnd>
static Value removeAffix(Rendering &rendering, const Value &self, const Arguments &arguments) {
  Bound bound(rendering, AtEnd ? "removesuffix" : "removeprefix", arguments, {"affix"}, 1);
  if (!check(rendering, "removeprefix", self, bound, "t"))
    return {};
  std::string_view text = self.text(), affix = bound[0]->text();
  if (affix.size() > text.size())
    return self;
  if (AtEnd && text.substr(text.size() - affix.size()) == affix)
    text.remove_suffix(affix.size());
  else if (!AtEnd && text.substr(0, affix.size()) == affix)
    text.remove_prefix(affix.size());
  return rendering.makeText(std::string(text));
}

static Value replace(Rendering &rendering, const Value &self, const Arguments &arguments) {
  Bound bound(rendering, "replace", arguments, {"old", "new", "count"}, 2);
  if (!check(rendering, "replace", self, bound, "tti"))
    return {};
  const std::string &text = self.text(), &from = bound[0]->text(), &to = bound[1]->text();
  int64_t most = bound.integer(2, -1);
  uint64_t left = most < 0 ? UINT64_MAX : static_cast<uint64_t>(most);
  std::string out;
  size_t done = 0;
  for (size_t at = 0; left > 0; --left) {
    size_t found = from.empty() ? at : text.find(from, at);
    if (found == std::string::npos || found > text.size())
      break;
    if (!rendering.spend(1) || !rendering.allow(out.size() + to.size()))
      return {};
    // Nothing is found before each character, and at the end.
    size_t step = from.empty() && found < text.size() ? utf8At(text, found).size : 0;
    out.append(text, done, found - done).append(to);
    done = found + from.size();
    if (from.empty()) {
      out.append(text, found, step);
      done = found + step;
    }
    at = from.empty() ? found + std::max<size_t>(step, 1) : done;
  }
  if (done < text.size())
    out.append(text, done);
  return rendering.spendBytes(out.size()) ? rendering.makeText(std::move(out)) : Value();
}

static Value join(Rendering &rendering, const Value &self, const Arguments &arguments) {
  Bound bound(rendering, "join", arguments, {"iterable"}, 1);
  std::vector<Value> items;
  if (!check(rendering, "join", self, bound, "o") || !toItems(rendering, *bound[0], items))
    return {};
  std::string text;
  for (size_t i = 0; i < items.size(); ++i) {
    if (!items[i].is(Kind::Text) || self.isMarkup())
      return rendering.fail(std::string("join: expects texts, got ") + typeName(items[i]));
    if (!rendering.spendBytes(self.text().size() + items[i].text().size()) ||
        !rendering.allow(text.size()))
      return {};
    text += i ? self.text() : "";
    text += items[i].text();
  }
  return rendering.makeText(std::move(text));
}

/// ljust, rjust and center: how much of the space goes to the left.
enum class Side { Left, Right, Center };
template <Side At>
static Value justify(Rendering &rendering, const Value &self, const Arguments &arguments) {
  Bound bound(rendering, "justify", arguments, {"width", "fillchar"}, 1);
  if (!check(rendering, "justify", self, bound, "it"))
    return {};
  int64_t width = bound.integer(0, 0), length = lengthOf(self);
  std::string fill = bound[1] ? bound[1]->text() : " ";
  if (countCharacters(fill) != 1)
    return rendering.fail("justify: expects one character to fill with");
  if (width <= length)
    return self;
  auto space = static_cast<uint64_t>(width - length);
  if (space > UINT32_MAX || !rendering.spendBytes(space * fill.size()))
    return rendering.fail("justify: the width is too large");
  // As Python rounds it.
  uint64_t left = At == Side::Left    ? 0
                  : At == Side::Right ? space
                                      : space / 2 + (space & static_cast<uint64_t>(width) & 1);
  std::string text;
  for (uint64_t i = 0; i < left; ++i)
    text += fill;
  text += self.text();
  for (uint64_t i = left; i < space; ++i)
    text += fill;
  return rendering.makeText(std::move(text), self.isMarkup());
}

static Value zfill(Rendering &rendering, const Value &self, const Arguments &arguments) {
  Bound bound(rendering, "zfill", arguments, {"width"}, 1);
  if (!check(rendering, "zfill", self, bound, "i"))
    return {};
  int64_t space = bound.integer(0, 0) - lengthOf(self);
  if (space <= 0)
    return self;
  if (!rendering.spendBytes(static_cast<uint64_t>(space)))
    return {};
  const std::string &text = self.text();
  size_t sign = !text.empty() && (text[0] == '-' || text[0] == '+');
  return rendering.makeText(text.substr(0, sign) + std::string(static_cast<size_t>(space), '0') +
                            text.substr(sign));
}

static Value format(Rendering &rendering, const Value &self, const Arguments &arguments) {
  return formatBraces(rendering, self.text(), arguments);
}

static Value formatMap(Rendering &rendering, const Value &self, const Arguments &arguments) {
  Bound bound(rendering, "format_map", arguments, {"mapping"}, 1);
  if (rendering.failed() || !bound[0]->is(Kind::Dict))
    return rendering.fail("format_map: expects a dict");
  Arguments named;
  for (const auto &[key, value] : bound[0]->as<DictObject>().items)
    if (key.is(Kind::Text))
      named.keyword.emplace_back(key.text(), value);
  return formatBraces(rendering, self.text(), named);
}

/// What Python has and no template needs.
static Value refuse(Rendering &rendering, const Value &, const Arguments &) {
  return rendering.fail("this method of a text is not supported");
}

const NamedFunction *findTextMethod(const std::string &name) {
  static constexpr NamedFunction methods[] = {{"capitalize", changed<capitalize>},
                                              {"casefold", refuse},
                                              {"center", justify<Side::Center>},
                                              {"count", count},
                                              {"encode", refuse},
                                              {"endswith", hasAffix<true>},
                                              {"expandtabs", refuse},
                                              {"find", find<false>},
                                              {"format", format},
                                              {"format_map", formatMap},
                                              {"index", index<false>},
                                              {"isalnum", belongs<CharacterClass::Alphanumeric>},
                                              {"isalpha", belongs<CharacterClass::Alpha>},
                                              {"isascii", belongs<CharacterClass::Ascii>},
                                              {"isdecimal", belongs<CharacterClass::Decimal>},
                                              {"isdigit", belongs<CharacterClass::Digit>},
                                              {"isidentifier", refuse},
                                              {"islower", belongs<CharacterClass::Lower>},
                                              {"isnumeric", belongs<CharacterClass::Numeric>},
                                              {"isprintable", belongs<CharacterClass::Printable>},
                                              {"isspace", belongs<CharacterClass::Space>},
                                              {"istitle", belongs<CharacterClass::Title>},
                                              {"isupper", belongs<CharacterClass::Upper>},
                                              {"join", join},
                                              {"ljust", justify<Side::Left>},
                                              {"lower", changed<toLower>},
                                              {"lstrip", strip<true, false>},
                                              {"maketrans", refuse},
                                              {"partition", partition<false>},
                                              {"removeprefix", removeAffix<false>},
                                              {"removesuffix", removeAffix<true>},
                                              {"replace", replace},
                                              {"rfind", find<true>},
                                              {"rindex", index<true>},
                                              {"rjust", justify<Side::Right>},
                                              {"rpartition", partition<true>},
                                              {"rsplit", split<true>},
                                              {"rstrip", strip<false, true>},
                                              {"split", split<false>},
                                              {"splitlines", splitlines},
                                              {"startswith", hasAffix<false>},
                                              {"strip", strip<true, true>},
                                              {"swapcase", changed<swapCase>},
                                              {"title", changed<toTitle>},
                                              {"translate", refuse},
                                              {"upper", changed<toUpper>},
                                              {"zfill", zfill}};
  return findRow(methods, name);
}

} // namespace fovea::jinja
