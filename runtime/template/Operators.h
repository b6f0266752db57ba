// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What Python's operators and conversions do to values. What Python raises a TypeError for fails
// the rendering.
#ifndef FOVEA_RUNTIME_TEMPLATE_OPERATORS_H
#define FOVEA_RUNTIME_TEMPLATE_OPERATORS_H

#include "runtime/template/Rendering.h"

namespace fovea::jinja {

bool isTrue(const Value &value);
bool areEqual(Rendering &rendering, const Value &left, const Value &right);
/// left < right.
bool isLess(Rendering &rendering, const Value &left, const Value &right);
/// "==", "!=", "<", "<=", ">", ">=", "in" or "not in".
bool compare(Rendering &rendering, const std::string &operation, const Value &left,
             const Value &right);
bool contains(Rendering &rendering, const Value &container, const Value &value);

/// "+", "-", "*", "/", "//", "%" or "**".
Value calculate(Rendering &rendering, const std::string &operation, const Value &left,
                const Value &right);
Value negate(Rendering &rendering, const Value &value, bool isNegative);

/// What a loop goes through; an iterator is at its end then.
bool toItems(Rendering &rendering, const Value &value, std::vector<Value> &items);
bool isIterable(const Value &value);
/// -1 for what has no length.
int64_t lengthOf(const Value &value);
Value slice(Rendering &rendering, const Value &value, const Value *start, const Value *stop,
            const Value *step);

/// As `str` and `repr` print.
void appendText(Rendering &rendering, std::string &out, const Value &value);
void appendRepr(Rendering &rendering, std::string &out, const Value &value);
std::string textOf(Rendering &rendering, const Value &value);

/// As json.dumps does it.
struct JsonStyle {
  bool asciiOnly = false, sortKeys = false;
  std::optional<std::string> indent;
  std::string between = ", ", behindKey = ": ";
};
void appendJson(Rendering &rendering, std::string &out, const Value &value, const JsonStyle &style);
/// False if it is no JSON, or holds numbers or nesting beyond bounds; `error` says where.
bool readJson(Rendering &rendering, std::string_view json, Value &value, std::string &error);

/// `format % values`, for the conversions s, r, a, d, i, u, f, F, e, E, g, G, x, X, o, c and %.
Value formatText(Rendering &rendering, const std::string &format, const Value &values);
/// As `str.format` and `format_map`, without format specifications but those of numbers and widths.
Value formatBraces(Rendering &rendering, const std::string &format, const Arguments &arguments);

/// As `int(text, base)` and `float(text)`.
std::optional<int64_t> parseInteger(std::string_view text, int64_t base);
std::optional<double> parseReal(std::string_view text);

} // namespace fovea::jinja

#endif // FOVEA_RUNTIME_TEMPLATE_OPERATORS_H
