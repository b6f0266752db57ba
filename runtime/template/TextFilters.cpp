// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Filters of texts; see Functions.h.
#include "runtime/template/Functions.h"
#include "runtime/template/Operators.h"
#include "runtime/template/Text.h"

#include <algorithm>

namespace fovea::jinja {

using TextOf = std::string (*)(std::string_view);

/// A filter that makes another text of a value's.
template <TextOf Make>
static Value changed(Rendering &rendering, const Value &self, const Arguments &arguments) {
  Bound bound(rendering, "the filter", arguments, {});
  std::string text = textOf(rendering, self);
  if (rendering.failed() || !rendering.spendBytes(4 * text.size()))
    return {};
  return rendering.makeText(Make(text), self.isMarkup());
}

/// As Jinja, not as `str.title`: words begin behind white space and brackets, and ' is of a word.
static std::string titleOfWords(std::string_view text) {
  std::string out;
  auto isBetween = [](char c) { return std::string_view("-({[<").find(c) != std::string::npos; };
  while (!text.empty()) {
    size_t size = 0; // of what is all between, or all not
    bool between = false;
    for (size_t at = 0; at < text.size();) {
      std::string_view rest = text.substr(at);
      std::string_view stripped = stripText(rest, true, false);
      size_t space = rest.size() - stripped.size();
      bool isOne = space > 0 || isBetween(rest[0]);
      if (at == 0)
        between = isOne;
      if (isOne != between)
        break;
      at += space > 0 ? space : 1;
      size = at;
    }
    std::string_view word = text.substr(0, size);
    text.remove_prefix(size);
    size_t first = byteOfCharacter(word, 1);
    out += toUpper(word.substr(0, first)) + toLower(word.substr(first));
  }
  return out;
}

static Value trim(Rendering &rendering, const Value &self, const Arguments &arguments) {
  Bound bound(rendering, "trim", arguments, {"chars"});
  std::string text = textOf(rendering, self);
  if (!rendering.spendBytes(text.size()))
    return {};
  if (!bound[0] || bound[0]->is(Kind::None))
    return rendering.makeText(std::string(stripText(text, true, true)), self.isMarkup());
  if (!bound[0]->is(Kind::Text))
    return rendering.fail(std::string("trim: expects a text, got ") + typeName(*bound[0]));
  return rendering.makeText(std::string(stripText(text, bound[0]->text(), true, true)),
                            self.isMarkup());
}

static Value replace(Rendering &rendering, const Value &self, const Arguments &arguments) {
  Bound bound(rendering, "replace", arguments, {"old", "new", "count"}, 2);
  int64_t most = bound[2] && bound[2]->is(Kind::None) ? -1 : bound.integer(2, -1);
  std::string text = textOf(rendering, self), from = bound.text(0), to = bound.text(1);
  if (rendering.failed())
    return {};
  Arguments plain;
  plain.positional = {rendering.makeText(std::move(from)), rendering.makeText(std::move(to)),
                      Value::integer(most)};
  const NamedFunction *method = findTextMethod("replace");
  return method->function(rendering, rendering.makeText(std::move(text)), plain);
}

static Value join(Rendering &rendering, const Value &self, const Arguments &arguments) {
  Bound bound(rendering, "join", arguments, {"d", "attribute"});
  std::string between = bound.text(0), text;
  std::vector<Value> items;
  if (rendering.failed() || !toItems(rendering, self, items))
    return {};
  bool byAttribute = bound[1] && !bound[1]->is(Kind::None);
  for (size_t i = 0; i < items.size(); ++i) {
    Value item = byAttribute ? getPath(rendering, items[i], *bound[1]) : items[i];
    if (rendering.failed() || !rendering.spendBytes(text.size() / 1024 + between.size()) ||
        !rendering.allow(text.size()))
      return {};
    text += i ? between : "";
    appendText(rendering, text, item);
  }
  return rendering.makeText(std::move(text));
}

static Value indent(Rendering &rendering, const Value &self, const Arguments &arguments) {
  Bound bound(rendering, "indent", arguments, {"width", "first", "blank"});
  std::string space;
  if (bound[0] && bound[0]->is(Kind::Text))
    space = bound[0]->text();
  else if (int64_t width = bound.integer(0, 4);
           rendering.allow(static_cast<uint64_t>(std::max<int64_t>(width, 0))))
    space.assign(static_cast<size_t>(std::max<int64_t>(width, 0)), ' ');
  if (rendering.failed())
    return {};
  if (!self.is(Kind::Text))
    return self.isUndefined()
               ? rendering.failUndefined(self)
               : rendering.fail(std::string("indent: expects a text, got ") + typeName(self));
  std::string source = self.text() + "\n", text = bound.flag(1) ? space : "";
  std::vector<std::string_view> lines = splitLines(source, false);
  if (!rendering.spend(lines.size()))
    return {};
  for (size_t i = 0; i < lines.size(); ++i) {
    if (!rendering.spendBytes(space.size()) || !rendering.allow(text.size()))
      return {};
    text += i ? "\n" : "";
    text += i && (bound.flag(2) || !lines[i].empty()) ? space : "";
    text += lines[i];
  }
  return rendering.makeText(std::move(text), self.isMarkup());
}

static Value truncate(Rendering &rendering, const Value &self, const Arguments &arguments) {
  Bound bound(rendering, "truncate", arguments, {"length", "killwords", "end", "leeway"});
  int64_t length = bound.integer(0, 255), leeway = 5;
  if (bound[3] && !bound[3]->is(Kind::None))
    leeway = bound.integer(3, 5);
  std::string end = bound[2] ? bound.text(2) : "...";
  if (rendering.failed())
    return {};
  auto endSize = static_cast<int64_t>(countCharacters(end));
  int64_t size = lengthOf(self);
  if (size < 0 || length < endSize || leeway < 0 || length > INT32_MAX || leeway > INT32_MAX)
    return rendering.fail("truncate: expects a text, and a length that the end fits in");
  if (size <= length + leeway)
    return self;
  if (!self.is(Kind::Text))
    return rendering.fail(std::string("truncate: expects a text, got ") + typeName(self));
  const std::string &text = self.text();
  std::string cut = text.substr(0, byteOfCharacter(text, static_cast<size_t>(length - endSize)));
  if (!bound.flag(1))
    cut = cut.substr(0, cut.rfind(' '));
  return rendering.makeText(cut + end);
}

static Value string(Rendering &rendering, const Value &self, const Arguments &) {
  return self.is(Kind::Text) ? self : rendering.makeText(textOf(rendering, self));
}

static Value safe(Rendering &rendering, const Value &self, const Arguments &) {
  return rendering.makeText(textOf(rendering, self), true);
}

static Value escape(Rendering &rendering, const Value &self, const Arguments &) {
  if (self.isMarkup())
    return self;
  std::string text = textOf(rendering, self);
  return rendering.spendBytes(6 * text.size()) ? rendering.makeText(escapeHtml(text), true)
                                               : Value();
}

static Value center(Rendering &rendering, const Value &self, const Arguments &arguments) {
  Bound bound(rendering, "center", arguments, {"width"});
  Arguments plain;
  plain.positional = {Value::integer(bound.integer(0, 80))};
  if (rendering.failed())
    return {};
  return findTextMethod("center")->function(
      rendering, rendering.makeText(textOf(rendering, self), self.isMarkup()), plain);
}

static Value format(Rendering &rendering, const Value &self, const Arguments &arguments) {
  if (!arguments.positional.empty() && !arguments.keyword.empty())
    return rendering.fail("format: expects arguments with names, or without, but not both");
  DictObject::Items pairs;
  for (const auto &[name, value] : arguments.keyword)
    pairs.emplace_back(rendering.makeText(name), value);
  Value values = pairs.empty() ? rendering.makeTuple(arguments.positional)
                               : rendering.makeDict(std::move(pairs));
  std::string text = textOf(rendering, self);
  return rendering.failed() ? Value() : formatText(rendering, text, values);
}

static Value wordcount(Rendering &rendering, const Value &self, const Arguments &) {
  std::string text = textOf(rendering, self);
  if (!rendering.spendBytes(text.size()))
    return {};
  int64_t count = 0;
  bool inWord = false;
  for (size_t at = 0; at < text.size();) {
    size_t size = byteOfCharacter(std::string_view(text).substr(at), 1);
    std::string_view one = std::string_view(text).substr(at, size);
    bool isWord = one == "_" || isAllOf(one, CharacterClass::Alphanumeric);
    count += isWord && !inWord;
    inWord = isWord;
    at += size;
  }
  return Value::integer(count);
}

const NamedFunction *findTextFilter(const std::string &name) {
  static constexpr NamedFunction filters[] = {{"capitalize", changed<capitalize>},
                                              {"center", center},
                                              {"e", escape},
                                              {"escape", escape},
                                              {"format", format},
                                              {"indent", indent},
                                              {"join", join},
                                              {"lower", changed<toLower>},
                                              {"replace", replace},
                                              {"safe", safe},
                                              {"string", string},
                                              {"title", changed<titleOfWords>},
                                              {"trim", trim},
                                              {"truncate", truncate},
                                              {"upper", changed<toUpper>},
                                              {"wordcount", wordcount}};
  return findRow(filters, name);
}

} // namespace fovea::jinja
