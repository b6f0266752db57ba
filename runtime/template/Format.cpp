// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `%` of texts and `str.format`, and texts as numbers; see Operators.h. Widths are at most 1,000.
#include "runtime/template/Operators.h"
#include "runtime/template/Text.h"
#include "runtime/tokenizer/Utf8.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace fovea::jinja {

std::optional<int64_t> parseInteger(std::string_view text, int64_t base) {
  text = stripText(text, true, true);
  bool isNegative = !text.empty() && text[0] == '-';
  if (!text.empty() && (text[0] == '-' || text[0] == '+'))
    text.remove_prefix(1);
  if (text.size() > 2 && text[0] == '0') {
    int64_t named = (text[1] | 0x20) == 'x'   ? 16
                    : (text[1] | 0x20) == 'o' ? 8
                    : (text[1] | 0x20) == 'b' ? 2
                                              : 0;
    if (named && (base == 0 || base == named)) {
      base = named;
      text.remove_prefix(text[2] == '_' ? 3 : 2);
    }
  }
  if (base == 0) {
    if (text.size() > 1 && text[0] == '0' && text.find_first_not_of("0_") != std::string::npos)
      return std::nullopt;
    base = 10;
  }
  std::string digits = isNegative ? "-" : "";
  for (size_t i = 0; i < text.size(); ++i) {
    bool isBetween = text[i] == '_' && i > 0 && i + 1 < text.size() && text[i - 1] != '_';
    if (!isBetween)
      digits += text[i];
  }
  int64_t value = 0;
  auto [end, code] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, static_cast<int>(base));
  bool isWhole = code == std::errc() && end == digits.data() + digits.size();
  return isWhole && !text.empty() && text[0] != '-' ? std::optional<int64_t>(value) : std::nullopt;
}

std::optional<double> parseReal(std::string_view text) {
  text = stripText(text, true, true);
  std::string digits;
  for (size_t i = 0; i < text.size(); ++i) {
    auto isDigit = [&](size_t at) { return text[at] >= '0' && text[at] <= '9'; };
    bool isBetween =
        text[i] == '_' && i > 0 && i + 1 < text.size() && isDigit(i - 1) && isDigit(i + 1);
    if (!isBetween)
      digits += text[i];
  }
  if (!digits.empty() && digits[0] == '+')
    digits.erase(0, 1);
  if (digits.empty() || digits[0] == '+')
    return std::nullopt;
  double value = 0;
  auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (end != digits.data() + digits.size() || digits.find('(') != std::string::npos)
    return std::nullopt;
  if (code == std::errc::result_out_of_range)
    return std::strtod(digits.c_str(), nullptr);
  return code == std::errc() ? std::optional<double>(value) : std::nullopt;
}

namespace {

constexpr int64_t mostWidth = 1000;

/// How one value is written: of `%` and of braces alike.
struct Spec {
  char type = 0;
  char align = 0; ///< one of < > ^ =; 0: by the type
  std::string fill = " ";
  std::string sign; ///< "+" or " "
  bool alternate = false, grouped = false;
  int64_t width = 0, precision = -1;
};

std::string groupDigits(std::string digits) {
  for (auto at = static_cast<ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<size_t>(at), ",");
  return digits;
}

std::string integerDigits(int64_t value, const Spec &spec) {
  uint64_t size = value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  char text[80];
  int base = spec.type == 'x' || spec.type == 'X' ? 16
             : spec.type == 'o'                   ? 8
             : spec.type == 'b'                   ? 2
                                                  : 10;
  auto [end, code] = std::to_chars(text, text + sizeof text, size, base);
  std::string digits(text, end);
  if (spec.type == 'X')
    digits = toUpper(digits);
  return spec.grouped && base == 10 ? groupDigits(digits) : digits;
}

std::string realDigits(double value, const Spec &spec) {

  std::string text = spec.alternate ? "%#.*" : "%.*";
  text += spec.type == '%' ? 'f' : spec.type;

  char digits[1500];
  int precision = spec.precision < 0 ? 6 : static_cast<int>(spec.precision);
  double size = std::fabs(spec.type == '%' ? value * 100 : value);
  std::snprintf(digits, sizeof digits, text.c_str(), precision, size);
  std::string out = digits;
  if (spec.grouped) {
    size_t whole = std::min(out.find_first_not_of("0123456789"), out.size());
    out = groupDigits(out.substr(0, whole)) + out.substr(whole);
  }
  return out + (spec.type == '%' ? "%" : "");
}

std::string pad(std::string sign, std::string body, const Spec &spec, char align) {
  auto length = static_cast<int64_t>(countCharacters(sign) + countCharacters(body));
  int64_t space = std::max<int64_t>(spec.width - length, 0), left = 0;
  if (align == '>')
    left = space;
  else if (align == '^')
    left = space / 2;
  std::string before, after;
  for (int64_t i = 0; i < space; ++i)
    (align == '=' || i < left ? before : after) += spec.fill;
  return align == '=' ? sign + before + body : before + sign + body + after;
}

} // namespace

/// A number by its specification; false if the type is none of a number.
static bool formatNumber(Rendering &rendering, const Value &value, const Spec &spec,
                         std::string &out) {
  bool isInteger = std::string_view("dixXob").find(spec.type) != std::string_view::npos;
  if (!isInteger && std::string_view("fFeEgG%").find(spec.type) == std::string_view::npos)
    return false;
  if (!value.isNumber()) {
    rendering.fail(std::string("format: expects a number, got ") + typeName(value));
    return true;
  }
  double real = value.asReal();
  if (isInteger && !value.isInteger()) {
    bool takesReal = spec.type == 'd' || spec.type == 'i';
    if (!takesReal || !(std::fabs(real) < 0x1p63)) {
      rendering.fail(takesReal ? "format: an integer has more than 64 bits"
                               : "format: expects an integer, got float");
      return true;
    }
  }
  int64_t integer = value.isInteger() ? value.asInteger()
                    : isInteger       ? static_cast<int64_t>(real)
                                      : 0;
  bool isNegative = isInteger ? integer < 0 : std::signbit(real) && !std::isnan(real);
  std::string sign = isNegative ? "-" : spec.sign;
  if (isInteger && spec.alternate && spec.type != 'd' && spec.type != 'i')
    sign += std::string("0") + spec.type;
  std::string digits = isInteger ? integerDigits(integer, spec) : realDigits(real, spec);
  if (isInteger && spec.precision > static_cast<int64_t>(digits.size()))
    digits.insert(0, static_cast<size_t>(spec.precision) - digits.size(), '0');
  out += pad(sign, digits, spec, spec.align ? spec.align : '>');
  return true;
}

static std::string cutText(std::string text, const Spec &spec) {
  if (spec.precision >= 0)
    text.resize(byteOfCharacter(text, static_cast<size_t>(spec.precision)));
  return text;
}

namespace {

/// `format % values`.
class PercentFormat {
public:
  PercentFormat(Rendering &rendering, const std::string &format, const Value &values)
      : rendering(rendering), format(format), values(values) {}

  Value run() {
    while (at < format.size() && !rendering.failed()) {
      if (format[at] != '%') {
        out += format[at++];
        continue;
      }
      ++at;
      convert();
      rendering.spendBytes(64);
      rendering.allow(out.size());
    }
    // What can be asked for an item counts as a dict for Python, which need not be used.
    bool isMapping = values.is(Kind::Dict) || values.is(Kind::List) || values.is(Kind::Range) ||
                     values.isUndefined();
    if (!rendering.failed() && next < count() && !isMapping)
      rendering.fail("format: not all values are used");
    return rendering.failed() ? Value() : rendering.makeText(std::move(out));
  }

private:
  size_t count() const { return values.is(Kind::Tuple) ? values.items().size() : 1; }

  Value take() {
    if (next >= count()) {
      rendering.fail("format: expects more values");
      return {};
    }
    return values.is(Kind::Tuple) ? values.items()[next++] : (++next, values);
  }

  int64_t number() {
    if (at < format.size() && format[at] == '*') {
      ++at;
      Value value = take();
      if (!value.isInteger())
        rendering.fail("format: expects an integer for *");
      return rendering.failed() ? 0 : value.asInteger();
    }
    int64_t result = 0;
    while (at < format.size() && format[at] >= '0' && format[at] <= '9' && result <= mostWidth)
      result = result * 10 + (format[at++] - '0');
    return result;
  }

  void convert() {
    Spec spec;
    Value named;
    bool isNamed = at < format.size() && format[at] == '(';
    if (isNamed) {
      size_t end = format.find(')', at);
      if (end == std::string::npos || !values.is(Kind::Dict)) {
        rendering.fail("format: expects a dict for a name in brackets");
        return;
      }
      const Value *found = values.as<DictObject>().find("s" + format.substr(at + 1, end - at - 1));
      if (!found) {
        rendering.fail("format: '" + format.substr(at + 1, end - at - 1) + "' is missing");
        return;
      }
      named = *found;
      at = end + 1;
    }
    bool isZero = false;
    for (;
         at < format.size() && std::string_view("-+ #0").find(format[at]) != std::string_view::npos;
         ++at) {
      if (format[at] == '-')
        spec.align = '<';
      if (format[at] == '+' || (format[at] == ' ' && spec.sign.empty()))
        spec.sign = format[at];
      spec.alternate |= format[at] == '#';
      isZero |= format[at] == '0';
    }
    spec.width = number();
    if (at < format.size() && format[at] == '.') {
      ++at;
      spec.precision = number();
    }
    if (spec.width < 0) { // of *
      spec.align = '<';
      spec.width = -spec.width;
    }
    if (at >= format.size() || spec.width > mostWidth || spec.precision > mostWidth) {
      rendering.fail("format: a conversion has no type, or is wider than 1000");
      return;
    }
    spec.type = format[at++];
    if (isZero && spec.align != '<') {
      spec.fill = "0";
      spec.align = '=';
    }
    write(spec, isNamed, named);
  }

  void write(Spec &spec, bool isNamed, const Value &named) {
    if (spec.type == '%') {
      out += '%';
      return;
    }
    if (spec.type == 'u')
      spec.type = 'd';
    if (spec.type == 'u' ||
        std::string_view("srdixXofFeEgGc").find(spec.type) == std::string_view::npos) {
      rendering.fail(std::string("format: conversion %") + spec.type + " is not supported");
      return;
    }
    Value value = isNamed ? named : take();
    if (rendering.failed() || formatNumber(rendering, value, spec, out))
      return;
    std::string text;
    if (spec.type == 'r')
      appendRepr(rendering, text, value);
    else if (spec.type == 's')
      appendText(rendering, text, value);
    else if (value.is(Kind::Text) && lengthOf(value) == 1)
      text = value.text();
    else if (value.isInteger() && value.asInteger() >= 0 && value.asInteger() < 0xD800)
      appendUtf8(text, static_cast<uint32_t>(value.asInteger()));
    else
      rendering.fail("format: expects a character for %c");
    spec.fill = " ";
    char align = spec.align == '<' ? '<' : '>';
    out += pad("", cutText(std::move(text), spec), spec, align);
  }

  Rendering &rendering;
  const std::string &format;
  const Value &values;
  std::string out;
  size_t at = 0, next = 0;
};

/// `format.format(...)`.
class BraceFormat {
public:
  BraceFormat(Rendering &rendering, const std::string &format, const Arguments &arguments)
      : rendering(rendering), format(format), arguments(arguments) {}

  Value run() {
    while (at < format.size() && !rendering.failed()) {
      char c = format[at++];
      bool isDouble = at < format.size() && format[at] == c;
      if (c != '{' && c != '}')
        out += c;
      else if (isDouble)
        out += format[at++];
      else if (c == '}')
        rendering.fail("format: single '}'");
      else
        field();
      rendering.allow(out.size());
    }
    return rendering.failed() ? Value() : rendering.makeText(std::move(out));
  }

private:
  void field() {
    size_t end = format.find('}', at);
    std::string text = format.substr(at, end == std::string::npos ? 0 : end - at);
    if (end == std::string::npos || text.find('{') != std::string::npos) {
      rendering.fail("format: expects '}', and no fields in fields");
      return;
    }
    at = end + 1;
    size_t colon = text.find(':');
    std::string spec = colon == std::string::npos ? "" : text.substr(colon + 1);
    text = text.substr(0, colon);
    size_t mark = text.find('!');
    std::string conversion = mark == std::string::npos ? "" : text.substr(mark + 1);
    Value value = find(text.substr(0, mark));
    if (rendering.failed())
      return;
    if (conversion == "s" || conversion == "r") {
      std::string made;
      conversion == "r" ? appendRepr(rendering, made, value) : appendText(rendering, made, value);
      value = rendering.makeText(std::move(made));
    } else if (!conversion.empty() || mark != std::string::npos) {
      rendering.fail("format: conversion '!" + conversion + "' is not supported");
    }
    rendering.spend(4);
    if (!rendering.failed())
      write(value, spec);
  }

  /// "name.attribute[item]"
  Value find(const std::string &path) {
    size_t end = std::min(path.find_first_of(".["), path.size());
    Value value = first(path.substr(0, end));
    while (end < path.size() && !rendering.failed()) {
      bool isItem = path[end] == '[';
      size_t stop = isItem ? path.find(']', end) : path.find_first_of(".[", end + 1);
      if (isItem && stop == std::string::npos) {
        rendering.fail("format: expects ']'");
        break;
      }
      std::string part = path.substr(end + 1, stop == std::string::npos ? stop : stop - end - 1);
      std::optional<int64_t> place =
          !part.empty() && part.find_first_not_of("0123456789") == std::string::npos
              ? parseInteger(part, 10)
              : std::nullopt;
      value = !isItem ? rendering.getAttribute(value, part)
                      : rendering.getItem(value, place ? Value::integer(*place)
                                                       : rendering.makeText(part));
      end = stop == std::string::npos ? path.size() : stop + isItem;
    }
    return value;
  }

  Value first(const std::string &name) {
    std::optional<int64_t> place = parseInteger(name, 10);
    if (name.empty())
      place = next++;
    if (place) {
      if (*place >= 0 && static_cast<size_t>(*place) < arguments.positional.size())
        return arguments.positional[static_cast<size_t>(*place)];
      return rendering.fail("format: there is no argument " + std::to_string(*place));
    }
    for (const auto &[key, value] : arguments.keyword)
      if (key == name)
        return value;
    return rendering.fail("format: there is no argument '" + name + "'");
  }

  /// [[fill]align][sign][#][0][width][,][.precision][type]
  bool parse(const std::string &text, Spec &spec) {
    size_t place = 0, one = byteOfCharacter(text, 1);
    auto isAlign = [&](size_t i) {
      return i < text.size() && std::string_view("<>^=").find(text[i]) != std::string_view::npos;
    };
    if (isAlign(one)) {
      spec.fill = text.substr(0, one);
      spec.align = text[one];
      place = one + 1;
    } else if (isAlign(0)) {
      spec.align = text[0];
      place = 1;
    }
    auto take = [&](std::string_view set) {
      bool found = place < text.size() && set.find(text[place]) != std::string_view::npos;
      place += found;
      return found;
    };
    if (take("+- ") && text[place - 1] != '-')
      spec.sign = text[place - 1];
    spec.alternate = take("#");
    if (place < text.size() && text[place] == '0' && !spec.align) {
      spec.align = '=';
      spec.fill = "0";
    }
    auto number = [&] {
      int64_t result = 0;
      while (place < text.size() && text[place] >= '0' && text[place] <= '9' && result <= mostWidth)
        result = result * 10 + (text[place++] - '0');
      return result;
    };
    spec.width = number();
    spec.grouped = take(",");
    if (take("."))
      spec.precision = number();
    if (place < text.size())
      spec.type = text[place++];
    return place == text.size() && spec.width <= mostWidth && spec.precision <= mostWidth;
  }

  void write(const Value &value, const std::string &text) {
    Spec spec;
    if (!text.empty() && !value.isNumber() && !value.is(Kind::Text)) {
      rendering.fail(std::string("format: a specification for ") + typeName(value));
      return;
    }
    if (!parse(text, spec)) {
      rendering.fail("format: specification '" + text.substr(0, 40) + "' is not supported");
      return;
    }
    if (value.isNumber() && !text.empty()) {
      if (!spec.type && value.is(Kind::Integer))
        spec.type = 'd';
      if (!spec.type || spec.type == 'i' || (spec.type == 'd' && !value.isInteger()) ||
          !formatNumber(rendering, value, spec, out))
        rendering.fail("format: specification '" + text.substr(0, 40) +
                       "' is not supported for a number");
      return;
    }
    if ((spec.type && spec.type != 's') || spec.align == '=' || spec.grouped || spec.alternate ||
        !spec.sign.empty()) {
      rendering.fail("format: specification '" + text.substr(0, 40) + "' is none of a text");
      return;
    }
    std::string body;
    appendText(rendering, body, value);
    out += pad("", cutText(std::move(body), spec), spec, spec.align ? spec.align : '<');
  }

  Rendering &rendering;
  const std::string &format;
  const Arguments &arguments;
  std::string out;
  size_t at = 0;
  int64_t next = 0;
};

} // namespace

Value formatText(Rendering &rendering, const std::string &format, const Value &values) {
  return rendering.spendBytes(format.size()) ? PercentFormat(rendering, format, values).run()
                                             : Value();
}

Value formatBraces(Rendering &rendering, const std::string &format, const Arguments &arguments) {
  return rendering.spendBytes(format.size()) ? BraceFormat(rendering, format, arguments).run()
                                             : Value();
}

} // namespace fovea::jinja
