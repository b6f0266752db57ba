// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The value of an expression at one place, for identity testing. Scalars only: a table from op
// names to arithmetic. An op that is missing makes the answer unknown.
#include "passes/Elements/Evaluate.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::raise;

//===-- Leaves -------------------------------------------------------------------------------===//

uint64_t raise::mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

uint64_t raise::mix(uint64_t x, uint64_t y, ArrayRef<int64_t> more) {
  uint64_t bits = mix(mix(x) ^ y);
  for (int64_t number : more)
    bits = mix(bits ^ static_cast<uint64_t>(number));
  return bits;
}

static Number getConstantElement(DenseElementsAttr dense, ArrayRef<int64_t> indices) {
  int64_t place = 0;
  for (auto [index, size] : llvm::zip(indices, dense.getType().getShape()))
    place = place * size + index;
  Number number;
  if (isa<FloatType>(dense.getElementType()))
    number.real = dense.getValues<APFloat>()[place].convertToDouble();
  else if (dense.getElementType().isInteger(1))
    number.integer = dense.getValues<APInt>()[place].getZExtValue();
  else
    number.integer = dense.getValues<APInt>()[place].getSExtValue();
  return number;
}

static constexpr int64_t kClasses = 7;

/// The class of a place along a classed axis.
int64_t Evaluator::getClass(int64_t place) const {
  if (!hasLonePlace)
    return place % kClasses;
  return place == 0 ? 0 : 1 + (place - 1) % (kClasses - 1);
}

Number Evaluator::draw(Expr leaf, ArrayRef<int64_t> indices) {
  if (given)
    if (std::optional<Number> number = given(leaf, indices))
      return *number;
  uint64_t number = leaf->tensor ? expressions.getNumber(leaf->tensor) : ~uint64_t(leaf->variable);
  uint64_t bits = mix(number, seed, indices);
  if (isa<FloatType>(leaf->type))
    return {static_cast<double>(bits >> 11) * 0x1p-52 - 1, 0};
  if (leaf->type.isInteger(1))
    return {0, (bits >> 20) % 4 != 0};
  return {0, static_cast<int64_t>((bits >> 20) % (3 + variant % 13))};
}

int64_t Evaluator::evaluate(AffineExpr affine) {
  switch (affine.getKind()) {
  case AffineExprKind::Constant:
    return cast<AffineConstantExpr>(affine).getValue();
  case AffineExprKind::DimId:
    return place[cast<AffineDimExpr>(affine).getPosition()];
  case AffineExprKind::SymbolId:
    return getSymbolValue(cast<AffineSymbolExpr>(affine).getPosition());
  default:
    break;
  }
  auto binary = cast<AffineBinaryOpExpr>(affine);
  int64_t a = evaluate(binary.getLHS()), b = evaluate(binary.getRHS());
  switch (affine.getKind()) {
  case AffineExprKind::Add:
    return a + b;
  case AffineExprKind::Mul:
    return a * b;
  case AffineExprKind::Mod:
    return b > 0 ? llvm::mod(a, b) : 0;
  case AffineExprKind::FloorDiv:
    return b > 0 ? llvm::divideFloorSigned(a, b) : 0;
  case AffineExprKind::CeilDiv:
    return b > 0 ? llvm::divideCeilSigned(a, b) : 0;
  default:
    llvm_unreachable("a binary expression");
  }
}

//===-- Scalars ------------------------------------------------------------------------------===//

static double roundTo(Type type, double value) {
  auto real = dyn_cast<FloatType>(type);
  if (!real || real.isF64() || !std::isfinite(value))
    return value;
  if (real.isF32())
    return static_cast<float>(value);
  APFloat narrow(value);
  bool inexact;
  narrow.convert(real.getFloatSemantics(), APFloat::rmNearestTiesToEven, &inexact);
  return narrow.convertToDouble();
}

/// The functions of one float.
static double (*getUnary(StringRef name))(double) {
  using F = double (*)(double);
  return llvm::StringSwitch<F>(name)
      .Case("arith.negf", [](double x) { return -x; })
      .Case("arith.extf", [](double x) { return x; })
      .Case("arith.truncf", [](double x) { return x; })
      .Case("math.absf", [](double x) { return std::fabs(x); })
      .Case("math.exp", [](double x) { return std::exp(x); })
      .Case("math.exp2", [](double x) { return std::exp2(x); })
      .Case("math.expm1", [](double x) { return std::expm1(x); })
      .Case("math.log", [](double x) { return std::log(x); })
      .Case("math.log2", [](double x) { return std::log2(x); })
      .Case("math.log1p", [](double x) { return std::log1p(x); })
      .Case("math.sqrt", [](double x) { return std::sqrt(x); })
      .Case("math.rsqrt", [](double x) { return 1 / std::sqrt(x); })
      .Case("math.tanh", [](double x) { return std::tanh(x); })
      .Case("math.erf", [](double x) { return std::erf(x); })
      .Case("math.erfc", [](double x) { return std::erfc(x); })
      .Case("math.sin", [](double x) { return std::sin(x); })
      .Case("math.cos", [](double x) { return std::cos(x); })
      .Case("math.floor", [](double x) { return std::floor(x); })
      .Case("math.ceil", [](double x) { return std::ceil(x); })
      .Case("math.trunc", [](double x) { return std::trunc(x); })
      .Case("math.round", [](double x) { return std::round(x); })
      .Case("math.roundeven", [](double x) { return std::nearbyint(x); })
      .Default(nullptr);
}

/// The functions of two floats.
static double (*getBinary(StringRef name))(double, double) {
  using F = double (*)(double, double);
  return llvm::StringSwitch<F>(name)
      .Case("arith.addf", [](double a, double b) { return a + b; })
      .Case("arith.subf", [](double a, double b) { return a - b; })
      .Case("arith.mulf", [](double a, double b) { return a * b; })
      .Case("arith.divf", [](double a, double b) { return a / b; })
      .Case("arith.remf", [](double a, double b) { return std::fmod(a, b); })
      .Case("arith.maximumf",
            [](double a, double b) {
              return std::isnan(a) ? a : std::isnan(b) ? b : std::fmax(a, b);
            })
      .Case("arith.minimumf",
            [](double a, double b) {
              return std::isnan(a) ? a : std::isnan(b) ? b : std::fmin(a, b);
            })
      .Case("arith.maxnumf", [](double a, double b) { return std::fmax(a, b); })
      .Case("arith.minnumf", [](double a, double b) { return std::fmin(a, b); })
      .Case("math.copysign", [](double a, double b) { return std::copysign(a, b); })
      .Case("math.powf", [](double a, double b) { return std::pow(a, b); })
      .Case("math.atan2", [](double a, double b) { return std::atan2(a, b); })
      .Default(nullptr);
}

/// The functions of two integers; nothing where they divide by zero.
static std::optional<int64_t> computeIntegers(StringRef name, int64_t a, int64_t b) {
  if (name == "arith.addi")
    return a + b;
  if (name == "arith.subi")
    return a - b;
  if (name == "arith.muli")
    return a * b;
  if (name == "arith.andi")
    return a & b;
  if (name == "arith.ori")
    return a | b;
  if (name == "arith.xori")
    return a ^ b;
  if (name == "arith.maxsi" || name == "arith.maxui")
    return std::max(a, b);
  if (name == "arith.minsi" || name == "arith.minui")
    return std::min(a, b);
  if (name == "arith.shli")
    return b >= 0 && b < 63 ? std::optional(a << b) : std::nullopt;
  if (name == "arith.shrsi" || name == "arith.shrui")
    return b >= 0 && b < 63 ? std::optional(a >> b) : std::nullopt;
  if (b == 0 || (a == std::numeric_limits<int64_t>::min() && b == -1))
    return std::nullopt;
  if (name == "arith.divsi" || name == "arith.divui")
    return a / b;
  if (name == "arith.remsi" || name == "arith.remui")
    return a % b;
  if (name == "arith.floordivsi")
    return llvm::divideFloorSigned(a, b);
  if (name == "arith.ceildivsi")
    return llvm::divideCeilSigned(a, b);
  return std::nullopt;
}

/// Choices, and what asks about floats or compares; nothing for other ops.
static std::optional<Number> computeCondition(Expr expr, ArrayRef<Number> args) {
  StringRef name = expr->name.getValue();
  if (name == "arith.select")
    return args[0].integer ? args[1] : args[2];
  if (name == "arith.cmpf")
    return Number{0, arith::applyCmpPredicate(
                         cast<arith::CmpFPredicateAttr>(expr->attrs.get("predicate")).getValue(),
                         APFloat(args[0].real), APFloat(args[1].real))};
  if (name == "arith.cmpi")
    return Number{0, arith::applyCmpPredicate(getPredicate(expr),
                                              APInt(64, args[0].integer, /*isSigned=*/true),
                                              APInt(64, args[1].integer, /*isSigned=*/true))};
  if (name == "math.isnan")
    return Number{0, std::isnan(args[0].real)};
  if (name == "math.isinf")
    return Number{0, std::isinf(args[0].real)};
  if (name == "math.isfinite")
    return Number{0, std::isfinite(args[0].real)};
  return std::nullopt;
}

/// A function of floats, before it is rounded; nothing if it is unknown.
static std::optional<double> computeReal(StringRef name, ArrayRef<Number> args) {
  if (args.size() == 1)
    if (auto *f = getUnary(name))
      return f(args[0].real);
  if (args.size() == 2) {
    if (name == "math.fpowi")
      return std::pow(args[0].real, static_cast<double>(args[1].integer));
    if (auto *f = getBinary(name))
      return f(args[0].real, args[1].real);
  }
  if (name == "math.fma")
    return args[0].real * args[1].real + args[2].real;
  return std::nullopt;
}

/// Conversions to integers, and arithmetic of these.
static std::optional<Number> computeInteger(Expr expr, ArrayRef<Number> args) {
  StringRef name = expr->name.getValue();
  if (args.size() == 2) {
    std::optional<int64_t> value = computeIntegers(name, args[0].integer, args[1].integer);
    if (!value)
      return std::nullopt;
    return Number{0, expr->type.isInteger(1) ? *value & 1 : *value};
  }
  if (args.size() != 1)
    return std::nullopt;
  if (name == "arith.fptosi" || name == "arith.fptoui") {
    if (!(std::fabs(args[0].real) < 0x1p62))
      return std::nullopt;
    return Number{0, static_cast<int64_t>(args[0].real)};
  }
  if (name == "math.absi")
    return Number{0, std::abs(args[0].integer)};
  if (name == "arith.extsi" && expr->args[0]->type.isInteger(1))
    return Number{0, -args[0].integer};
  if (name == "arith.trunci" && expr->type.isInteger(1))
    return Number{0, args[0].integer & 1};
  if (name == "arith.extsi" || name == "arith.extui" || name == "arith.trunci" ||
      name == "arith.index_cast" || name == "arith.index_castui")
    return args[0];
  return std::nullopt;
}

std::optional<Number> Evaluator::compute(Expr expr, ArrayRef<Number> args) {
  if (std::optional<Number> answer = computeCondition(expr, args))
    return answer;
  if (!isa<FloatType>(expr->type))
    return computeInteger(expr, args);
  StringRef name = expr->name.getValue();
  if (args.size() == 1 && (name == "arith.sitofp" || name == "arith.uitofp"))
    return Number{roundTo(expr->type, static_cast<double>(args[0].integer)), 0};
  std::optional<double> value = computeReal(name, args);
  if (!value)
    return std::nullopt;
  overflows |= isExp(expr) && std::isinf(*value) && std::isfinite(args[0].real);
  return Number{rounds ? roundTo(expr->type, *value) : *value, 0};
}

//===-- Expressions --------------------------------------------------------------------------===//

static Number combine(Combiner combiner, Number a, Number b) {
  switch (combiner) {
  case Combiner::Add:
    return {a.real + b.real, a.integer + b.integer};
  case Combiner::Mul:
    return {a.real * b.real, a.integer * b.integer};
  case Combiner::Max:
    return {std::isnan(a.real)   ? a.real
            : std::isnan(b.real) ? b.real
                                 : std::fmax(a.real, b.real),
            std::max(a.integer, b.integer)};
  case Combiner::Min:
    return {std::isnan(a.real)   ? a.real
            : std::isnan(b.real) ? b.real
                                 : std::fmin(a.real, b.real),
            std::min(a.integer, b.integer)};
  case Combiner::And:
    return {0, a.integer & b.integer};
  case Combiner::Or:
    return {0, a.integer | b.integer};
  }
  llvm_unreachable("a combiner");
}

static Number startOf(Combiner combiner) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  switch (combiner) {
  case Combiner::Add:
  case Combiner::Or:
    return {0, 0};
  case Combiner::Mul:
  case Combiner::And:
    return {1, 1};
  case Combiner::Max:
    return {-kInfinity, std::numeric_limits<int64_t>::min()};
  case Combiner::Min:
    return {kInfinity, std::numeric_limits<int64_t>::max()};
  }
  llvm_unreachable("a combiner");
}

std::optional<double> Evaluator::evaluateReal(Expr expr) {
  std::optional<Number> number = evaluate(expr);
  return number ? std::optional(number->real) : std::nullopt;
}

std::optional<Number> Evaluator::evaluate(Expr expr) {
  if (--budget < 0)
    return std::nullopt;
  if (expr->isConstant())
    return expr->real ? Number{expr->real.getValueAsDouble(), 0} : Number{0, expr->integer};
  if (!assumed.empty())
    if (auto found = assumed.find(expr); found != assumed.end())
      return found->second;
  if (expr->kind == Node::Kind::Index)
    return Number{0, evaluate(expr->affine)};
  if (place.size() < expressions.getNumDims())
    place.resize(expressions.getNumDims());

  // Expressions are graphs: a part that many share is computed once for each place.
  if (std::optional<uint64_t> where = pack(expr)) {
    if (auto found = memo.find({expr, *where}); found != memo.end())
      return found->second;
    std::optional<Number> result = evaluateHere(expr);
    if (result)
      memo.insert({{expr, *where}, *result});
    return result;
  }
  std::pair<Expr, std::vector<int64_t>> where{expr, {}};
  for (unsigned dim : expr->dims.set_bits())
    where.second.push_back(place[dim]);
  if (auto found = memoFar.find(where); found != memoFar.end())
    return found->second;
  std::optional<Number> result = evaluateHere(expr);
  if (result)
    memoFar.insert({std::move(where), *result});
  return result;
}

/// The places of an expression's dims as one number; nothing if they are too many or too far.
std::optional<uint64_t> Evaluator::pack(Expr expr) const {
  constexpr unsigned kBits = 16;
  uint64_t packed = 0;
  unsigned shift = 0;
  for (unsigned dim : expr->dims.set_bits()) {
    if (shift == 64 || place[dim] < 0 || place[dim] >> kBits)
      return std::nullopt;
    packed |= static_cast<uint64_t>(place[dim]) << shift;
    shift += kBits;
  }
  return packed;
}

bool Evaluator::isUniform(Expr reduction) {
  auto [entry, isNew] = uniform.try_emplace(reduction, true);
  if (!isNew)
    return entry->second;
  AffineExpr dim = getAffineDimExpr(reduction->dim, expressions.getContext());
  AffineExpr extent = expressions.getExtent(reduction->dim);
  auto isPlain = [&](Expr node) {
    for (auto [axis, arg] : llvm::enumerate(node->args)) {
      if (arg->kind != Node::Kind::Index || !arg->dependsOn(reduction->dim))
        continue;
      if (node->kind == Node::Kind::Compute || arg->affine != dim)
        return false;
      if (expressions.getAxisSize(node, axis) != extent)
        return false;
      if (node->tensor && isa_and_nonnull<arith::ConstantOp>(node->tensor.getDefiningOp()))
        return false;
    }
    return node->kind != Node::Kind::Index;
  };
  bool result = true;
  for (Expr node : collect(reduction->args[0], [&](Expr node) {
         return node->dependsOn(reduction->dim) && node->kind != Node::Kind::Index;
       }))
    if (node->dependsOn(reduction->dim) && node->kind != Node::Kind::Index)
      result &= isPlain(node);
  result &= reduction->args[0]->kind != Node::Kind::Index;
  return uniform[reduction] = result;
}

/// A term that stands `count` times in a reduction.
static Number repeat(Combiner combiner, Number term, int64_t count) {
  if (combiner == Combiner::Add)
    return {term.real * static_cast<double>(count), term.integer * count};
  if (combiner != Combiner::Mul)
    return term;
  Number result = term;
  result.real = std::pow(term.real, static_cast<double>(count));
  for (int64_t i = 1; i < count && i < 64; ++i)
    result.integer *= term.integer;
  return result;
}

std::optional<Number> Evaluator::evaluateReduction(Expr expr) {
  int64_t extent = getExtent(expr->dim), kept = place[expr->dim];
  bool isClassed = extent > kClasses && classed.contains(extent) && isUniform(expr);
  int64_t terms = isClassed ? kClasses : extent;
  Number sum = startOf(expr->combiner), first;
  for (int64_t i = 0; i < terms; ++i) {
    place[expr->dim] = i;
    std::optional<Number> element = evaluate(expr->args[0]);
    if (!element) {
      place[expr->dim] = kept;
      return std::nullopt;
    }
    int64_t count = 1;
    if (isClassed && hasLonePlace)
      count = i == 0 ? 1 : (extent - 1 - i) / (kClasses - 1) + 1;
    else if (isClassed)
      count = (extent - 1 - i) / kClasses + 1;
    sum = combine(expr->combiner, sum, repeat(expr->combiner, *element, count));
    if (i == 0)
      first = sum;
  }
  place[expr->dim] = kept;
  if (observe && isPiecewise(expr) && terms > 1)
    observe(expr, {first, sum}, sum);
  if (alter && isPiecewise(expr) && terms > 1)
    alter(expr, {first, sum}, sum);
  return sum;
}

std::optional<Number> Evaluator::evaluateLeaf(Expr expr, ArrayRef<Number> args) {
  SmallVector<int64_t> indices = llvm::map_to_vector(args, [&](Number arg) { return arg.integer; });
  if (expr->kind == Node::Kind::Element) {
    if (auto constant = expr->tensor.getDefiningOp<arith::ConstantOp>())
      if (auto dense = dyn_cast<DenseElementsAttr>(constant.getValue())) {
        for (auto [index, size] : llvm::zip(indices, dense.getType().getShape()))
          if (index < 0 || index >= size) {
            leavesTables = true;
            return std::nullopt;
          }
        return getConstantElement(dense, indices);
      }
  }
  if (!classed.empty())
    for (auto [axis, index] : llvm::enumerate(indices)) {
      std::optional<int64_t> number = getInteger(expressions.getAxisSize(expr, axis));
      if (number && classed.contains(*number))
        index = getClass(index);
    }
  return draw(expr, indices);
}

std::optional<Number> Evaluator::evaluateHere(Expr expr) {
  if (expr->kind == Node::Kind::Reduce)
    return evaluateReduction(expr);
  if (expr->is<arith::SelectOp>()) {
    // Only what is chosen: the other may lie outside of its tensor.
    std::optional<Number> condition = evaluate(expr->args[0]);
    if (!condition)
      return std::nullopt;
    if (observe)
      observe(expr, *condition, *condition);
    std::optional<Number> chosen = evaluate(expr->args[condition->integer ? 1 : 2]);
    if (chosen && alter)
      alter(expr, *condition, *chosen);
    return chosen;
  }
  SmallVector<Number> args;
  for (Expr arg : expr->args) {
    std::optional<Number> number = evaluate(arg);
    if (!number)
      return std::nullopt;
    args.push_back(*number);
  }
  if (expr->kind != Node::Kind::Compute)
    return evaluateLeaf(expr, args);
  std::optional<Number> result = compute(expr, args);
  if (result && observe && isPiecewise(expr))
    observe(expr, args, *result);
  if (result && alter && isPiecewise(expr))
    alter(expr, args, *result);
  return result;
}
