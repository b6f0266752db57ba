// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operators that work element by element: arithmetic, comparisons, logic, casts. One rule makes the
// code of an element, one computes it where elements are known; sizes are computed so. Activations
// have a file of their own.
#include "frontend/ONNX/Importer.h"

#include <cmath>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::onnx;

namespace {

/// An operator of two operands of one type.
struct Binary {
  StringRef name;
  Value (*real)(ImplicitLocOpBuilder &, Value, Value);
  Value (*integer)(ImplicitLocOpBuilder &, Value, Value, bool isUnsigned);
  double (*foldReal)(double, double);
  Sym (*foldInteger)(Symbols &, Sym, Sym);
};

template <typename RealOp> Value makeReal(ImplicitLocOpBuilder &b, Value x, Value y) {
  return RealOp::create(b, x, y);
}

template <typename SignedOp, typename UnsignedOp = SignedOp>
Value makeInteger(ImplicitLocOpBuilder &b, Value x, Value y, bool isUnsigned) {
  return isUnsigned ? UnsignedOp::create(b, x, y).getResult()
                    : SignedOp::create(b, x, y).getResult();
}

/// ONNX divides integers as C does.
Sym divideToZero(Symbols &s, Sym x, Sym y) {
  std::optional<int64_t> a = Symbols::known(x), c = Symbols::known(y);
  if (a && c)
    return *c == 0 || (*a == INT64_MIN && *c == -1) ? nullptr : s.constant(*a / *c);
  std::optional<int64_t> low = s.lowerBound(x), divisor = s.lowerBound(y);
  if (Sym exact = s.divideExactly(x, y))
    return exact;
  return low && *low >= 0 && divisor && *divisor > 0 ? s.floorDiv(x, y) : nullptr;
}

Sym powerOf(Symbols &s, Sym x, Sym y) {
  std::optional<int64_t> exponent = Symbols::known(y);
  if (!exponent || *exponent < 0 || *exponent > 64)
    return nullptr;
  Sym result = s.constant(1);
  for (int64_t i = 0; i < *exponent; ++i)
    result = s.mul(result, x);
  return result;
}

const Binary kBinaries[] = {
    {"Add", makeReal<arith::AddFOp>, makeInteger<arith::AddIOp>,
     [](double x, double y) { return x + y; },
     [](Symbols &s, Sym x, Sym y) { return s.add(x, y); }},
    {"Sub", makeReal<arith::SubFOp>, makeInteger<arith::SubIOp>,
     [](double x, double y) { return x - y; },
     [](Symbols &s, Sym x, Sym y) { return s.sub(x, y); }},
    {"Mul", makeReal<arith::MulFOp>, makeInteger<arith::MulIOp>,
     [](double x, double y) { return x * y; },
     [](Symbols &s, Sym x, Sym y) { return s.mul(x, y); }},
    {"Div", makeReal<arith::DivFOp>, makeInteger<arith::DivSIOp, arith::DivUIOp>,
     [](double x, double y) { return x / y; }, divideToZero},
    {"Max", makeReal<arith::MaximumFOp>, makeInteger<arith::MaxSIOp, arith::MaxUIOp>,
     [](double x, double y) { return std::isnan(x) || std::isnan(y) ? x + y : std::fmax(x, y); },
     [](Symbols &s, Sym x, Sym y) { return s.max(x, y); }},
    {"Min", makeReal<arith::MinimumFOp>, makeInteger<arith::MinSIOp, arith::MinUIOp>,
     [](double x, double y) { return std::isnan(x) || std::isnan(y) ? x + y : std::fmin(x, y); },
     [](Symbols &s, Sym x, Sym y) { return s.min(x, y); }},
    {"Pow", makeReal<math::PowFOp>, nullptr, [](double x, double y) { return std::pow(x, y); },
     powerOf},
    {"And", nullptr, makeInteger<arith::AndIOp>, nullptr,
     [](Symbols &s, Sym x, Sym y) { return s.mul(x, y); }},
    {"Or", nullptr, makeInteger<arith::OrIOp>, nullptr,
     [](Symbols &s, Sym x, Sym y) { return s.max(x, y); }},
    {"Xor", nullptr, makeInteger<arith::XOrIOp>, nullptr,
     [](Symbols &s, Sym x, Sym y) { return s.sub(s.constant(1), s.equal(x, y)); }},
    {"BitwiseAnd", nullptr, makeInteger<arith::AndIOp>, nullptr, nullptr},
    {"BitwiseOr", nullptr, makeInteger<arith::OrIOp>, nullptr, nullptr},
    {"BitwiseXor", nullptr, makeInteger<arith::XOrIOp>, nullptr, nullptr},
};

/// A comparison, which gives bools.
struct Comparison {
  StringRef name;
  arith::CmpFPredicate real;
  arith::CmpIPredicate integer, natural;
  bool (*foldReal)(double, double);
  Sym (*foldInteger)(Symbols &, Sym, Sym);
};

const Comparison kComparisons[] = {
    {"Equal", arith::CmpFPredicate::OEQ, arith::CmpIPredicate::eq, arith::CmpIPredicate::eq,
     [](double x, double y) { return x == y; },
     [](Symbols &s, Sym x, Sym y) { return s.equal(x, y); }},
    {"Less", arith::CmpFPredicate::OLT, arith::CmpIPredicate::slt, arith::CmpIPredicate::ult,
     [](double x, double y) { return x < y; },
     [](Symbols &s, Sym x, Sym y) { return s.less(x, y); }},
    {"LessOrEqual", arith::CmpFPredicate::OLE, arith::CmpIPredicate::sle, arith::CmpIPredicate::ule,
     [](double x, double y) { return x <= y; },
     [](Symbols &s, Sym x, Sym y) { return s.less(x, s.add(y, s.constant(1))); }},
    {"Greater", arith::CmpFPredicate::OGT, arith::CmpIPredicate::sgt, arith::CmpIPredicate::ugt,
     [](double x, double y) { return x > y; },
     [](Symbols &s, Sym x, Sym y) { return s.less(y, x); }},
    {"GreaterOrEqual", arith::CmpFPredicate::OGE, arith::CmpIPredicate::sge,
     arith::CmpIPredicate::uge, [](double x, double y) { return x >= y; },
     [](Symbols &s, Sym x, Sym y) { return s.less(y, s.add(x, s.constant(1))); }},
};

/// A float function of one operand that is one op of the IR.
struct Unary {
  StringRef name;
  Value (*real)(ImplicitLocOpBuilder &, Value);
  double (*fold)(double);
};

template <typename Op> Value makeUnary(ImplicitLocOpBuilder &b, Value x) {
  return Op::create(b, x);
}

const Unary kUnaries[] = {
    {"Abs", makeUnary<math::AbsFOp>, std::fabs},
    {"Acos", makeUnary<math::AcosOp>, std::acos},
    {"Acosh", makeUnary<math::AcoshOp>, std::acosh},
    {"Asin", makeUnary<math::AsinOp>, std::asin},
    {"Asinh", makeUnary<math::AsinhOp>, std::asinh},
    {"Atan", makeUnary<math::AtanOp>, std::atan},
    {"Atanh", makeUnary<math::AtanhOp>, std::atanh},
    {"Ceil", makeUnary<math::CeilOp>, std::ceil},
    {"Cos", makeUnary<math::CosOp>, std::cos},
    {"Cosh", makeUnary<math::CoshOp>, std::cosh},
    {"Erf", makeUnary<math::ErfOp>, std::erf},
    {"Exp", makeUnary<math::ExpOp>, std::exp},
    {"Floor", makeUnary<math::FloorOp>, std::floor},
    {"Log", makeUnary<math::LogOp>, std::log},
    {"Neg", makeUnary<arith::NegFOp>, [](double x) { return -x; }},
    {"Round", makeUnary<math::RoundEvenOp>, std::nearbyint},
    {"Sin", makeUnary<math::SinOp>, std::sin},
    {"Sinh", makeUnary<math::SinhOp>, std::sinh},
    {"Sqrt", makeUnary<math::SqrtOp>, std::sqrt},
    {"Tan", makeUnary<math::TanOp>, std::tan},
};

} // namespace

//===-- By the tables ------------------------------------------------------------------------===//

static std::optional<Element> integerResult(Sym result) {
  return result ? std::optional<Element>(Element{result, 0}) : std::nullopt;
}

/// An integer power of a known exponent; negative ones and open ones are not supported.
static FailureOr<Data *> integerPower(Importer &im, Data *x, Data *y) {
  std::optional<double> exponent = im.realOf(*y);
  // Open ones through f64, which holds what 53 bits do.
  if (!exponent)
    return im.cast(*im.binary("Pow", im.cast(*x, DataType::Double), im.cast(*y, DataType::Double)),
                   x->type);
  if (!exponent || *exponent < 0 || *exponent > 64 || *exponent != std::floor(*exponent))
    return im.unsupported("integer powers with exponents that are no constants from 0 to 64");
  Data *result = im.makeInteger(x->type, 1);
  for (int i = 0; i < *exponent; ++i)
    result = im.binary("Mul", result, x);
  return im.expand(*result, x->shape);
}

static FailureOr<Data *> buildBinary(Importer &im, const Binary &rule, Data *x, Data *y) {
  if (rule.name == "Pow" && x->type != y->type) {
    if (!isFloat(x->type))
      return integerPower(im, x, im.cast(*y, DataType::Double));
    y = im.cast(*y, x->type);
  }
  if (rule.name == "Pow" && !isFloat(x->type))
    return integerPower(im, x, y);
  if (x->type != y->type)
    return im.invalid("expects operands of one element type, got " + nameOf(x->type) + " and " +
                      nameOf(y->type));
  bool real = isFloat(x->type);
  if (real ? !rule.real : !rule.integer)
    return im.invalid("expects operands of another element type, got " + nameOf(x->type));
  // Small whole exponents are products: exact, and what raising knows.
  if (rule.name == "Pow")
    if (std::optional<double> exponent = im.realOf(*y)) {
      if (*exponent == 2)
        return im.elementwise(
            x->type, {x},
            [](ImplicitLocOpBuilder &b, ValueRange v) {
              return arith::MulFOp::create(b, v[0], v[0]).getResult();
            },
            true);
      if (*exponent == 0.5)
        return im.unary("Sqrt", x);
    }
  auto body = [&](ImplicitLocOpBuilder &b, ValueRange v) {
    return real ? rule.real(b, v[0], v[1]) : rule.integer(b, v[0], v[1], isUnsigned(x->type));
  };
  auto fold = [&](ArrayRef<Element> e) -> std::optional<Element> {
    if (real && rule.foldReal)
      return Element{nullptr, rule.foldReal(e[0].real, e[1].real)};
    if (!real && rule.foldInteger)
      return integerResult(rule.foldInteger(im.symbols, e[0].integer, e[1].integer));
    return std::nullopt;
  };
  TRY(auto *result, im.elementwise(x->type, {x, y}, body, /*isOneOp=*/true, fold));
  // What is known of numbers that tensors hold: `offset + length` less `offset` is a length.
  if (!real && !result->elements && rule.foldInteger)
    if (Sym left = im.symbolOf(*x), right = im.symbolOf(*y); left && right)
      result->symbol = rule.foldInteger(im.symbols, left, right);
  return result;
}

static FailureOr<Data *> buildComparison(Importer &im, const Comparison &rule, Data *x, Data *y) {
  if (x->type != y->type)
    return im.invalid("expects operands of one element type, got " + nameOf(x->type) + " and " +
                      nameOf(y->type));
  auto body = [&](ImplicitLocOpBuilder &b, ValueRange v) -> Value {
    if (isFloat(x->type))
      return arith::CmpFOp::create(b, rule.real, v[0], v[1]);
    return arith::CmpIOp::create(b, isUnsigned(x->type) ? rule.natural : rule.integer, v[0], v[1]);
  };
  auto fold = [&](ArrayRef<Element> e) -> std::optional<Element> {
    if (isFloat(x->type))
      return im.integerElement(rule.foldReal(e[0].real, e[1].real));
    return integerResult(rule.foldInteger(im.symbols, e[0].integer, e[1].integer));
  };
  return im.elementwise(DataType::Bool, {x, y}, body, /*isOneOp=*/true, fold);
}

static FailureOr<Data *> buildUnary(Importer &im, const Unary &rule, Data *x) {
  return im.elementwise(
      x->type, {x}, [&](ImplicitLocOpBuilder &b, ValueRange v) { return rule.real(b, v[0]); },
      /*isOneOp=*/true,
      [&](ArrayRef<Element> e) -> std::optional<Element> {
        return Element{nullptr, rule.fold(e[0].real)};
      });
}

/// What goes on behind a problem that has been reported: zeros, whose readers are passed over.
Data *Importer::orZeros(FailureOr<Data *> result, DataType type, ArrayRef<Sym> shape) {
  if (succeeded(result))
    return *result;
  return full(type, shape, isFloat(type) ? Element() : integerElement(0));
}

Data *Importer::binary(StringRef op, Data *a, Data *c) {
  for (const Binary &rule : kBinaries)
    if (rule.name == op)
      return orZeros(buildBinary(*this, rule, a, c), a->type, a->shape);
  for (const Comparison &rule : kComparisons)
    if (rule.name == op)
      return orZeros(buildComparison(*this, rule, a, c), a->type, a->shape);
  llvm_unreachable("a name of the tables");
}

Data *Importer::unary(StringRef op, Data *a) {
  for (const Unary &rule : kUnaries)
    if (rule.name == op)
      return *buildUnary(*this, rule, a);
  llvm_unreachable("a name of the table");
}

Data *Importer::floats() {
  Data *x = input(0);
  if (x && isFloat(x->type))
    return x;
  (void)invalid(x ? "expects floats, got " + nameOf(x->type) : "expects an operand, got none");
  return nullptr;
}

static LogicalResult importBinary(Importer &im) {
  const Binary *rule =
      llvm::find_if(kBinaries, [&](const Binary &r) { return r.name == im.node().op; });
  SmallVector<Data *> operands = im.inputs();
  if (operands.empty() || llvm::is_contained(operands, nullptr))
    return im.invalid("expects operands, got none");
  bool isMany = rule->name == "Max" || rule->name == "Min";
  if (!isMany && operands.size() != 2)
    return im.invalid("expects two operands, got " + Twine(operands.size()));
  Data *result = operands.front();
  for (Data *next : llvm::drop_begin(operands)) {
    TRY(result, buildBinary(im, *rule, result, next));
  }
  return im.setResult(result);
}

static LogicalResult importSum(Importer &im) {
  Data *result = nullptr;
  for (Data *next : im.inputs()) {
    if (!next)
      return im.invalid("expects operands, got none");
    if (!result) {
      result = next;
      continue;
    }
    TRY(result, buildBinary(im, kBinaries[0], result, next));
  }
  if (im.node().op == "Mean" && result) {
    if (!isFloat(result->type))
      return im.invalid("expects floats, got " + nameOf(result->type));
    result = im.binary("Div", result, im.makeReal(result->type, im.inputs().size()));
  }
  return im.setResult(result);
}

static LogicalResult importComparison(Importer &im) {
  const Comparison *rule =
      llvm::find_if(kComparisons, [&](const Comparison &r) { return r.name == im.node().op; });
  if (!im.input(0) || !im.input(1))
    return im.invalid("expects two operands");
  return im.setResult(buildComparison(im, *rule, im.input(0), im.input(1)));
}

static LogicalResult importUnary(Importer &im) {
  StringRef op = im.node().op;
  Data *x = im.input(0);
  if (x && !isFloat(x->type) && (op == "Abs" || op == "Neg")) {
    if (op == "Abs" && isUnsigned(x->type))
      return im.setResult(x);
    Data *zero = im.makeInteger(x->type, 0);
    Data *negative = im.binary("Sub", zero, x);
    return im.setResult(op == "Neg" ? negative : im.binary("Max", x, negative));
  }
  if (!(x = im.floats()))
    return failure();
  const Unary *rule = llvm::find_if(kUnaries, [&](const Unary &r) { return r.name == op; });
  return im.setResult(buildUnary(im, *rule, x));
}

//===-- The rest -----------------------------------------------------------------------------===//

static LogicalResult importSign(Importer &im) {
  Data *x = im.input(0);
  Data *zero = isFloat(x->type) ? im.makeReal(x->type, 0) : im.makeInteger(x->type, 0);
  Data *above = im.cast(*im.binary("Greater", x, zero), x->type);
  Data *below = im.cast(*im.binary("Less", x, zero), x->type);
  return im.setResult(im.binary("Sub", above, below));
}

static LogicalResult importNot(Importer &im) {
  Data *x = im.input(0);
  if (x->type != DataType::Bool)
    return im.invalid("expects bools, got " + nameOf(x->type));
  return im.setResult(im.elementwise(
      DataType::Bool, {x},
      [](ImplicitLocOpBuilder &b, ValueRange v) {
        Value one = arith::ConstantOp::create(b, b.getOneAttr(v[0].getType()));
        return arith::XOrIOp::create(b, v[0], one).getResult();
      },
      false,
      [&](ArrayRef<Element> e) {
        return std::optional<Element>(Element{im.symbols.sub(im.number(1), e[0].integer), 0});
      }));
}

static LogicalResult importBitwiseNot(Importer &im) {
  Data *x = im.input(0);
  if (isFloat(x->type))
    return im.invalid("expects integers, got " + nameOf(x->type));
  return im.setResult(im.elementwise(x->type, {x}, [](ImplicitLocOpBuilder &b, ValueRange v) {
    Value ones = arith::ConstantOp::create(b, b.getIntegerAttr(v[0].getType(), -1));
    return arith::XOrIOp::create(b, v[0], ones).getResult();
  }));
}

static LogicalResult importIsNan(Importer &im) {
  Data *x = im.floats();
  if (!x)
    return failure();
  return im.setResult(im.elementwise(
      DataType::Bool, {x},
      [](ImplicitLocOpBuilder &b, ValueRange v) {
        return arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, v[0], v[0]).getResult();
      },
      true));
}

static LogicalResult importIsInf(Importer &im) {
  Data *x = im.floats();
  if (!x)
    return failure();
  bool above = im.integer("detect_positive", 1), below = im.integer("detect_negative", 1);
  return im.setResult(
      im.elementwise(DataType::Bool, {x}, [&](ImplicitLocOpBuilder &b, ValueRange v) {
        auto is = [&](double value) -> Value {
          Value constant =
              arith::ConstantOp::create(b, b.getFloatAttr(cast<FloatType>(v[0].getType()), value));
          return arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, v[0], constant);
        };
        double infinity = std::numeric_limits<double>::infinity();
        if (above && below)
          return arith::OrIOp::create(b, is(infinity), is(-infinity)).getResult();
        if (above || below)
          return is(above ? infinity : -infinity);
        return arith::ConstantOp::create(b, b.getBoolAttr(false)).getResult();
      }));
}

/// The remainder of C, or, with the divisor's sign, of Python.
static Value remainderOf(ImplicitLocOpBuilder &b, Value x, Value y, DataType type, bool isC) {
  if (isUnsigned(type))
    return arith::RemUIOp::create(b, x, y);
  bool real = isFloat(type);
  Value rest = real ? arith::RemFOp::create(b, x, y).getResult()
                    : arith::RemSIOp::create(b, x, y).getResult();
  if (isC)
    return rest;
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(x.getType()));
  auto isNegative = [&](Value value) -> Value {
    if (real)
      return arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, value, zero);
    return arith::CmpIOp::create(b, arith::CmpIPredicate::slt, value, zero);
  };
  Value differ = arith::XOrIOp::create(b, isNegative(rest), isNegative(y));
  Value isRest = real ? arith::CmpFOp::create(b, arith::CmpFPredicate::UNE, rest, zero).getResult()
                      : arith::CmpIOp::create(b, arith::CmpIPredicate::ne, rest, zero).getResult();
  Value again = real ? arith::AddFOp::create(b, rest, y).getResult()
                     : arith::AddIOp::create(b, rest, y).getResult();
  return arith::SelectOp::create(b, arith::AndIOp::create(b, differ, isRest), again, rest);
}

static LogicalResult importMod(Importer &im) {
  Data *x = im.input(0), *y = im.input(1);
  bool isC = im.integer("fmod", 0);
  if (!x || !y || x->type != y->type)
    return im.invalid("expects two operands of one element type");
  auto fold = [&](ArrayRef<Element> e) -> std::optional<Element> {
    if (isFloat(x->type) || isC)
      return std::nullopt;
    return integerResult(im.symbols.mod(e[0].integer, e[1].integer));
  };
  auto body = [&](ImplicitLocOpBuilder &b, ValueRange v) {
    return remainderOf(b, v[0], v[1], x->type, isC);
  };
  return im.setResult(im.elementwise(x->type, {x, y}, body, false, fold));
}

static LogicalResult importBitShift(Importer &im) {
  Data *x = im.input(0), *y = im.input(1);
  if (!x || !y || x->type != y->type || isFloat(x->type))
    return im.invalid("expects two operands of one integer type");
  bool isLeft = im.text("direction", "LEFT") == "LEFT", keepsSign = !isLeft && !isUnsigned(x->type);
  return im.setResult(
      im.elementwise(x->type, {x, y}, [&](ImplicitLocOpBuilder &b, ValueRange v) -> Value {
        // Shifts by the width or more leave nothing but the sign.
        Type type = v[0].getType();
        Value last =
            arith::ConstantOp::create(b, b.getIntegerAttr(type, type.getIntOrFloatBitWidth() - 1));
        Value by = arith::MinUIOp::create(b, v[1], last);
        if (keepsSign)
          return arith::ShRSIOp::create(b, v[0], by);
        Value shifted = isLeft ? arith::ShLIOp::create(b, v[0], by).getResult()
                               : arith::ShRUIOp::create(b, v[0], by).getResult();
        Value isFar = arith::CmpIOp::create(b, arith::CmpIPredicate::ugt, v[1], last);
        Value zero = arith::ConstantOp::create(b, b.getZeroAttr(type));
        return arith::SelectOp::create(b, isFar, zero, shifted);
      }));
}

Data *Importer::selectData(Data *condition, Data *a, Data *c) {
  auto fold = [&](ArrayRef<Element> e) -> std::optional<Element> {
    if (std::optional<int64_t> decided = Symbols::known(e[0].integer))
      return *decided ? e[1] : e[2];
    if (!e[1].integer)
      return std::nullopt;
    return Element{symbols.select(e[0].integer, e[1].integer, e[2].integer), 0};
  };
  FailureOr<Data *> result = elementwise(
      a->type, {condition, a, c},
      [](ImplicitLocOpBuilder &builder, ValueRange v) {
        return arith::SelectOp::create(builder, v[0], v[1], v[2]).getResult();
      },
      true, fold);
  return succeeded(result) ? *result : nullptr;
}

static LogicalResult importWhere(Importer &im) {
  Data *condition = im.input(0), *x = im.input(1), *y = im.input(2);
  if (!condition || !x || !y || condition->type != DataType::Bool || x->type != y->type)
    return im.invalid("expects a condition of bools and two operands of one element type");
  return im.setResult(im.selectData(condition, x, y));
}

static LogicalResult importClip(Importer &im) {
  Data *x = im.input(0);
  if (Data *low = im.input(1))
    x = im.binary("Max", x, low);
  if (Data *high = im.input(2))
    x = im.binary("Min", x, high);
  return im.setResult(x);
}

static LogicalResult importCast(Importer &im) {
  auto type = static_cast<DataType>(im.integer("to", 0));
  im.integer("saturate", 1);
  im.text("round_mode", "up");
  if (!im.elementType(type))
    return im.unsupported("casts to " + nameOf(type) +
                          "; expects bool, integers, float16, bfloat16, float or double");
  return im.setResult(im.cast(*im.input(0), type));
}

static LogicalResult importCastLike(Importer &im) {
  im.integer("saturate", 1);
  im.text("round_mode", "up");
  return im.setResult(im.cast(*im.input(0), im.input(1)->type));
}

void mlir::fovea::onnx::addElementwiseOps(OpTable &table) {
  for (const Binary &rule : kBinaries)
    table.add(rule.name, 13, importBinary);
  for (const Comparison &rule : kComparisons)
    table.add(rule.name, 13, importComparison);
  for (const Unary &rule : kUnaries)
    table.add(rule.name, 13, importUnary);
  table.add("Sum", 13, importSum);
  table.add("Mean", 13, importSum);
  table.add("BitShift", 13, importBitShift);
  table.add("BitwiseNot", 13, importBitwiseNot);
  table.add("Cast", 13, importCast);
  table.add("CastLike", 13, importCastLike);
  table.add("Clip", 13, importClip);
  table.add("IsInf", 13, importIsInf);
  table.add("IsNaN", 13, importIsNan);
  table.add("Mod", 13, importMod);
  table.add("Not", 13, importNot);
  table.add("Sign", 13, importSign);
  table.add("Where", 13, importWhere);
}
