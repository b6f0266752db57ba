// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic, as Python does it, of 64-bit integers: what needs more is an error. See Operators.h.
#include "runtime/template/Operators.h"
#include "runtime/template/Text.h"

#include <cmath>

namespace fovea::jinja {

static Value overflow(Rendering &rendering) {
  return rendering.fail("an integer has more than 64 bits");
}

static Value wrongTypes(Rendering &rendering, const std::string &operation, const Value &left,
                        const Value &right) {
  if (left.isUndefined() || right.isUndefined())
    return rendering.failUndefined(left.isUndefined() ? left : right);
  return rendering.fail("'" + operation + "' is not known for " + typeName(left) + " and " +
                        typeName(right));
}

/// The integer power of a positive exponent.
static bool raise(int64_t base, int64_t exponent, int64_t &result) {
  result = 1;
  bool fits = true;
  while (exponent > 0 && fits) {
    if (exponent & 1)
      fits = !__builtin_mul_overflow(result, base, &result);
    exponent >>= 1;
    if (exponent > 0 && fits)
      fits = !__builtin_mul_overflow(base, base, &base);
  }
  return fits;
}

static Value calculateIntegers(Rendering &rendering, const std::string &operation, int64_t left,
                               int64_t right) {
  int64_t result = 0;
  bool fits = true;
  if (operation == "+")
    fits = !__builtin_add_overflow(left, right, &result);
  else if (operation == "-")
    fits = !__builtin_sub_overflow(left, right, &result);
  else if (operation == "*")
    fits = !__builtin_mul_overflow(left, right, &result);
  else if (operation == "**")
    fits = raise(left, right, result);
  else if (right == 0)
    return rendering.fail("division by zero");
  else if (right == -1) // of which / overflows
    fits = operation == "%" || !__builtin_sub_overflow(0, left, &result);
  else {
    int64_t rest = left % right;
    bool isBelow = rest != 0 && (rest < 0) != (right < 0);
    result = operation == "%" ? rest + (isBelow ? right : 0) : left / right - isBelow;
  }
  return fits ? Value::integer(result) : overflow(rendering);
}

/// As `divmod` of floats: the rest has the divisor's sign.
static void divide(double left, double right, double &quotient, double &rest) {
  rest = std::fmod(left, right);
  quotient = (left - rest) / right;
  if (rest != 0) {
    if ((right < 0) != (rest < 0)) {
      rest += right;
      quotient -= 1;
    }
  } else {
    rest = std::copysign(0.0, right);
  }
  if (quotient == 0) {
    quotient = std::copysign(0.0, left / right);
    return;
  }
  double floor = std::floor(quotient);
  quotient = quotient - floor > 0.5 ? floor + 1 : floor;
}

static Value calculateReals(Rendering &rendering, const std::string &operation, double left,
                            double right) {
  if (operation == "+")
    return Value::real(left + right);
  if (operation == "-")
    return Value::real(left - right);
  if (operation == "*")
    return Value::real(left * right);
  if (operation == "**") {
    if (left == 0 && right < 0)
      return rendering.fail("0 cannot be raised to a negative power");
    if (left < 0 && std::isfinite(left) && std::isfinite(right) && right != std::floor(right))
      return rendering.fail("a root of a negative number is not supported");
    double result = std::pow(left, right);
    if (std::isinf(result) && std::isfinite(left) && std::isfinite(right))
      return rendering.fail("a power is too large");
    return Value::real(result);
  }
  if (right == 0)
    return rendering.fail("division by zero");
  if (operation == "/")
    return Value::real(left / right);
  double quotient = 0, rest = 0;
  divide(left, right, quotient, rest);
  return Value::real(operation == "%" ? rest : quotient);
}

static Value repeat(Rendering &rendering, const Value &value, int64_t count) {
  uint64_t size = value.is(Kind::Text) ? value.text().size() : value.items().size() * sizeof(Value);
  uint64_t times = count < 0 ? 0 : static_cast<uint64_t>(count), bytes = 0;
  if (__builtin_mul_overflow(size, times, &bytes))
    bytes = UINT64_MAX;
  if (!rendering.spendBytes(bytes))
    return {};
  if (size == 0)
    times = 0;
  if (value.is(Kind::Text)) {
    std::string text;
    text.reserve(bytes);
    for (uint64_t i = 0; i < times; ++i)
      text += value.text();
    return rendering.makeText(std::move(text), value.isMarkup());
  }
  std::vector<Value> items;
  items.reserve(size ? bytes / sizeof(Value) : 0);
  for (uint64_t i = 0; i < times; ++i)
    items.insert(items.end(), value.items().begin(), value.items().end());
  return value.is(Kind::List) ? rendering.makeList(std::move(items))
                              : rendering.makeTuple(std::move(items));
}

static Value join(Rendering &rendering, const Value &left, const Value &right) {
  if (left.is(Kind::Text)) {
    if (!rendering.spendBytes(left.text().size() + right.text().size()))
      return {};
    if (left.isMarkup() == right.isMarkup())
      return rendering.makeText(left.text() + right.text(), left.isMarkup());
    auto escaped = [](const Value &text) {
      return text.isMarkup() ? text.text() : escapeHtml(text.text());
    };
    return rendering.makeText(escaped(left) + escaped(right), true);
  }
  if (!rendering.spendBytes((left.items().size() + right.items().size()) * sizeof(Value)))
    return {};
  std::vector<Value> items = left.items();
  items.insert(items.end(), right.items().begin(), right.items().end());
  return left.is(Kind::List) ? rendering.makeList(std::move(items))
                             : rendering.makeTuple(std::move(items));
}

Value calculate(Rendering &rendering, const std::string &operation, const Value &left,
                const Value &right) {
  if (left.isNumber() && right.isNumber()) {
    bool isReal = left.is(Kind::Real) || right.is(Kind::Real) || operation == "/" ||
                  (operation == "**" && right.asInteger() < 0);
    return isReal ? calculateReals(rendering, operation, left.asReal(), right.asReal())
                  : calculateIntegers(rendering, operation, left.asInteger(), right.asInteger());
  }
  bool isText = left.is(Kind::Text), isJoinable = isText || left.isSequence();
  if (operation == "+" && isJoinable && left.kind() == right.kind())
    return join(rendering, left, right);
  if (operation == "*" && isJoinable && right.isInteger())
    return repeat(rendering, left, right.asInteger());
  if (operation == "*" && left.isInteger() && (right.is(Kind::Text) || right.isSequence()))
    return repeat(rendering, right, left.asInteger());
  if (operation == "%" && isText)
    return formatText(rendering, left.text(), right);
  return wrongTypes(rendering, operation, left, right);
}

Value negate(Rendering &rendering, const Value &value, bool isNegative) {
  if (rendering.failed())
    return {};
  if (value.is(Kind::Real))
    return Value::real(isNegative ? -value.asReal() : value.asReal());
  if (!value.isInteger())
    return value.isUndefined()
               ? rendering.failUndefined(value)
               : rendering.fail(std::string("expects a number behind a sign, got ") +
                                typeName(value));
  int64_t result = value.asInteger();
  if (isNegative && __builtin_sub_overflow(0, result, &result))
    return overflow(rendering);
  return Value::integer(result);
}

} // namespace fovea::jinja
