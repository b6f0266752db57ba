// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values as text: `str`, `repr`, JSON; and JSON as values. See Operators.h.
#include "runtime/template/Functions.h"
#include "runtime/template/Operators.h"
#include "runtime/template/Text.h"
#include "runtime/tokenizer/Utf8.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace fovea::jinja {

static void appendList(Rendering &rendering, std::string &out, const std::vector<Value> &items,
                       char open, char close) {
  out += open;
  for (size_t i = 0; i < items.size() && !rendering.failed(); ++i) {
    out += i ? ", " : "";
    appendRepr(rendering, out, items[i]);
  }
  if (open == '(' && items.size() == 1)
    out += ',';
  out += close;
}

static void appendDict(Rendering &rendering, std::string &out, const DictObject::Items &items) {
  out += '{';
  for (size_t i = 0; i < items.size() && !rendering.failed(); ++i) {
    out += i ? ", " : "";
    appendRepr(rendering, out, items[i].first);
    out += ": ";
    appendRepr(rendering, out, items[i].second);
  }
  out += '}';
}

static void appendView(Rendering &rendering, std::string &out, const Value &value) {
  static constexpr const char *names[] = {"dict_keys", "dict_values", "dict_items"};
  out += names[static_cast<int>(value.as<ViewObject>().of)];
  std::vector<Value> items;
  toItems(rendering, value, items);
  out += '(';
  appendList(rendering, out, items, '[', ']');
  out += ')';
}

static void appendRange(std::string &out, const RangeObject &range) {
  out += "range(" + std::to_string(range.start) + ", " + std::to_string(range.stop);
  out += range.step == 1 ? ")" : ", " + std::to_string(range.step) + ")";
}

static void appendNamespace(Rendering &rendering, std::string &out, const NamespaceObject &object) {
  out += "<Namespace {";
  const char *between = "";
  for (const auto &[name, value] : object.attributes) {
    out += between;
    appendQuoted(out, name);
    out += ": ";
    appendRepr(rendering, out, value);
    between = ", ";
  }
  out += "}>";
}

void appendRepr(Rendering &rendering, std::string &out, const Value &value) {
  Depth nested(rendering);
  // What is shared is printed each time, so the size may grow without end.
  if (!nested || !rendering.spend(1) || !rendering.allow(out.size()))
    return;
  switch (value.kind()) {
  case Kind::Undefined:
    out += "Undefined";
    break;
  case Kind::Text:
    rendering.spend(value.text().size() / 64);
    out += value.isMarkup() ? "Markup(" : "";
    appendQuoted(out, value.text());
    out += value.isMarkup() ? ")" : "";
    break;
  default:
    appendText(rendering, out, value);
  }
}

void appendText(Rendering &rendering, std::string &out, const Value &value) {
  switch (value.kind()) {
  case Kind::None:
    out += "None";
    break;
  case Kind::Bool:
    out += value.asInteger() ? "True" : "False";
    break;
  case Kind::Integer:
    out += std::to_string(value.asInteger());
    break;
  case Kind::Real:
    out += realText(value.asReal());
    break;
  case Kind::Undefined:
    break;
  case Kind::Text:
    if (rendering.spendBytes(value.text().size()))
      out += value.text();
    break;
  case Kind::List:
    appendList(rendering, out, value.items(), '[', ']');
    break;
  case Kind::Tuple:
    appendList(rendering, out, value.items(), '(', ')');
    break;
  case Kind::Dict:
    appendDict(rendering, out, value.as<DictObject>().items);
    break;
  case Kind::View:
    appendView(rendering, out, value);
    break;
  case Kind::Range:
    appendRange(out, value.as<RangeObject>());
    break;
  case Kind::Namespace:
    appendNamespace(rendering, out, value.as<NamespaceObject>());
    break;
  case Kind::Macro:
    out += "<Macro ";
    appendQuoted(out, value.as<MacroObject>().definition->signature->name);
    out += ">";
    break;
  case Kind::Loop:
    out += "<LoopContext " + std::to_string(value.as<LoopObject>().index + 1) + "/" +
           std::to_string(value.as<LoopObject>().items.size()) + ">";
    break;
  default: // Python would print an address
    rendering.fail(std::string(typeName(value)) + " cannot be printed" +
                   (value.is(Kind::Iterator) ? "; use the filter list, or join" : ""));
  }
}

std::string textOf(Rendering &rendering, const Value &value) {
  if (value.is(Kind::Text))
    return value.text();
  std::string text;
  appendText(rendering, text, value);
  return text;
}

namespace {

class JsonWriter {
public:
  JsonWriter(Rendering &rendering, std::string &out, const JsonStyle &style)
      : rendering(rendering), out(out), style(style) {}

  void write(const Value &value) {
    Depth nested(rendering);
    if (!nested || !rendering.spend(1) || !rendering.allow(out.size()))
      return;
    switch (value.kind()) {
    case Kind::None:
      out += "null";
      break;
    case Kind::Bool:
      out += value.asInteger() ? "true" : "false";
      break;
    case Kind::Integer:
    case Kind::Real:
      out += number(value);
      break;
    case Kind::Text:
      rendering.spend(value.text().size() / 64);
      appendJson(out, value.text(), style.asciiOnly);
      break;
    case Kind::List:
    case Kind::Tuple:
      writeList(value.items());
      break;
    case Kind::Dict:
      writeDict(value.as<DictObject>().items);
      break;
    default:
      rendering.fail(std::string("tojson: ") + typeName(value) + " is not JSON serializable");
    }
  }

private:
  static std::string number(const Value &value) {
    double real = value.asReal();
    if (value.isInteger())
      return std::to_string(value.asInteger());
    if (std::isnan(real))
      return "NaN";
    if (std::isinf(real))
      return real > 0 ? "Infinity" : "-Infinity";
    return realText(real);
  }

  void begin(char open) {
    out += open;
    ++level;
  }
  void next(bool isFirst) {
    if (!isFirst)
      out += style.between;
    newLine();
  }
  void end(char close) {
    --level;
    newLine();
    out += close;
  }
  void newLine() {
    if (!style.indent ||
        !rendering.allow(out.size() + style.indent->size() * static_cast<size_t>(level)))
      return;
    out += '\n';
    for (int i = 0; i < level; ++i)
      out += *style.indent;
  }

  void writeList(const std::vector<Value> &items) {
    if (items.empty()) {
      out += "[]";
      return;
    }
    begin('[');
    for (size_t i = 0; i < items.size() && !rendering.failed(); ++i) {
      next(i == 0);
      write(items[i]);
    }
    end(']');
  }

  std::string keyText(const Value &key) {
    switch (key.kind()) {
    case Kind::Text:
      return key.text();
    case Kind::None:
      return "null";
    case Kind::Bool:
      return key.asInteger() ? "true" : "false";
    case Kind::Integer:
    case Kind::Real:
      return number(key);
    default:
      rendering.fail(std::string("tojson: ") + typeName(key) + " can be no key in JSON");
      return "";
    }
  }

  void writeDict(const DictObject::Items &items) {
    if (items.empty()) {
      out += "{}";
      return;
    }
    std::vector<const std::pair<Value, Value> *> order;
    for (const auto &pair : items)
      order.push_back(&pair);
    if (style.sortKeys) {
      bool isText = std::all_of(items.begin(), items.end(),
                                [](const auto &one) { return one.first.is(Kind::Text); });
      if (!isText) {
        rendering.fail("tojson: sort_keys expects keys that are texts");
        return;
      }
      std::sort(order.begin(), order.end(), [](const auto *left, const auto *right) {
        return left->first.text() < right->first.text();
      });
    }
    begin('{');
    for (size_t i = 0; i < order.size() && !rendering.failed(); ++i) {
      next(i == 0);
      appendJson(out, keyText(order[i]->first), style.asciiOnly);
      out += style.behindKey;
      write(order[i]->second);
    }
    end('}');
  }

  Rendering &rendering;
  std::string &out;
  const JsonStyle &style;
  int level = 0;
};

/// RFC 8259, and of a key given twice the last.
class JsonReader {
public:
  JsonReader(Rendering &rendering, std::string_view json) : rendering(rendering), json(json) {}

  bool run(Value &value) {
    value = read();
    skipSpace();
    if (error.empty() && at < json.size())
      fail("expects the end");
    return error.empty() && !rendering.failed();
  }

  std::string error;

private:
  Value fail(const std::string &message) {
    if (error.empty())
      error = message + " at byte " + std::to_string(at);
    at = json.size();
    return {};
  }

  void skipSpace() {
    while (at < json.size() &&
           (json[at] == ' ' || json[at] == '\n' || json[at] == '\r' || json[at] == '\t'))
      ++at;
  }
  bool take(char c) {
    skipSpace();
    bool found = at < json.size() && json[at] == c;
    at += found;
    return found;
  }
  bool takeWord(std::string_view word) {
    bool found = json.substr(at, word.size()) == word;
    at += found ? word.size() : 0;
    return found;
  }

  Value read() {
    Depth nested(rendering);
    if (!nested)
      return fail("nested too deep");
    skipSpace();
    if (take('{'))
      return readObject();
    if (take('['))
      return readArray();
    if (at < json.size() && json[at] == '"')
      return readText();
    if (takeWord("null"))
      return Value::none();
    if (takeWord("true"))
      return Value::boolean(true);
    if (takeWord("false"))
      return Value::boolean(false);
    return readNumber();
  }

  Value readObject() {
    DictObject::Items items;
    if (take('}'))
      return rendering.makeDict({});
    do {
      skipSpace();
      if (at >= json.size() || json[at] != '"')
        return fail("expects a key");
      Value key = readText();
      if (!take(':'))
        return fail("expects ':'");
      items.emplace_back(std::move(key), read());
      if (!error.empty() || rendering.failed())
        return {};
    } while (take(','));
    if (!take('}'))
      return fail("expects ',' or '}'");
    return rendering.makeDict(std::move(items));
  }

  Value readArray() {
    std::vector<Value> items;
    if (take(']'))
      return rendering.makeList({});
    do {
      items.push_back(read());
      if (!error.empty() || rendering.failed())
        return {};
    } while (take(','));
    if (!take(']'))
      return fail("expects ',' or ']'");
    return rendering.makeList(std::move(items));
  }

  Value readNumber() {
    size_t end = at;
    while (end < json.size() &&
           (std::string_view("+-.eE").find(json[end]) != std::string_view::npos ||
            (json[end] >= '0' && json[end] <= '9')))
      ++end;
    std::string text(json.substr(at, end - at));
    const char *begin = text.data(), *last = begin + text.size();
    bool isInteger = text.find_first_of(".eE") == std::string::npos;
    int64_t integer = 0;
    double real = 0;
    std::from_chars_result result =
        isInteger ? std::from_chars(begin, last, integer) : std::from_chars(begin, last, real);
    if (text.empty() || text[0] == '+' || result.ec != std::errc() || result.ptr != last)
      return fail("expects a value of JSON with numbers of at most 64 bits");
    at = end;
    return isInteger ? Value::integer(integer) : Value::real(real);
  }

  Value readText() {
    ++at;
    std::string text;
    while (at < json.size() && json[at] != '"') {
      if (static_cast<unsigned char>(json[at]) < 0x20)
        return fail("a text holds a control character");
      if (json[at] != '\\')
        text += json[at++];
      else if (!readEscape(text))
        return fail("a text has a wrong escape");
    }
    if (at >= json.size())
      return fail("a text has no end");
    ++at;
    if (!isUtf8(text))
      return fail("a text is no UTF-8");
    return rendering.makeText(std::move(text));
  }

  int64_t readUnit() {
    uint32_t unit = 0;
    if (json.size() - at < 4)
      return -1;
    auto [end, code] = std::from_chars(json.data() + at, json.data() + at + 4, unit, 16);
    if (code != std::errc() || end != json.data() + at + 4)
      return -1;
    at += 4;
    return unit;
  }

  bool readEscape(std::string &text) {
    static constexpr std::string_view letters = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
    ++at;
    if (at >= json.size())
      return false;
    char c = json[at++];
    if (size_t place = letters.find(c); place != std::string_view::npos) {
      text += meanings[place];
      return true;
    }
    int64_t unit = c == 'u' ? readUnit() : -1;
    if (unit >= 0xD800 && unit < 0xDC00) {
      int64_t low = takeWord("\\u") ? readUnit() : -1;
      unit = low >= 0xDC00 && low < 0xE000 ? 0x10000 + ((unit - 0xD800) << 10) + low - 0xDC00 : -1;
    } else if (unit >= 0xDC00 && unit < 0xE000) {
      return false;
    }
    if (unit < 0)
      return false;
    appendUtf8(text, static_cast<uint32_t>(unit));
    return true;
  }

  Rendering &rendering;
  std::string_view json;
  size_t at = 0;
};

} // namespace

void appendJson(Rendering &rendering, std::string &out, const Value &value,
                const JsonStyle &style) {
  JsonWriter(rendering, out, style).write(value);
}

bool readJson(Rendering &rendering, std::string_view json, Value &value, std::string &error) {
  JsonReader reader(rendering, json);
  bool done = reader.run(value);
  error = reader.error;
  return done;
}

} // namespace fovea::jinja
