// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Comparisons of floats are undone from the outside: what is added or multiplied moves to the other
// side, until conditions or integers are left.
#include "passes/Elements/Predicates.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/Elements/Evaluate.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::raise;

bool raise::isSafe(Expressions &e, Expr root) {
  AffineExpr zero = getAffineConstantExpr(0, e.getContext());
  for (Expr part : collect(root)) {
    if (part->kind != Node::Kind::Element)
      continue;
    for (auto [axis, index] : llvm::enumerate(part->args))
      if (index->kind == Node::Kind::Index &&
          (!e.isWithin(index->affine, zero, AffineExpr()) ||
           !e.isWithin(e.simplify(index->affine - e.getSize(part->tensor, axis)), AffineExpr(),
                       zero)))
        return false;
  }
  return true;
}

Expr Predicates::both(Expr a, Expr b) {
  if (implies(a, b))
    return a;
  return implies(b, a) ? b : e.compute<arith::AndIOp>(type, {a, b});
}

Expr Predicates::either(Expr a, Expr b) {
  if (implies(a, b))
    return b;
  return implies(b, a) ? a : e.compute<arith::OrIOp>(type, {a, b});
}

Expr Predicates::negate(Expr a) {
  if (a->isConstant())
    return constant(!a->integer);
  // Comparisons of integers have opposites.
  if (a->is<arith::CmpIOp>() && !a->args[0]->type.isInteger(1))
    return e.compare(arith::invertPredicate(getPredicate(a)), a->args[0], a->args[1]);
  return e.compute<arith::XOrIOp>(type, {a, constant(true)});
}

Expr Predicates::choose(Expr condition, Expr yes, Expr no) {
  if (yes == no)
    return yes;
  if (yes->isConstant())
    return yes->integer ? either(condition, no) : both(negate(condition), no);
  if (no->isConstant())
    return no->integer ? either(negate(condition), yes) : both(condition, yes);
  return either(both(condition, yes), both(negate(condition), no));
}

Expr Predicates::compareReal(arith::CmpFPredicate predicate, Expr x, double bound) {
  auto attrs = DictionaryAttr::get(
      e.getContext(), NamedAttribute(StringAttr::get(e.getContext(), "predicate"),
                                     arith::CmpFPredicateAttr::get(e.getContext(), predicate)));
  return e.compute<arith::CmpFOp>(type, {x, e.constant(bound, cast<FloatType>(x->type))}, attrs);
}

Expr Predicates::asWhole(Expr x) {
  // What the condition reads is read whatever is chosen.
  if (!x->is<arith::SelectOp>() || (isSafe(e, x->args[1]) && isSafe(e, x->args[2])))
    return {};
  auto [tensor, indices] = e.getHome(x);
  return tensor ? e.element(tensor, indices) : Expr();
}

/// `bound + by`, on the right side of `by` also where `bound` is too small for the sum: a mask's
/// 1 - m is above what a threshold leaves of it after division by -3e38.
static double shift(double bound, double by) {
  double sum = bound + by;
  if (sum != by || bound == 0)
    return sum;
  return std::nextafter(by, bound > 0 ? HUGE_VAL : -HUGE_VAL);
}

Expr Predicates::compare(Expr x, double bound, bool above) {
  if (x->isConstant())
    return constant(above ? x->getNumber() > bound : x->getNumber() < bound);
  if (isCast(x))
    return compare(x->args[0], bound, above);
  arith::CmpFPredicate predicate = above ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT;
  if (Expr whole = asWhole(x))
    return compareReal(predicate, whole, bound);
  Expr undone = undoOutermost(x, bound, above);
  return undone ? undone : compareReal(predicate, x, bound);
}

/// The comparison of what the outermost op of `x` is of. Null where that op cannot be undone.
Expr Predicates::undoOutermost(Expr x, double bound, bool above) {
  if (x->is<arith::SelectOp>())
    return choose(normalize(x->args[0]), compare(x->args[1], bound, above),
                  compare(x->args[2], bound, above));
  if (x->is<arith::NegFOp>())
    return compare(x->args[0], -bound, !above);
  if (x->is<math::LogOp>())
    return compare(x->args[0], std::exp(bound), above);
  if (x->is<arith::MulFOp, arith::DivFOp>())
    return undoProduct(x, bound, above);
  if (x->is<arith::AddFOp, arith::SubFOp>())
    return undoSum(x, bound, above);
  bool isLeast = x->is<arith::MinimumFOp, arith::MinNumFOp>();
  if (isLeast || x->is<arith::MaximumFOp, arith::MaxNumFOp>()) {
    Expr a = compare(x->args[0], bound, above), b = compare(x->args[1], bound, above);
    return isLeast == above ? both(a, b) : either(a, b);
  }
  if (x->is<arith::UIToFPOp, arith::SIToFPOp>())
    return undoConversion(x, bound, above);
  return {};
}

Expr Predicates::undoProduct(Expr x, double bound, bool above) {
  bool isProduct = x->is<arith::MulFOp>();
  for (unsigned i : {1, 0}) {
    double factor = x->args[i]->isConstant() ? x->args[i]->getNumber() : 0;
    if (factor == 0 || std::isinf(factor) || (i == 0 && !isProduct))
      continue;
    return compare(x->args[1 - i], isProduct ? bound / factor : bound * factor,
                   above == (factor > 0));
  }
  // A number or zero, as a condition says.
  if (isProduct)
    for (unsigned i : {0, 1}) {
      if (!x->args[i]->is<arith::UIToFPOp>() || !x->args[i]->args[0]->type.isInteger(1))
        continue;
      return choose(normalize(x->args[i]->args[0]), compare(x->args[1 - i], bound, above),
                    constant(above ? 0 > bound : 0 < bound));
    }
  return {};
}

Expr Predicates::undoSum(Expr x, double bound, bool above) {
  if (x->is<arith::AddFOp>()) {
    for (unsigned i : {0, 1})
      if (x->args[i]->isConstant())
        return compare(x->args[1 - i], shift(bound, -x->args[i]->getNumber()), above);
    return {};
  }
  if (x->args[1]->isConstant())
    return compare(x->args[0], shift(bound, x->args[1]->getNumber()), above);
  if (x->args[0]->isConstant())
    return compare(x->args[1], shift(-bound, x->args[0]->getNumber()), !above);
  return {};
}

/// Of an integer as a float.
Expr Predicates::undoConversion(Expr x, double bound, bool above) {
  Expr integer = x->args[0];
  if (integer->type.isInteger(1)) {
    double ifTrue = x->is<arith::SIToFPOp>() ? -1 : 1;
    bool yes = above ? ifTrue > bound : ifTrue < bound, no = above ? 0 > bound : 0 < bound;
    return choose(normalize(integer), constant(yes), constant(no));
  }
  if (std::fabs(bound) > 1e15)
    return constant(above == (bound < 0));
  int64_t limit = static_cast<int64_t>(above ? std::floor(bound) : std::ceil(bound));
  Expr right = e.constant(limit, integer->type);
  return normalize(
      e.compare(above ? arith::CmpIPredicate::sgt : arith::CmpIPredicate::slt, integer, right));
}

/// The conditions that a number depends on, if it depends on nothing else: formulas of conditions
/// as a whole, or what they are made of.
bool Predicates::addConditions(Expr x, bool isWhole, SmallVectorImpl<Expr> &conditions) {
  if (x->isConstant())
    return true;
  if (x->type.isInteger(1) && (isWhole || !x->is<arith::AndIOp, arith::OrIOp, arith::XOrIOp>())) {
    if (!llvm::is_contained(conditions, x))
      conditions.push_back(x);
    return conditions.size() <= 4;
  }
  return x->kind == Node::Kind::Compute &&
         llvm::all_of(x->args, [&](Expr arg) { return addConditions(arg, isWhole, conditions); });
}

bool Predicates::implies(Expr a, Expr b) {
  auto bound = [&](Expr x) -> AffineExpr { // x says: this is at most zero
    if (!x->is<arith::CmpIOp>() || x->args[0]->type.isInteger(1))
      return {};
    AffineExpr left = x->args[0]->getAffine(), right = x->args[1]->getAffine();
    Order order = getOrder(getPredicate(x));
    if (!left || !right || (!order.below && !order.above))
      return {};
    return e.simplify((order.below ? left - right : right - left) + (order.strict ? 1 : 0));
  };
  AffineExpr first = bound(a), second = bound(b);
  if (!first || !second)
    return false;
  return e.isWithin(e.simplify(second - first), AffineExpr(),
                    getAffineConstantExpr(1, e.getContext()));
}

/// A comparison of numbers that are made of conditions alone, as a formula of these.
Expr Predicates::byCases(Expr x, ArrayRef<Expr> conditions, llvm::DenseMap<Expr, Expr> known) {
  while (!conditions.empty() && known.contains(conditions.front()))
    conditions = conditions.drop_front();
  if (conditions.empty()) {
    Evaluator evaluate(e, 1);
    std::optional<Number> value = evaluate.evaluate(e.replace(x, known));
    return value ? constant(value->integer) : Expr();
  }
  Expr condition = conditions.front();
  Expr cases[2];
  for (bool holds : {false, true}) {
    llvm::DenseMap<Expr, Expr> more = known;
    more[condition] = constant(holds);
    for (Expr other : conditions.drop_front()) {
      if (!holds && implies(other, condition))
        more[other] = constant(false);
      if (holds && implies(condition, other))
        more[other] = constant(true);
    }
    cases[holds] = byCases(x, conditions.drop_front(), more);
    if (!cases[holds])
      return {};
  }
  return choose(normalize(condition), cases[1], cases[0]);
}

Expr Predicates::normalize(Expr x) {
  if (x->is<arith::CmpIOp, arith::CmpFOp>()) {
    // One formula in it keeps its form; several are taken apart.
    for (bool isWhole : {true, false}) {
      SmallVector<Expr> conditions;
      if (llvm::all_of(x->args,
                       [&](Expr arg) { return addConditions(arg, isWhole, conditions); }) &&
          !conditions.empty() && (!isWhole || conditions.size() == 1))
        if (Expr formula = byCases(x, conditions, llvm::DenseMap<Expr, Expr>()))
          return formula;
    }
  }
  if (x->is<arith::AndIOp>())
    return both(normalize(x->args[0]), normalize(x->args[1]));
  if (x->is<arith::OrIOp>())
    return either(normalize(x->args[0]), normalize(x->args[1]));
  if (x->is<arith::XOrIOp>() && x->type.isInteger(1)) {
    for (unsigned i : {0, 1})
      if (x->args[i]->isConstant())
        return x->args[i]->integer ? negate(normalize(x->args[1 - i])) : normalize(x->args[1 - i]);
    return x;
  }
  if (Expr whole = asWhole(x))
    return whole;
  if (x->is<arith::SelectOp>())
    return choose(normalize(x->args[0]), normalize(x->args[1]), normalize(x->args[2]));
  if (x->is<arith::MulIOp>() && x->type.isInteger(1))
    return both(normalize(x->args[0]), normalize(x->args[1]));
  if (x->is<arith::TruncIOp>() && x->type.isInteger(1))
    return normalize(
        e.compare(arith::CmpIPredicate::ne, x->args[0], e.constant(int64_t(0), x->args[0]->type)));
  if (x->is<arith::CmpIOp>())
    return normalizeIntegers(x);
  return x->is<arith::CmpFOp>() ? normalizeReals(x) : x;
}

/// The comparison of integers that says the same of numbers, if there is one; where a number is
/// missing the answers of floats that are ordered and unordered differ, which masks do not mean.
static std::optional<arith::CmpIPredicate> toInteger(arith::CmpFPredicate predicate) {
  switch (predicate) {
  case arith::CmpFPredicate::OEQ:
  case arith::CmpFPredicate::UEQ:
    return arith::CmpIPredicate::eq;
  case arith::CmpFPredicate::ONE:
  case arith::CmpFPredicate::UNE:
    return arith::CmpIPredicate::ne;
  case arith::CmpFPredicate::OLT:
  case arith::CmpFPredicate::ULT:
    return arith::CmpIPredicate::slt;
  case arith::CmpFPredicate::OLE:
  case arith::CmpFPredicate::ULE:
    return arith::CmpIPredicate::sle;
  case arith::CmpFPredicate::OGT:
  case arith::CmpFPredicate::UGT:
    return arith::CmpIPredicate::sgt;
  case arith::CmpFPredicate::OGE:
  case arith::CmpFPredicate::UGE:
    return arith::CmpIPredicate::sge;
  default:
    return std::nullopt;
  }
}

Expr Predicates::normalizeReals(Expr x) {
  std::optional<arith::CmpIPredicate> predicate =
      toInteger(cast<arith::CmpFPredicateAttr>(x->attrs.get("predicate")).getValue());
  if (!predicate)
    return x;
  Expr a = x->args[0], b = x->args[1];
  // Positions as floats.
  auto asInteger = [&](Expr part) -> Expr {
    part = stripCasts(part);
    if (part->is<arith::SIToFPOp>() && !part->args[0]->type.isInteger(1))
      return part->args[0];
    if (part->isConstant() && part->getNumber() == std::floor(part->getNumber()) &&
        std::fabs(part->getNumber()) < 1e9)
      return e.constant(static_cast<int64_t>(part->getNumber()),
                        IntegerType::get(e.getContext(), 64));
    return {};
  };
  Expr left = asInteger(a), right = asInteger(b);
  if (left && right && (!a->isConstant() || !b->isConstant())) {
    Type common = left->type.isIndex() || left->isConstant() ? right->type : left->type;
    auto convert = [&](Expr part) {
      return part->isConstant() ? e.constant(part->integer, common) : part;
    };
    return normalize(e.compare(*predicate, convert(left), convert(right)));
  }
  if (a->isConstant()) {
    std::swap(a, b);
    predicate = mirror(*predicate);
  }
  if (!b->isConstant())
    return x;
  double bound = b->getNumber();
  auto above = [&] { return compare(a, bound, true); };
  auto below = [&] { return compare(a, bound, false); };
  Order order = getOrder(*predicate);
  Expr result = nullptr;
  if (order.above || order.below) {
    // x >= n is not x < n.
    result = order.above == order.strict ? above() : below();
    if (!order.strict)
      result = negate(result);
  } else {
    result = *predicate == arith::CmpIPredicate::eq ? both(negate(above()), negate(below()))
                                                    : either(above(), below());
  }
  // Only if no float is left: else the first spelling is as good.
  bool hasFloats =
      llvm::any_of(collect(result), [](Expr part) { return part->is<arith::CmpFOp>(); });
  return hasFloats ? x : result;
}

Expr Predicates::normalizeIntegers(Expr x) {
  arith::CmpIPredicate predicate = getPredicate(x);
  Order order = getOrder(predicate);
  bool equality = predicate == arith::CmpIPredicate::eq || predicate == arith::CmpIPredicate::ne;
  for (unsigned i : {0, 1}) {
    Expr a = x->args[i], b = x->args[1 - i];
    if (!b->isConstant())
      continue;
    // Of a choice between numbers.
    if (a->is<arith::SelectOp>()) {
      auto with = [&](Expr part) {
        return i == 0 ? e.compare(predicate, part, b) : e.compare(predicate, b, part);
      };
      return choose(normalize(a->args[0]), normalize(with(a->args[1])),
                    normalize(with(a->args[2])));
    }
    // Of the greater or the less of two.
    if (i == 0 && (order.below || order.above) && a->is<arith::MaxSIOp, arith::MinSIOp>()) {
      Expr first = normalize(e.compare(predicate, a->args[0], b));
      Expr second = normalize(e.compare(predicate, a->args[1], b));
      return a->is<arith::MaxSIOp>() == order.below ? both(first, second) : either(first, second);
    }
    // Of a product of zeros and ones.
    if (equality && b->integer == 0 && a->is<arith::MulIOp>()) {
      auto isSet = [&](Expr part) {
        return normalize(
            e.compare(arith::CmpIPredicate::ne, part, e.constant(int64_t(0), part->type)));
      };
      Expr set = both(isSet(a->args[0]), isSet(a->args[1]));
      return predicate == arith::CmpIPredicate::ne ? set : negate(set);
    }
    // Of a boolean.
    if (a->type.isInteger(1) && equality) {
      bool wanted = (b->integer != 0) == (predicate == arith::CmpIPredicate::eq);
      return wanted ? normalize(a) : negate(normalize(a));
    }
  }
  if (x->args[0]->type.isInteger(1) && equality) {
    Expr a = normalize(x->args[0]), b = normalize(x->args[1]);
    Expr same = either(both(a, b), both(negate(a), negate(b)));
    return predicate == arith::CmpIPredicate::eq ? same : negate(same);
  }
  return x;
}
