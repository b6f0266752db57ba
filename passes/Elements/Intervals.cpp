// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Interval arithmetic, op by op, and what it decides. An op that is missing may give anything.
#include "passes/Elements/Intervals.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/Elements/Equivalence.h"
#include "passes/Elements/Predicates.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringMap.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::raise;

static constexpr double kInfinity = Interval::kInfinity;

//===-- Interval arithmetic ------------------------------------------------------------------===//

/// A bound of an interval.
struct Bound {
  double number;
  bool open;
};

static Bound leastOf(const Interval &r) { return {r.least, r.openLeast}; }
static Bound mostOf(const Interval &r) { return {r.most, r.openMost}; }
static bool isInfinite(const Bound &b) { return std::isinf(b.number); }

static Interval makeInterval(Bound least, Bound most, bool mayBeNan) {
  return {least.number, most.number, least.open, most.open, mayBeNan};
}

/// The least of bounds as the least, the greatest as the greatest; of equal ones the closed one.
static Interval hull(ArrayRef<Bound> bounds, bool mayBeNan) {
  Bound least = bounds[0], most = bounds[0];
  for (const Bound &b : bounds) {
    if (b.number < least.number || (b.number == least.number && !b.open))
      least = b;
    if (b.number > most.number || (b.number == most.number && !b.open))
      most = b;
  }
  return makeInterval(least, most, mayBeNan);
}

static Interval join(const Interval &a, const Interval &b) {
  return hull({leastOf(a), mostOf(a), leastOf(b), mostOf(b)}, a.mayBeNan || b.mayBeNan);
}

static Interval negate(const Interval &a) {
  return {-a.most, -a.least, a.openMost, a.openLeast, a.mayBeNan};
}

static Interval add(const Interval &a, const Interval &b) {
  // Infinities of both signs that are values make NaN.
  bool nan = a.mayBeNan || b.mayBeNan;
  for (auto [x, y] : {std::pair(&a, &b), {&b, &a}})
    nan |= x->most == kInfinity && !x->openMost && y->least == -kInfinity && !y->openLeast;
  auto sum = [](Bound x, Bound y, double infinite) -> Bound {
    if (isInfinite(x) || isInfinite(y)) {
      bool closed = (isInfinite(x) && !x.open) || (isInfinite(y) && !y.open);
      return {infinite, !closed};
    }
    double number = x.number + y.number;
    return {number, x.open || y.open || std::isinf(number)};
  };
  return makeInterval(sum(leastOf(a), leastOf(b), -kInfinity), sum(mostOf(a), mostOf(b), kInfinity),
                      nan);
}

static Interval multiply(const Interval &a, const Interval &b) {
  bool nan = a.mayBeNan || b.mayBeNan;
  auto hasInfinity = [](const Interval &r) {
    return (r.least == -kInfinity && !r.openLeast) || (r.most == kInfinity && !r.openMost);
  };
  auto hasZero = [](const Interval &r) {
    return (r.least < 0 || (r.least == 0 && !r.openLeast)) &&
           (r.most > 0 || (r.most == 0 && !r.openMost));
  };
  nan |= (hasInfinity(a) && hasZero(b)) || (hasInfinity(b) && hasZero(a));
  auto product = [](Bound x, Bound y) -> Bound {
    // Zero times what is only approached is zero.
    if ((x.number == 0 && !x.open) || (y.number == 0 && !y.open))
      return {0, false};
    if (x.number == 0 || y.number == 0)
      return {0, true};
    double number = x.number * y.number;
    bool overflows = std::isinf(number) && !isInfinite(x) && !isInfinite(y);
    return {number, x.open || y.open || overflows};
  };
  SmallVector<Bound> bounds;
  for (Bound x : {leastOf(a), mostOf(a)})
    for (Bound y : {leastOf(b), mostOf(b)})
      bounds.push_back(product(x, y));
  Interval result = hull(bounds, nan);
  // What is approached from both sides of zero is reached between.
  if (hasZero(a) || hasZero(b)) {
    result.openLeast &= result.least != 0;
    result.openMost &= result.most != 0;
  }
  return result;
}

static Interval reciprocal(const Interval &a) {
  bool positive = a.least > 0 || (a.least == 0 && a.openLeast);
  bool negative = a.most < 0 || (a.most == 0 && a.openMost);
  if (!positive && !negative) {
    bool hasZero = !(a.least == 0 && a.openLeast) && !(a.most == 0 && a.openMost);
    Interval result = hasZero ? Interval::unknown() : Interval::all();
    result.mayBeNan = a.mayBeNan;
    if (a.least == 0) { // of zero as well
      result.least = 0;
      result.openLeast = true;
    }
    return result;
  }
  auto invert = [](Bound x, double atZero) -> Bound {
    if (x.number == 0)
      return {atZero, true};
    return {1 / x.number, x.open};
  };
  return makeInterval(invert(mostOf(a), -kInfinity), invert(leastOf(a), kInfinity), a.mayBeNan);
}

/// A function that does not fall.
static Interval rising(const Interval &a, double (*f)(double)) {
  return {f(a.least), f(a.most), a.openLeast, a.openMost, a.mayBeNan};
}

static Interval clampTo(Interval a, double least, double most) {
  if (a.least < least) {
    a.least = least;
    a.openLeast = false;
  }
  if (a.most > most) {
    a.most = most;
    a.openMost = false;
  }
  return a;
}

static Interval magnitude(const Interval &a) {
  if (a.least >= 0)
    return a;
  if (a.most <= 0)
    return negate(a);
  Interval larger = -a.least > a.most ? negate(a) : a;
  return {0, larger.most, false, larger.openMost, a.mayBeNan};
}

static Interval greater(const Interval &a, const Interval &b) {
  Bound least = a.least > b.least || (a.least == b.least && a.openLeast) ? leastOf(a) : leastOf(b);
  Bound most = a.most > b.most || (a.most == b.most && !a.openMost) ? mostOf(a) : mostOf(b);
  return makeInterval(least, most, a.mayBeNan || b.mayBeNan);
}

//===-- What stands below a maximum ----------------------------------------------------------===//

/// Whether `x` is one of the numbers that a reduction is over.
static bool isTermOf(Expressions &e, Expr x, Expr reduction) {
  Expr body = stripCasts(reduction->args[0]);
  for (unsigned dim : x->dims.set_bits()) {
    llvm::DenseMap<unsigned, Expr> to{{reduction->dim, e.dim(dim)}};
    if (e.getExtent(dim) == e.getExtent(reduction->dim) && e.substitute(body, to) == x)
      return true;
  }
  return false;
}

/// Whether `x` is a number less the logarithm of the sum of the exponentials of all: that of a
/// probability.
static bool isLogOfProbability(Expressions &e, Expr x) {
  Expr log = stripCasts(x->args[1]);
  Expr sum = log->is<math::LogOp>() ? stripCasts(log->args[0]) : nullptr;
  if (!sum || sum->kind != Node::Kind::Reduce || sum->combiner != Combiner::Add)
    return false;
  Expr exp = e.compute<math::ExpOp>(x->type, {x->args[0]});
  return isTermOf(e, exp, sum);
}

/// Whether the body of a sum is each of its terms divided by the sum of all.
static bool isSumOfProbabilities(Expressions &e, Expr sum) {
  Expr body = stripCasts(sum->args[0]);
  Expr total = body->is<arith::DivFOp>() ? stripCasts(body->args[1]) : nullptr;
  return total && total->kind == Node::Kind::Reduce && total->combiner == Combiner::Add &&
         isTermOf(e, stripCasts(body->args[0]), total);
}

bool raise::isBelowItsMaximum(Expressions &e, Expr x) {
  x = stripCasts(x);
  if (x->is<arith::MulFOp, arith::DivFOp>())
    for (unsigned i : {0, 1})
      if (x->args[i]->isConstant() && x->args[i]->getNumber() > 0 &&
          (i == 1 || x->is<arith::MulFOp>()))
        return isBelowItsMaximum(e, x->args[1 - i]);
  if (!x->is<arith::SubFOp>())
    return false;
  Expr number = stripCasts(x->args[0]), greatest = stripCasts(x->args[1]);
  if (greatest->kind != Node::Kind::Reduce || greatest->combiner != Combiner::Max)
    return false;
  return isTermOf(e, number, greatest);
}

//===-- Nodes --------------------------------------------------------------------------------===//

Interval IntervalAnalysis::get(Expr expr) {
  if (auto found = known.find(expr); found != known.end())
    return found->second;
  std::optional<Interval> told = given ? given(expr) : std::nullopt;
  Interval range = told ? *told : find(expr);
  known[expr] = range;
  return range;
}

Interval IntervalAnalysis::find(Expr expr) {
  switch (expr->kind) {
  case Node::Kind::Constant:
    return Interval::of(expr->getNumber());
  case Node::Kind::Index:
    return ofIndex(expr);
  case Node::Kind::Element:
  case Node::Kind::Variable:
    return ofElement(expr);
  case Node::Kind::Reduce:
    return ofReduction(expr);
  case Node::Kind::Compute:
    return ofCompute(expr);
  }
  llvm_unreachable("a kind");
}

Interval IntervalAnalysis::ofIndex(Expr expr) {
  auto [least, most] = e.getBounds(expr->affine);
  Interval range;
  if (least) {
    range.least = static_cast<double>(*least);
    range.openLeast = false;
  }
  if (most) {
    range.most = static_cast<double>(*most);
    range.openMost = false;
  }
  return range;
}

/// A tensor's element is finite.
Interval IntervalAnalysis::ofElement(Expr expr) {
  if (expr->type.isInteger(1) || getPlantedFault() == PlantedFault::Intervals)
    return Interval::between(0, 1);
  auto real = dyn_cast<FloatType>(expr->type);
  if (!real)
    return Interval::all();
  APFloat largest = APFloat::getLargest(real.getFloatSemantics());
  bool inexact;
  largest.convert(APFloat::IEEEdouble(), APFloat::rmTowardZero, &inexact);
  return Interval::between(-largest.convertToDouble(), largest.convertToDouble());
}

Interval IntervalAnalysis::ofReduction(Expr expr) {
  Interval body = get(expr->args[0]);
  Interval result = Interval::all();
  result.mayBeNan = body.mayBeNan;
  std::optional<int64_t> extent = getInteger(e.getExtent(expr->dim));
  switch (expr->combiner) {
  case Combiner::Add: {
    // Of the exponentials of what is below its greatest, one is one.
    if (isExp(stripCasts(expr->args[0])) &&
        isBelowItsMaximum(e, stripCasts(expr->args[0])->args[0]))
      return {1, extent ? double(*extent) : kInfinity, false, !extent, false};
    // One, but for rounding.
    if (body.isAtLeast(0) && isSumOfProbabilities(e, expr))
      return Interval::between(0.99, 1.01);
    if (extent)
      return multiply(body, Interval::of(static_cast<double>(*extent)));
    if (body.isAtLeast(0))
      return {body.least, body.most == 0 ? 0 : kInfinity, body.openLeast,
              body.most == kInfinity ? body.openMost : body.most != 0, false};
    if (body.isAtMost(0))
      return {body.least == 0 ? 0 : -kInfinity, body.most,
              body.least == -kInfinity ? body.openLeast : body.least != 0, body.openMost, false};
    if (!body.isFinite())
      return Interval::unknown();
    return result;
  }
  case Combiner::Max:
  case Combiner::Min:
  case Combiner::And:
  case Combiner::Or:
    return body;
  case Combiner::Mul:
    if (body.isAtLeast(0) && body.isAtMost(1))
      return {0, body.most, false, body.openMost, false};
    return Interval::unknown();
  }
  llvm_unreachable("a combiner");
}

static bool isEven(double number) { return std::fmod(number, 2) == 0; }

/// Whether `a` is `b` with the other sign.
static bool isNegationOf(Expressions &e, Expr a, Expr b) {
  if (a->getAffine() && b->getAffine())
    return e.simplify(a->getAffine() + b->getAffine()) == getAffineConstantExpr(0, e.getContext());
  if (a->is<arith::NegFOp>())
    return a->args[0] == b;
  bool isDifference = a->is<arith::SubFOp, arith::SubIOp>();
  return isDifference && a->args[0]->isConstant() && a->args[0]->getNumber() == 0 &&
         a->args[1] == b;
}

/// The range of a branch of a choice, which is only taken where its condition does or does not
/// hold: of `x < 0 ? -x : x` neither is negative.
Interval IntervalAnalysis::ofBranch(Expr condition, bool holds, Expr branch) {
  Interval range = get(branch);
  bool isInteger = condition->is<arith::CmpIOp>();
  if (!(isInteger || condition->is<arith::CmpFOp>()) || !condition->args[1]->isConstant())
    return range;
  Expr x = condition->args[0];
  double border = condition->args[1]->getNumber();
  bool isNegation = isNegationOf(e, branch, x);
  if (branch != x && !isNegation)
    return range;
  auto predicate = cast<IntegerAttr>(condition->attrs.get("predicate")).getInt();
  auto isOneOf = [&](arith::CmpIPredicate ofInteger, arith::CmpFPredicate ofReal) {
    return predicate == int64_t(isInteger ? uint64_t(ofInteger) : uint64_t(ofReal));
  };
  bool isBelow = isOneOf(arith::CmpIPredicate::slt, arith::CmpFPredicate::OLT) ||
                 isOneOf(arith::CmpIPredicate::sle, arith::CmpFPredicate::OLE);
  bool isAbove = isOneOf(arith::CmpIPredicate::sgt, arith::CmpFPredicate::OGT) ||
                 isOneOf(arith::CmpIPredicate::sge, arith::CmpFPredicate::OGE);
  if (!isBelow && !isAbove)
    return range;
  bool mayBeNan = range.mayBeNan;
  Interval narrow =
      isBelow == holds ? clampTo(get(x), -kInfinity, border) : clampTo(get(x), border, kInfinity);
  narrow = isNegation ? negate(narrow) : narrow;
  narrow.mayBeNan = mayBeNan;
  return narrow;
}

//===-- Functions of ranges ------------------------------------------------------------------===//

static Interval lesser(const Interval &a, const Interval &b) {
  return negate(greater(negate(a), negate(b)));
}

/// What is computed of finite numbers is positive and, but for overflow, finite.
static Interval exponential(const Interval &a, double (*f)(double)) {
  Interval result = rising(a, f);
  if (result.least == 0)
    result.openLeast = a.least > -Interval::kInfinity || a.openLeast;
  if (result.most == Interval::kInfinity)
    result.openMost = a.most < Interval::kInfinity || a.openMost;
  return result;
}

static Interval rounded(Interval a, double (*round)(double)) {
  a.least = round(a.least);
  a.most = round(a.most);
  a.openLeast &= std::isinf(a.least);
  a.openMost &= std::isinf(a.most);
  return a;
}

/// A function that is no number below zero.
static Interval ofNotNegative(const Interval &a, double (*f)(double)) {
  return a.isAtLeast(0) ? rising(a, f) : Interval::unknown();
}

static Interval reciprocalRoot(const Interval &a) {
  if (!a.isAtLeast(0))
    return Interval::unknown();
  Interval result = reciprocal(rising(a, [](double x) { return std::sqrt(x); }));
  result.mayBeNan = false;
  return result;
}

static Interval sineOrCosine(const Interval &a) {
  return a.isFinite() ? Interval::between(-1, 1) : Interval::unknown();
}

using RangeRule = Interval (*)(ArrayRef<Interval>);

/// Ops on floats whose range follows from those of their operands.
static RangeRule getRealRule(StringRef name) {
  using Ranges = ArrayRef<Interval>;
  static const llvm::StringMap<RangeRule> kRules = {
      {"arith.addf", [](Ranges a) { return add(a[0], a[1]); }},
      {"arith.divf", [](Ranges a) { return multiply(a[0], reciprocal(a[1])); }},
      {"arith.negf", [](Ranges a) { return negate(a[0]); }},
      {"arith.extf", [](Ranges a) { return a[0]; }},
      {"arith.truncf", [](Ranges a) { return a[0]; }},
      {"arith.maximumf", [](Ranges a) { return greater(a[0], a[1]); }},
      {"arith.maxnumf", [](Ranges a) { return greater(a[0], a[1]); }},
      {"arith.minimumf", [](Ranges a) { return lesser(a[0], a[1]); }},
      {"arith.minnumf", [](Ranges a) { return lesser(a[0], a[1]); }},
      {"math.absf", [](Ranges a) { return magnitude(a[0]); }},
      {"math.exp", [](Ranges a) { return exponential(a[0], std::exp); }},
      {"math.exp2", [](Ranges a) { return exponential(a[0], std::exp2); }},
      {"math.floor", [](Ranges a) { return rounded(a[0], std::floor); }},
      {"math.ceil", [](Ranges a) { return rounded(a[0], std::ceil); }},
      {"math.trunc", [](Ranges a) { return rounded(a[0], std::trunc); }},
      {"math.round", [](Ranges a) { return rounded(a[0], std::round); }},
      {"math.roundeven", [](Ranges a) { return rounded(a[0], std::nearbyint); }},
      {"math.sqrt", [](Ranges a) { return ofNotNegative(a[0], std::sqrt); }},
      {"math.rsqrt", [](Ranges a) { return reciprocalRoot(a[0]); }},
      {"math.log", [](Ranges a) { return ofNotNegative(a[0], std::log); }},
      {"math.tanh", [](Ranges a) { return clampTo(rising(a[0], std::tanh), -1, 1); }},
      {"math.erf", [](Ranges a) { return clampTo(rising(a[0], std::erf), -1, 1); }},
      {"math.sin", [](Ranges a) { return sineOrCosine(a[0]); }},
      {"math.cos", [](Ranges a) { return sineOrCosine(a[0]); }},
  };
  return kRules.lookup(name);
}

/// The same for integers that are not booleans.
static RangeRule getIntegerRule(StringRef name) {
  using Ranges = ArrayRef<Interval>;
  static const llvm::StringMap<RangeRule> kRules = {
      {"arith.addi", [](Ranges a) { return add(a[0], a[1]); }},
      {"arith.subi", [](Ranges a) { return add(a[0], negate(a[1])); }},
      {"arith.muli", [](Ranges a) { return multiply(a[0], a[1]); }},
      {"arith.maxsi", [](Ranges a) { return greater(a[0], a[1]); }},
      {"arith.minsi", [](Ranges a) { return lesser(a[0], a[1]); }},
      {"math.absi", [](Ranges a) { return magnitude(a[0]); }},
  };
  return kRules.lookup(name);
}

/// A power by a constant that is positive, and even or of a base that is not negative.
static Interval ofPower(const Interval &base, Expr exponent) {
  double by = exponent->isConstant() ? exponent->getNumber() : 0;
  if (by > 0 && (isEven(by) || base.isAtLeast(0)) && !base.mayBeNan)
    return {0, Interval::kInfinity, false, true, false};
  return Interval::unknown();
}

//===-- Ops ----------------------------------------------------------------------------------===//

Interval IntervalAnalysis::ofCompute(Expr expr) {
  SmallVector<Interval> a = llvm::map_to_vector(expr->args, [&](Expr arg) { return get(arg); });
  if (expr->is<arith::SelectOp>())
    return ofSelect(expr);
  if (isa<FloatType>(expr->type))
    return ofReal(expr, a);
  return isa<IntegerType, IndexType>(expr->type) ? ofInteger(expr, a) : Interval::unknown();
}

Interval IntervalAnalysis::ofSelect(Expr expr) {
  if (std::optional<bool> known = decide(expr->args[0]))
    return get(expr->args[*known ? 1 : 2]);
  return join(ofBranch(expr->args[0], true, expr->args[1]),
              ofBranch(expr->args[0], false, expr->args[2]));
}

Interval IntervalAnalysis::ofReal(Expr expr, ArrayRef<Interval> a) {
  if (RangeRule rule = getRealRule(expr->name.getValue()))
    return rule(a);
  if (expr->is<arith::SubFOp>()) {
    Interval difference = add(a[0], negate(a[1]));
    bool isNegative = isBelowItsMaximum(e, expr) || isLogOfProbability(e, expr);
    return isNegative ? clampTo(difference, -kInfinity, 0) : difference;
  }
  if (expr->is<arith::MulFOp>()) {
    // A square is not negative.
    bool isSquare = expr->args[0] == expr->args[1];
    return isSquare ? multiply(magnitude(a[0]), magnitude(a[0])) : multiply(a[0], a[1]);
  }
  if (expr->is<math::PowFOp, math::FPowIOp>())
    return ofPower(a[0], expr->args[1]);
  if (expr->is<arith::UIToFPOp>())
    return a[0];
  // The boolean true is -1 as a signed integer.
  if (expr->is<arith::SIToFPOp>())
    return expr->args[0]->type.isInteger(1) ? negate(a[0]) : a[0];
  return Interval::unknown();
}

Interval IntervalAnalysis::ofInteger(Expr expr, ArrayRef<Interval> a) {
  if (expr->is<arith::IndexCastOp, arith::ExtSIOp, arith::TruncIOp>())
    return expr->args[0]->type.isInteger(1) || expr->type.isInteger(1) ? Interval::all() : a[0];
  if (expr->is<arith::ExtUIOp>() && expr->args[0]->type.isInteger(1))
    return a[0];
  if (expr->type.isInteger(1)) {
    if (std::optional<bool> known = decide(expr))
      return Interval::of(*known);
    return Interval::between(0, 1);
  }
  RangeRule rule = getIntegerRule(expr->name.getValue());
  return rule ? rule(a) : Interval::all();
}

//===-- Deciding -----------------------------------------------------------------------------===//

/// A condition for all inputs.
std::optional<bool> IntervalAnalysis::decide(Expr x) {
  if (x->isConstant())
    return x->integer != 0;
  if (given)
    if (std::optional<Interval> told = given(x); told && told->isNumber())
      return told->least != 0;
  if (x->kind != Node::Kind::Compute)
    return std::nullopt;
  StringRef name = x->name.getValue();
  if (name == "math.isnan")
    return get(x->args[0]).mayBeNan ? std::nullopt : std::optional(false);
  if (name == "math.isinf" || name == "math.isfinite")
    return get(x->args[0]).isFinite() ? std::optional(name == "math.isfinite") : std::nullopt;
  if (x->is<arith::AndIOp, arith::OrIOp, arith::XOrIOp>())
    return decideLogical(x);
  return decideComparison(x);
}

std::optional<bool> IntervalAnalysis::decideLogical(Expr x) {
  if (x->is<arith::XOrIOp>()) {
    if (!x->type.isInteger(1))
      return std::nullopt;
    std::optional<bool> a = decide(x->args[0]), b = decide(x->args[1]);
    return a && b ? std::optional(*a != *b) : std::nullopt;
  }
  bool isAnd = x->is<arith::AndIOp>();
  std::optional<bool> a = decide(x->args[0]), b = decide(x->args[1]);
  if ((a && *a != isAnd) || (b && *b != isAnd))
    return !isAnd;
  return a && b ? std::optional(isAnd) : std::nullopt;
}

/// What a comparison says of each order; nothing for what is none, or is not decided by ranges.
std::optional<IntervalAnalysis::Orders> IntervalAnalysis::getOrders(Expr x) {
  if (x->is<arith::CmpFOp>()) {
    auto predicate = cast<arith::CmpFPredicateAttr>(x->attrs.get("predicate")).getValue();
    if (get(x->args[0]).mayBeNan || get(x->args[1]).mayBeNan)
      return std::nullopt;
    auto holds = [&](double a, double b) {
      return arith::applyCmpPredicate(predicate, APFloat(a), APFloat(b));
    };
    return Orders{holds(0, 1), holds(0, 0), holds(1, 0)};
  }
  if (!x->is<arith::CmpIOp>() || x->args[0]->type.isInteger(1))
    return std::nullopt;
  arith::CmpIPredicate predicate = getPredicate(x);
  // Unsigned ones are of numbers that are not negative, or cannot be told.
  bool isSigned = predicate <= arith::CmpIPredicate::sge;
  if (!isSigned && (!get(x->args[0]).isAtLeast(0) || !get(x->args[1]).isAtLeast(0)))
    return std::nullopt;
  auto holds = [&](uint64_t a, uint64_t b) {
    return arith::applyCmpPredicate(predicate, APInt(64, a), APInt(64, b));
  };
  return Orders{holds(0, 1), holds(0, 0), holds(1, 0)};
}

std::optional<bool> IntervalAnalysis::decideComparison(Expr x) {
  std::optional<Orders> says = getOrders(x);
  if (!says)
    return std::nullopt;
  if (x->args[0] == x->args[1])
    return says->equal;
  Interval a = get(x->args[0]), b = get(x->args[1]);
  bool mayBeLess = !(a.least > b.most || (a.least == b.most));
  bool mayBeGreater = !(a.most < b.least || (a.most == b.least));
  bool mayBeEqual = !(a.least > b.most || a.most < b.least ||
                      (a.least == b.most && (a.openLeast || b.openMost)) ||
                      (a.most == b.least && (a.openMost || b.openLeast)));
  // Infinite bounds that are values are equal to each other.
  bool saysTrue =
      (says->less && mayBeLess) || (says->equal && mayBeEqual) || (says->greater && mayBeGreater);
  bool saysFalse = (!says->less && mayBeLess) || (!says->equal && mayBeEqual) ||
                   (!says->greater && mayBeGreater);
  return saysTrue != saysFalse ? std::optional(saysTrue) : std::nullopt;
}

//===-- Folding ------------------------------------------------------------------------------===//

/// The greater or the lesser of two, where their ranges say which it is.
Expr IntervalAnalysis::foldExtreme(Expr x) {
  bool isMax = x->is<arith::MaximumFOp, arith::MaxNumFOp, arith::MaxSIOp>();
  bool isMin = x->is<arith::MinimumFOp, arith::MinNumFOp, arith::MinSIOp>();
  if (!isMax && !isMin)
    return {};
  Interval a = get(x->args[0]), b = get(x->args[1]);
  if (a.mayBeNan || b.mayBeNan)
    return {};
  if (a.least >= b.most)
    return x->args[isMax ? 0 : 1];
  return b.least >= a.most ? x->args[isMax ? 1 : 0] : Expr();
}

/// A sum of what is nothing beside the least that the other summand may be.
Expr IntervalAnalysis::foldNegligible(Expr x) {
  if (negligible <= 0 || !x->is<arith::AddFOp, arith::SubFOp>())
    return {};
  for (unsigned i : {0, 1}) {
    Interval other = get(x->args[1 - i]), self = get(x->args[i]);
    bool isSmall = std::fabs(self.least) <= negligible * other.least &&
                   std::fabs(self.most) <= negligible * other.least && !self.mayBeNan;
    if (other.isAbove(0) && isSmall && (i == 1 || x->is<arith::AddFOp>()))
      return x->args[1 - i];
  }
  return {};
}

/// The node without what its ranges decide; its operands are folded already.
Expr IntervalAnalysis::foldHere(Expr x) {
  if (x->type.isInteger(1))
    if (std::optional<bool> known = decide(x))
      return e.constant(int64_t(*known), x->type);
  if (x->is<arith::SelectOp>())
    if (std::optional<bool> known = decide(x->args[0]))
      return x->args[*known ? 1 : 2];
  if (Expr chosen = foldExtreme(x))
    return chosen;
  if (x->is<math::AbsFOp>() && get(x->args[0]).isAtLeast(0))
    return x->args[0];
  if (x->is<math::CopySignOp>() && get(x->args[0]).isAtLeast(0) && get(x->args[1]).isAbove(0))
    return x->args[0];
  if (Interval only = get(x); isa<FloatType>(x->type) && only.isNumber() && only.isFinite())
    return e.constant(only.least, cast<FloatType>(x->type));
  Expr summand = foldNegligible(x);
  return summand ? summand : x;
}

/// A choice by a comparison of places, without comparisons in its branches that this one decides.
Expr IntervalAnalysis::foldBranches(Expr choice) {
  Expr condition = choice->args[0];
  if (!condition->is<arith::CmpIOp>() || !condition->args[0]->getAffine() ||
      !condition->args[1]->getAffine())
    return choice;
  Predicates booleans(e);
  SmallVector<Expr> args(choice->args.begin(), choice->args.end());
  for (unsigned branch : {1, 2}) {
    Expr known = branch == 1 ? condition : booleans.negate(condition);
    llvm::DenseMap<Expr, Expr> decided;
    for (Expr part : collect(args[branch])) {
      if (!part->is<arith::CmpIOp>())
        continue;
      if (booleans.implies(known, part))
        decided[part] = booleans.constant(true);
      else if (booleans.implies(known, booleans.negate(part)))
        decided[part] = booleans.constant(false);
    }
    if (!decided.empty())
      args[branch] = e.replace(args[branch], decided);
  }
  return e.compute(choice->name, choice->attrs, choice->type, args);
}

Expr IntervalAnalysis::fold(Expr expr) {
  if (Expr found = folded.lookup(expr))
    return found;
  Expr result = expr;
  if (!expr->isConstant() && expr->kind != Node::Kind::Index) {
    // A choice that is decided hides the other side, which may not exist.
    if (expr->is<arith::SelectOp>())
      if (std::optional<bool> known = decide(fold(expr->args[0])))
        return folded[expr] = fold(expr->args[*known ? 1 : 2]);
    if (expr->is<arith::SelectOp>())
      if (Expr simpler = foldBranches(expr); simpler != expr)
        return folded[expr] = fold(simpler);
    SmallVector<Expr> args = llvm::map_to_vector(expr->args, [&](Expr arg) { return fold(arg); });
    if (ArrayRef<Expr>(args) != ArrayRef<Expr>(expr->args))
      result = e.withArgs(expr, args);
    if (result->kind == Node::Kind::Compute)
      result = foldHere(result);
  }
  folded[expr] = result;
  return result;
}
