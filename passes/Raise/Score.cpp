// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Masks and score rules from scores. What is not understood stays in the rule, or becomes a dense
// mask: slower, never wrong.
#include "passes/Raise/Score.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::raise;

/// What a producer writes for "not at all" is below; biases are above.
static constexpr double kVeryNegative = -5000;

/// Whether all elements that an expression names surely exist. Those of a concatenation's parts do
/// only where the part is chosen.
static bool isSafe(Expressions &e, Expr root) {
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

//===-- Booleans -----------------------------------------------------------------------------===//

namespace {
/// Makes boolean expressions; constants fold.
struct Booleans {
  Expressions &e;
  Type type;
  explicit Booleans(Expressions &e) : e(e), type(IntegerType::get(e.getContext(), 1)) {}

  Expr constant(bool value) { return e.constant(int64_t(value), type); }
  Expr both(Expr a, Expr b) {
    if (implies(a, b))
      return a;
    return implies(b, a) ? b : e.compute<arith::AndIOp>(type, {a, b});
  }
  Expr either(Expr a, Expr b) {
    if (implies(a, b))
      return b;
    return implies(b, a) ? a : e.compute<arith::OrIOp>(type, {a, b});
  }
  Expr negate(Expr a) {
    if (a->isConstant())
      return constant(!a->integer);
    // Comparisons of integers have opposites.
    if (a->is<arith::CmpIOp>() && !a->args[0]->type.isInteger(1))
      return e.compare(arith::invertPredicate(
                           cast<arith::CmpIPredicateAttr>(a->attrs.get("predicate")).getValue()),
                       a->args[0], a->args[1]);
    return e.compute<arith::XOrIOp>(type, {a, constant(true)});
  }
  Expr choose(Expr condition, Expr yes, Expr no) {
    if (yes == no)
      return yes;
    if (yes->isConstant())
      return yes->integer ? either(condition, no) : both(negate(condition), no);
    if (no->isConstant())
      return no->integer ? either(negate(condition), yes) : both(condition, yes);
    return either(both(condition, yes), both(negate(condition), no));
  }
  Expr compareReal(arith::CmpFPredicate predicate, Expr x, double bound) {
    auto attrs = DictionaryAttr::get(
        e.getContext(), NamedAttribute(StringAttr::get(e.getContext(), "predicate"),
                                       arith::CmpFPredicateAttr::get(e.getContext(), predicate)));
    return e.compute<arith::CmpFOp>(type, {x, e.constant(bound, cast<FloatType>(x->type))}, attrs);
  }

  /// A choice between parts of a concatenation as an element of the concatenation; null if the
  /// parts can be read by themselves.
  Expr asWhole(Expr x) {
    if (!x->is<arith::SelectOp>() || isSafe(e, x))
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

  /// Whether `x > bound` (above) or `x < bound`, as a predicate without floats where it can be.
  Expr compare(Expr x, double bound, bool above) {
    if (x->isConstant())
      return constant(above ? x->getNumber() > bound : x->getNumber() < bound);
    if (isCast(x))
      return compare(x->args[0], bound, above);
    if (Expr whole = asWhole(x))
      return compareReal(above ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT, whole,
                         bound);
    if (x->is<arith::SelectOp>())
      return choose(normalize(x->args[0]), compare(x->args[1], bound, above),
                    compare(x->args[2], bound, above));
    if (x->is<arith::NegFOp>())
      return compare(x->args[0], -bound, !above);
    if (x->is<math::LogOp>())
      return compare(x->args[0], std::exp(bound), above);
    if (x->is<arith::MulFOp>() || x->is<arith::DivFOp>())
      for (unsigned i : {1, 0}) {
        double factor = x->args[i]->isConstant() ? x->args[i]->getNumber() : 0;
        if (factor == 0 || std::isinf(factor) || (i == 0 && x->is<arith::DivFOp>()))
          continue;
        return compare(x->args[1 - i], x->is<arith::MulFOp>() ? bound / factor : bound * factor,
                       above == (factor > 0));
      }
    // A number or zero, as a condition says.
    if (x->is<arith::MulFOp>())
      for (unsigned i : {0, 1}) {
        if (!x->args[i]->is<arith::UIToFPOp>() || !x->args[i]->args[0]->type.isInteger(1))
          continue;
        return choose(normalize(x->args[i]->args[0]), compare(x->args[1 - i], bound, above),
                      constant(above ? 0 > bound : 0 < bound));
      }
    if (x->is<arith::AddFOp>())
      for (unsigned i : {0, 1})
        if (x->args[i]->isConstant())
          return compare(x->args[1 - i], shift(bound, -x->args[i]->getNumber()), above);
    if (x->is<arith::SubFOp>() && x->args[1]->isConstant())
      return compare(x->args[0], shift(bound, x->args[1]->getNumber()), above);
    if (x->is<arith::SubFOp>() && x->args[0]->isConstant())
      return compare(x->args[1], shift(-bound, x->args[0]->getNumber()), !above);
    if (x->is<arith::MinimumFOp>() || x->is<arith::MinNumFOp>() || x->is<arith::MaximumFOp>() ||
        x->is<arith::MaxNumFOp>()) {
      bool isLeast = x->is<arith::MinimumFOp>() || x->is<arith::MinNumFOp>();
      Expr a = compare(x->args[0], bound, above), b = compare(x->args[1], bound, above);
      return isLeast == above ? both(a, b) : either(a, b);
    }
    if (x->is<arith::UIToFPOp>() || x->is<arith::SIToFPOp>()) {
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
    return compareReal(above ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT, x, bound);
  }

  /// The conditions that a number depends on, if it depends on nothing else.
  bool addConditions(Expr x, SmallVectorImpl<Expr> &conditions) {
    if (x->isConstant())
      return true;
    if (x->type.isInteger(1) &&
        !(x->is<arith::AndIOp>() || x->is<arith::OrIOp>() || x->is<arith::XOrIOp>())) {
      if (!llvm::is_contained(conditions, x))
        conditions.push_back(x);
      return conditions.size() <= 4;
    }
    return x->kind == Node::Kind::Compute &&
           llvm::all_of(x->args, [&](Expr arg) { return addConditions(arg, conditions); });
  }

  /// Whether `a` can only hold where `b` does: two comparisons with one difference.
  bool implies(Expr a, Expr b) {
    auto bound = [&](Expr x) -> std::pair<AffineExpr, int64_t> { // expr <= number
      if (!x->is<arith::CmpIOp>() || x->args[0]->type.isInteger(1))
        return {};
      AffineExpr left = x->args[0]->getAffine(), right = x->args[1]->getAffine();
      if (!left || !right)
        return {};
      AffineExpr difference = left - right;
      auto predicate = cast<arith::CmpIPredicateAttr>(x->attrs.get("predicate")).getValue();
      bool less = predicate == arith::CmpIPredicate::slt || predicate == arith::CmpIPredicate::sle;
      bool more = predicate == arith::CmpIPredicate::sgt || predicate == arith::CmpIPredicate::sge;
      if (!less && !more)
        return {};
      bool strict =
          predicate == arith::CmpIPredicate::slt || predicate == arith::CmpIPredicate::sgt;
      return {e.simplify((less ? difference : difference * -1) + (strict ? 1 : 0)), 0};
    };
    AffineExpr first = bound(a).first, second = bound(b).first;
    if (!first || !second)
      return false;
    return e.isWithin(e.simplify(second - first), AffineExpr(),
                      getAffineConstantExpr(1, e.getContext()));
  }

  /// A comparison of numbers that are made of conditions alone, as a formula of these.
  Expr byCases(Expr x, ArrayRef<Expr> conditions, llvm::DenseMap<Expr, Expr> known) {
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

  /// The same predicate with comparisons of numbers that are booleans undone.
  Expr normalize(Expr x) {
    if (x->is<arith::CmpIOp>() || x->is<arith::CmpFOp>()) {
      SmallVector<Expr> conditions;
      if (llvm::all_of(x->args, [&](Expr arg) { return addConditions(arg, conditions); }) &&
          !conditions.empty())
        if (Expr formula = byCases(x, conditions, llvm::DenseMap<Expr, Expr>()))
          return formula;
    }
    if (x->is<arith::AndIOp>())
      return both(normalize(x->args[0]), normalize(x->args[1]));
    if (x->is<arith::OrIOp>())
      return either(normalize(x->args[0]), normalize(x->args[1]));
    if (x->is<arith::XOrIOp>() && x->type.isInteger(1)) {
      for (unsigned i : {0, 1})
        if (x->args[i]->isConstant())
          return x->args[i]->integer ? negate(normalize(x->args[1 - i]))
                                     : normalize(x->args[1 - i]);
      return x;
    }
    if (Expr whole = asWhole(x))
      return whole;
    if (x->is<arith::SelectOp>())
      return choose(normalize(x->args[0]), normalize(x->args[1]), normalize(x->args[2]));
    if (x->is<arith::MulIOp>() && x->type.isInteger(1))
      return both(normalize(x->args[0]), normalize(x->args[1]));
    if (x->is<arith::TruncIOp>() && x->type.isInteger(1))
      return normalize(e.compare(arith::CmpIPredicate::ne, x->args[0],
                                 e.constant(int64_t(0), x->args[0]->type)));
    if (x->is<arith::CmpIOp>())
      return normalizeIntegers(x);
    if (!x->is<arith::CmpFOp>())
      return x;
    auto predicate = cast<arith::CmpFPredicateAttr>(x->attrs.get("predicate")).getValue();
    Expr a = x->args[0], b = x->args[1];
    // Positions as floats.
    auto toInteger = [&](Expr part) -> Expr {
      part = stripCasts(part);
      if (part->is<arith::SIToFPOp>() && !part->args[0]->type.isInteger(1))
        return part->args[0];
      if (part->isConstant() && part->getNumber() == std::floor(part->getNumber()) &&
          std::fabs(part->getNumber()) < 1e9)
        return e.constant(static_cast<int64_t>(part->getNumber()),
                          IntegerType::get(e.getContext(), 64));
      return {};
    };
    Expr left = toInteger(a), right = toInteger(b);
    if (left && right && (!a->isConstant() || !b->isConstant())) {
      std::optional<arith::CmpIPredicate> integer;
      switch (predicate) {
      case arith::CmpFPredicate::OEQ:
      case arith::CmpFPredicate::UEQ:
        integer = arith::CmpIPredicate::eq;
        break;
      case arith::CmpFPredicate::ONE:
      case arith::CmpFPredicate::UNE:
        integer = arith::CmpIPredicate::ne;
        break;
      case arith::CmpFPredicate::OLT:
      case arith::CmpFPredicate::ULT:
        integer = arith::CmpIPredicate::slt;
        break;
      case arith::CmpFPredicate::OLE:
      case arith::CmpFPredicate::ULE:
        integer = arith::CmpIPredicate::sle;
        break;
      case arith::CmpFPredicate::OGT:
      case arith::CmpFPredicate::UGT:
        integer = arith::CmpIPredicate::sgt;
        break;
      case arith::CmpFPredicate::OGE:
      case arith::CmpFPredicate::UGE:
        integer = arith::CmpIPredicate::sge;
        break;
      default:
        break;
      }
      if (integer) {
        Type common = left->type.isIndex() || left->isConstant() ? right->type : left->type;
        auto convert = [&](Expr part) {
          return part->isConstant() ? e.constant(part->integer, common) : part;
        };
        return normalize(e.compare(*integer, convert(left), convert(right)));
      }
    }
    bool swapped = a->isConstant();
    if (swapped)
      std::swap(a, b);
    if (!b->isConstant())
      return x;
    double bound = b->getNumber();
    auto above = [&] { return compare(a, bound, true); };
    auto below = [&] { return compare(a, bound, false); };
    Expr result = nullptr;
    switch (predicate) {
    case arith::CmpFPredicate::OGT:
    case arith::CmpFPredicate::UGT:
      result = swapped ? below() : above();
      break;
    case arith::CmpFPredicate::OLT:
    case arith::CmpFPredicate::ULT:
      result = swapped ? above() : below();
      break;
    case arith::CmpFPredicate::OGE:
    case arith::CmpFPredicate::UGE:
      result = negate(swapped ? above() : below());
      break;
    case arith::CmpFPredicate::OLE:
    case arith::CmpFPredicate::ULE:
      result = negate(swapped ? below() : above());
      break;
    case arith::CmpFPredicate::OEQ:
    case arith::CmpFPredicate::UEQ:
      result = both(negate(above()), negate(below()));
      break;
    case arith::CmpFPredicate::ONE:
    case arith::CmpFPredicate::UNE:
      result = either(above(), below());
      break;
    default:
      return x;
    }
    // Only if no float is left: else the first spelling is as good.
    for (Expr part : collect(result))
      if (part->is<arith::CmpFOp>())
        return x;
    return result;
  }

  Expr normalizeIntegers(Expr x) {
    auto predicate = cast<arith::CmpIPredicateAttr>(x->attrs.get("predicate")).getValue();
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
      if (i == 0 && !equality && (a->is<arith::MaxSIOp>() || a->is<arith::MinSIOp>())) {
        bool isLess =
            predicate == arith::CmpIPredicate::slt || predicate == arith::CmpIPredicate::sle;
        bool isGreater =
            predicate == arith::CmpIPredicate::sgt || predicate == arith::CmpIPredicate::sge;
        if (isLess || isGreater) {
          Expr first = normalize(e.compare(predicate, a->args[0], b));
          Expr second = normalize(e.compare(predicate, a->args[1], b));
          return a->is<arith::MaxSIOp>() == isLess ? both(first, second) : either(first, second);
        }
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
};
} // namespace

//===-- Splitting ----------------------------------------------------------------------------===//

/// The number that an expression is, if it depends on nothing.
static std::optional<double> getNumber(Expressions &e, Expr expr) {
  if (expr->isConstant())
    return expr->getNumber();
  for (Expr part : collect(expr))
    if (part->kind == Node::Kind::Element || part->kind == Node::Kind::Index ||
        part->kind == Node::Kind::Reduce)
      return std::nullopt;
  Evaluator evaluate(e, 1);
  return evaluate.evaluateReal(expr);
}

/// The very negative number that `expr` is where it is not (nearly) zero; nothing if it takes other
/// values too. Tensors that are computed with like booleans, (1 - m) * -1e4, are taken as such.
static std::optional<double> getAdditiveMask(Expressions &e, Expr expr, double sign) {
  std::optional<double> low;
  bool sawZero = false;
  SmallVector<unsigned> dims;
  for (unsigned dim : expr->dims.set_bits())
    dims.push_back(dim);
  for (int seed = 1; seed <= 4; ++seed) {
    Evaluator evaluate(e, seed * 77);
    evaluate.given = [&](Value tensor, ArrayRef<int64_t> indices) -> std::optional<Number> {
      if (isa_and_nonnull<arith::ConstantOp>(tensor.getDefiningOp()))
        return std::nullopt;
      uint64_t bits = llvm::hash_combine(seed, llvm::hash_combine_range(indices));
      int64_t bit = (bits >> 7) & 1;
      return Number{static_cast<double>(bit), bit};
    };
    for (int n = 0; n < 24; ++n) {
      evaluate.place.assign(e.getNumDims(), 0);
      for (auto [i, dim] : llvm::enumerate(dims)) {
        int64_t extent = std::max<int64_t>(evaluate.getExtent(dim), 1);
        evaluate.place[dim] = n == 0   ? 0
                              : n == 1 ? extent - 1
                                       : (n * (2 * i + 3) + n * n + seed) % extent;
      }
      std::optional<double> value = evaluate.evaluateReal(expr);
      if (!value || std::isnan(*value))
        return std::nullopt;
      *value *= sign;
      if (std::fabs(*value) < 1e-3) {
        sawZero = true;
        continue;
      }
      if (*value > kVeryNegative)
        return std::nullopt;
      if (!low || *value > *low)
        low = value;
    }
  }
  return sawZero ? low : std::nullopt;
}

/// What a row without a key gives when `number` is added to its scores of this type.
static Fill getFillOfSum(double number, Type type) {
  if (std::isinf(number))
    return Fill::Nan;
  // If scores vanish beside the number all are alike.
  int bits = cast<FloatType>(type).getFPMantissaWidth();
  return std::fabs(number) >= std::ldexp(1.0, bits - 1) ? Fill::Mean : Fill::Raw;
}

namespace {
class Splitter {
public:
  Splitter(Expressions &e, const AttentionForm &form) : e(e), form(form), booleans(e) {}

  MaskedScore run() {
    // Parts of a concatenation exist only where they are chosen: it is read whole.
    llvm::DenseMap<Expr, Expr> whole;
    for (Expr part : collect(form.score))
      if (!hasRaw(part))
        if (Expr element = booleans.asWhole(part))
          whole[part] = element;
    Expr rule = split(whole.empty() ? form.score : e.replace(form.score, whole));
    MaskedScore result;
    // Where the mask allows, its conditions hold.
    llvm::DenseMap<Expr, Expr> known;
    for (Expr condition : conditions)
      addKnown(condition, true, known);
    result.rule = known.empty() ? rule : e.replace(rule, known);
    if (!contains(result.rule, form.raw))
      result.rule = rule;
    for (Expr condition : conditions)
      result.allowed = result.allowed ? booleans.both(result.allowed, condition) : condition;
    result.fill = fill;
    return result;
  }

private:
  void addKnown(Expr condition, bool value, llvm::DenseMap<Expr, Expr> &known) {
    if (condition->is<arith::AndIOp>() && value) {
      addKnown(condition->args[0], true, known);
      addKnown(condition->args[1], true, known);
      return;
    }
    if (condition->is<arith::XOrIOp>())
      for (unsigned i : {0, 1})
        if (condition->args[i]->isConstant() && condition->args[i]->integer)
          addKnown(condition->args[1 - i], !value, known);
    known[condition] = booleans.constant(value);
  }

  void forbid(Expr allowed, Fill how) {
    allowed = booleans.normalize(allowed);
    conditions.push_back(allowed);
    if (!fill)
      fill = how;
  }

  bool hasRaw(Expr expr) { return contains(expr, form.raw); }

  Expr split(Expr x) {
    if (x == form.raw)
      return x;
    if (isCast(x))
      return split(x->args[0]);
    if (x->is<arith::SelectOp>()) {
      for (unsigned i : {2, 1}) {
        std::optional<double> number = getNumber(e, x->args[i]);
        if (!number || *number > kVeryNegative || !hasRaw(x->args[3 - i]))
          continue;
        forbid(i == 2 ? x->args[0] : booleans.negate(x->args[0]),
               std::isinf(*number) ? Fill::Nan : Fill::Mean);
        return split(x->args[3 - i]);
      }
      return x;
    }
    if (x->is<arith::AddFOp>() || x->is<arith::SubFOp>()) {
      for (unsigned i : {0, 1}) {
        Expr inner = x->args[i], other = x->args[1 - i];
        if (!hasRaw(inner) || hasRaw(other) || (i == 1 && x->is<arith::SubFOp>()))
          continue;
        Expr rest = addMasks(other, x->is<arith::SubFOp>() ? -1 : 1, x->type);
        Expr score = split(inner);
        if (!rest)
          return score;
        return rebuild(x, i, score, rest);
      }
      return x;
    }
    if (x->is<arith::MulFOp>() || x->is<arith::DivFOp>()) {
      for (unsigned i : {0, 1}) {
        Expr inner = x->args[i], other = x->args[1 - i];
        if (!hasRaw(inner) || hasRaw(other) || (i == 1 && x->is<arith::DivFOp>()))
          continue;
        std::optional<double> number = getNumber(e, other);
        // A mask below stays one if what it puts in remains very negative.
        if (number && (*number <= 0 || *number > 1e4 || *number < 1e-4))
          return x;
        if (!number && !isMaskFactor(other))
          return x;
        return rebuild(x, i, split(inner), other);
      }
      return x;
    }
    if (x->is<arith::MaximumFOp>() || x->is<arith::MaxNumFOp>())
      for (unsigned i : {0, 1}) {
        std::optional<double> number = getNumber(e, x->args[1 - i]);
        if (number && *number <= kVeryNegative && hasRaw(x->args[i]))
          return split(x->args[i]);
      }
    return x;
  }

  /// Zeros and ones: scores are multiplied by the mask whose complement is added.
  bool isMaskFactor(Expr factor) {
    factor = stripCasts(factor);
    return factor->is<arith::UIToFPOp>() || factor->is<arith::SIToFPOp>() ||
           factor->is<arith::SelectOp>();
  }

  /// Takes the masks out of what is added; the rest, or null.
  Expr addMasks(Expr x, double sign, Type type) {
    if (std::optional<double> low = getAdditiveMask(e, x, sign)) {
      // Half way, so that rounding on either side does not matter.
      double border = sign * (std::isinf(*low) ? kVeryNegative : *low / 2);
      forbid(booleans.compare(x, border, /*above=*/sign > 0), getFillOfSum(*low, type));
      return {};
    }
    Expr inner = stripCasts(x);
    if (!inner->is<arith::AddFOp>())
      return x;
    Expr a = addMasks(inner->args[0], sign, type), b = addMasks(inner->args[1], sign, type);
    if (a && b)
      return a == inner->args[0] && b == inner->args[1] ? x : rebuild(inner, 0, a, b);
    return a ? a : b;
  }

  /// The op `x` on a new operand `i` and another.
  Expr rebuild(Expr x, unsigned i, Expr inner, Expr other) {
    auto type = cast<FloatType>(x->type);
    SmallVector<Expr> args{e.convert(inner, type), e.convert(other, type)};
    if (i == 1)
      std::swap(args[0], args[1]);
    return e.compute(x->name, x->attrs, type, args);
  }

  Expressions &e;
  const AttentionForm &form;
  Booleans booleans;
  SmallVector<Expr> conditions;
  std::optional<Fill> fill;
};
} // namespace

MaskedScore raise::splitScore(Expressions &e, const AttentionForm &form) {
  return Splitter(e, form).run();
}

//===-- Mask ops -----------------------------------------------------------------------------===//

Value ScoreBuilder::logical(bool isAnd, ArrayRef<Value> masks) {
  if (masks.size() == 1)
    return masks[0];
  Type type = MaskType::get(builder.getContext());
  return isAnd ? MaskAndOp::create(builder, loc, type, masks).getResult()
               : MaskOrOp::create(builder, loc, type, masks).getResult();
}

Value ScoreBuilder::negate(Value mask) {
  if (auto inner = mask.getDefiningOp<MaskNotOp>())
    return inner.getMask();
  // The complement of half a band is the other half.
  Type type = mask.getType();
  if (mask.getDefiningOp<MaskCausalOp>())
    return MaskWindowOp::create(builder, loc, type, builder.getI64IntegerAttr(-1), IntegerAttr());
  if (auto window = mask.getDefiningOp<MaskWindowOp>()) {
    auto bound = [&](int64_t number) { return builder.getI64IntegerAttr(number); };
    if (window.getLeft() && !window.getRight()) { // k >= q - left becomes k <= q - left - 1
      int64_t right = -static_cast<int64_t>(*window.getLeft()) - 1;
      return right == 0 ? MaskCausalOp::create(builder, loc, type).getResult()
                        : MaskWindowOp::create(builder, loc, type, IntegerAttr(), bound(right))
                              .getResult();
    }
    if (window.getRight() && !window.getLeft())
      return MaskWindowOp::create(
          builder, loc, type, bound(-static_cast<int64_t>(*window.getRight()) - 1), IntegerAttr());
  }
  return MaskNotOp::create(builder, loc, type, mask);
}

/// The factor of a dim in an affine expression without divisions of it; nothing else.
static std::optional<int64_t> getFactor(Expressions &e, AffineExpr expr, unsigned dim) {
  if (!expr.isFunctionOfDim(dim))
    return 0;
  SmallVector<AffineExpr> dims;
  for (unsigned d = 0; d < e.getNumDims(); ++d)
    dims.push_back(getAffineDimExpr(d, e.getContext()));
  auto at = [&](int64_t number) {
    dims[dim] = getAffineConstantExpr(number, e.getContext());
    return expr.replaceDims(dims);
  };
  AffineExpr step = e.simplify(at(1) - at(0)), next = e.simplify(at(5) - at(4));
  return step == next ? getInteger(step) : std::nullopt;
}

namespace {
/// lower <= j - i <= upper, either absent.
struct Band {
  AffineExpr lower, upper;
};
} // namespace

/// A comparison of `difference` with zero as a band of j - i.
static std::optional<Band> getBand(Expressions &e, const AttentionForm &form, AffineExpr difference,
                                   arith::CmpIPredicate predicate) {
  if (form.queries.size() != 1)
    return std::nullopt;
  unsigned query = form.queries[0];
  std::optional<int64_t> i = getFactor(e, difference, query),
                         j = getFactor(e, difference, form.key);
  if (!i || !j || *i != -*j || std::abs(*j) != 1)
    return std::nullopt;
  AffineExpr rest = e.simplify(
      difference -
      (getAffineDimExpr(form.key, e.getContext()) - getAffineDimExpr(query, e.getContext())) * *j);
  if (!rest.isSymbolicOrConstant())
    return std::nullopt;
  // *j * (j - i) + rest ? 0
  if (*j < 0) {
    rest = rest * -1;
    switch (predicate) {
    case arith::CmpIPredicate::slt:
      predicate = arith::CmpIPredicate::sgt;
      break;
    case arith::CmpIPredicate::sle:
      predicate = arith::CmpIPredicate::sge;
      break;
    case arith::CmpIPredicate::sgt:
      predicate = arith::CmpIPredicate::slt;
      break;
    case arith::CmpIPredicate::sge:
      predicate = arith::CmpIPredicate::sle;
      break;
    default:
      break;
    }
  }
  AffineExpr bound = e.simplify(rest * -1); // j - i ? bound
  switch (predicate) {
  case arith::CmpIPredicate::slt:
    return Band{{}, e.simplify(bound - 1)};
  case arith::CmpIPredicate::sle:
    return Band{{}, bound};
  case arith::CmpIPredicate::sgt:
    return Band{e.simplify(bound + 1), {}};
  case arith::CmpIPredicate::sge:
    return Band{bound, {}};
  case arith::CmpIPredicate::eq:
    return Band{bound, bound};
  default:
    return std::nullopt;
  }
}

/// A comparison's predicate and the difference of its sides, if both are index arithmetic.
static AffineExpr getDifference(Expressions &e, Expr comparison, arith::CmpIPredicate &predicate) {
  predicate = cast<arith::CmpIPredicateAttr>(comparison->attrs.get("predicate")).getValue();
  AffineExpr a = comparison->args[0]->getAffine(), b = comparison->args[1]->getAffine();
  return a && b ? e.simplify(a - b) : AffineExpr();
}

AffineExpr ScoreBuilder::findQueryOffset(Expr allowed) {
  if (form.queries.size() != 1)
    return {};
  AffineExpr found;
  AffineExpr lengths = e.simplify(e.getExtent(form.key) - e.getExtent(form.queries[0]));
  for (Expr part : collect(allowed)) {
    std::optional<Band> band;
    if (part->is<arith::CmpIOp>()) {
      arith::CmpIPredicate predicate;
      if (AffineExpr difference = getDifference(e, part, predicate))
        band = getBand(e, form, difference, predicate);
    } else if (part->kind == Node::Kind::Element && part->args.size() >= 2 &&
               isa_and_nonnull<arith::ConstantOp>(part->tensor.getDefiningOp())) {
      // A slice of a triangle: its diagonal.
      AffineExpr row, column;
      for (Expr index : part->args) {
        AffineExpr affine = index->getAffine();
        if (affine && index->dependsOn(form.queries[0]))
          row = affine;
        if (affine && index->dependsOn(form.key))
          column = affine;
      }
      if (row && column)
        band = getBand(e, form, e.simplify(column - row), arith::CmpIPredicate::sle);
    }
    if (!band)
      continue;
    for (AffineExpr bound : {band->upper, band->lower}) {
      if (!bound)
        continue;
      std::optional<int64_t> number = getInteger(bound);
      if (number && *number != 0 && bound == lengths && !found)
        found = bound;
      // The first place of a query, whose symbols the bound names.
      if (!number && !found) {
        SmallVector<AffineExpr> zero(e.getNumSymbols(), getAffineConstantExpr(0, e.getContext()));
        std::optional<int64_t> rest =
            getInteger(simplifyAffineExpr(bound.replaceSymbols(zero), 0, 0));
        AffineExpr symbolic = rest ? e.simplify(bound - *rest) : bound;
        // One bound beyond the diagonal is still a diagonal: j < i + n is j <= i + n - 1.
        found = symbolic;
      }
    }
  }
  offset = found;
  return found;
}

Value ScoreBuilder::buildQueryPositions() {
  if (!offset)
    return {};
  AffineExpr length = getExtent(e, form.queries);
  Value first = e.materialize(builder, loc, offset);
  std::optional<int64_t> number = getInteger(length);
  auto type =
      RankedTensorType::get({1, number.value_or(ShapedType::kDynamic)}, builder.getI32Type());
  return PositionsOp::create(builder, loc, type, first,
                             number ? Value() : e.materialize(builder, loc, length));
}

/// Ids, lengths and positions are i32 in mask ops.
static Value toI32(OpBuilder &builder, Location loc, Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  unsigned width = type.getElementTypeBitWidth();
  auto narrow = type.clone(builder.getI32Type());
  if (width > 32)
    return arith::TruncIOp::create(builder, loc, narrow, tensor);
  if (width < 32)
    return arith::ExtSIOp::create(builder, loc, narrow, tensor);
  return tensor;
}

Value ScoreBuilder::maskOfComparison(Expr comparison, bool negated) {
  arith::CmpIPredicate predicate;
  MLIRContext *context = builder.getContext();
  Type maskType = MaskType::get(context);
  auto bandMask = [&](Band band) -> Value {
    std::optional<int64_t> left, right;
    AffineExpr shift = offset ? offset : getAffineConstantExpr(0, context);
    if (band.upper && !(right = getInteger(e.simplify(band.upper - shift))))
      return {};
    if (band.lower) {
      std::optional<int64_t> lower = getInteger(e.simplify(band.lower - shift));
      if (!lower)
        return {};
      left = -*lower;
    }
    if (right && *right == 0 && !left)
      return MaskCausalOp::create(builder, loc, maskType);
    auto bound = [&](std::optional<int64_t> number) {
      return number ? builder.getI64IntegerAttr(*number) : IntegerAttr();
    };
    return MaskWindowOp::create(builder, loc, maskType, bound(left), bound(right));
  };
  Expr a = comparison->args[0], b = comparison->args[1];
  if (AffineExpr difference = getDifference(e, comparison, predicate)) {
    if (predicate == arith::CmpIPredicate::ne) {
      std::optional<Band> band = getBand(e, form, difference, arith::CmpIPredicate::eq);
      Value mask = band ? bandMask(*band) : Value();
      return mask ? (negated ? mask : negate(mask)) : Value();
    }
    if (std::optional<Band> band = getBand(e, form, difference, predicate)) {
      Value mask = bandMask(*band);
      return mask && negated ? negate(mask) : mask;
    }
    // j < length, the same for all rows.
    std::optional<int64_t> factor = getFactor(e, difference, form.key);
    if (factor && std::abs(*factor) == 1) {
      AffineExpr rest = e.simplify(difference - getAffineDimExpr(form.key, context) * *factor);
      if (rest.isSymbolicOrConstant()) {
        // factor * j + rest ? 0
        AffineExpr bound = *factor > 0 ? e.simplify(rest * -1) : rest;
        if (*factor < 0)
          predicate = predicate == arith::CmpIPredicate::slt   ? arith::CmpIPredicate::sgt
                      : predicate == arith::CmpIPredicate::sle ? arith::CmpIPredicate::sge
                      : predicate == arith::CmpIPredicate::sgt ? arith::CmpIPredicate::slt
                      : predicate == arith::CmpIPredicate::sge ? arith::CmpIPredicate::sle
                                                               : predicate;
        bool below =
            predicate == arith::CmpIPredicate::slt || predicate == arith::CmpIPredicate::sle;
        bool above =
            predicate == arith::CmpIPredicate::sgt || predicate == arith::CmpIPredicate::sge;
        if (!below && !above)
          return {};
        if (predicate == arith::CmpIPredicate::sle || predicate == arith::CmpIPredicate::sgt)
          bound = bound + 1;
        Value length = e.materialize(builder, loc, e.simplify(bound));
        Value narrow = arith::IndexCastOp::create(builder, loc, builder.getI32Type(), length);
        auto type = RankedTensorType::get({1}, builder.getI32Type());
        Value lengths = tensor::SplatOp::create(builder, loc, narrow, type);
        Value mask = MaskLengthOp::create(builder, loc, maskType, lengths);
        return above != negated ? negate(mask) : mask;
      }
    }
    return {};
  }

  // |i - j| <= w
  predicate = cast<arith::CmpIPredicateAttr>(comparison->attrs.get("predicate")).getValue();
  for (unsigned side : {0, 1}) {
    Expr x = comparison->args[side], other = comparison->args[1 - side];
    if (!x->is<math::AbsIOp>() || !other->isConstant())
      continue;
    AffineExpr inside = x->args[0]->getAffine();
    std::optional<Band> unit =
        inside ? getBand(e, form, inside, arith::CmpIPredicate::eq) : std::nullopt;
    if (!unit)
      continue;
    bool below = predicate == arith::CmpIPredicate::slt || predicate == arith::CmpIPredicate::sle;
    bool above = predicate == arith::CmpIPredicate::sgt || predicate == arith::CmpIPredicate::sge;
    if (side == 1)
      std::swap(below, above);
    if (!below && !above)
      return {};
    bool strict = predicate == arith::CmpIPredicate::slt || predicate == arith::CmpIPredicate::sgt;
    // |x| < w is |x| <= w - 1; |x| > w is not |x| <= w; |x| >= w is not |x| <= w - 1.
    int64_t width = other->integer - (below ? strict : !strict);
    Value mask = bandMask({e.simplify(unit->lower - width), e.simplify(unit->lower + width)});
    if (!mask)
      return {};
    return above != negated ? negate(mask) : mask;
  }

  // A tensor's integers beside positions or each other.
  Expr left = stripIntegerCasts(a), right = stripIntegerCasts(b);
  auto dependsOnQueries = [&](Expr x) {
    return llvm::any_of(form.queries, [&](unsigned dim) { return x->dependsOn(dim); });
  };
  auto hasHeads = [&](Expr x) {
    return llvm::any_of(form.heads, [&](unsigned dim) { return x->dependsOn(dim); });
  };
  auto atPlace = [&](Expr x) { // an element whose indices are index arithmetic
    return x->kind == Node::Kind::Element && x->type.getIntOrFloatBitWidth() >= 8 && !hasHeads(x) &&
           llvm::all_of(x->args, [&](Expr index) { return bool(index->getAffine()); });
  };
  auto rows = [&](Expr x, ArrayRef<unsigned> sequence) -> Value {
    bool hasBatch = llvm::any_of(form.batch, [&](unsigned dim) { return x->dependsOn(dim); });
    SmallVector<Axis> axes{hasBatch ? Axis(form.batch) : Axis(), Axis(sequence)};
    Value tensor = layOut(e, builder, loc, x->tensor, ArrayRef<Expr>(x->args), axes);
    return tensor ? toI32(builder, loc, tensor) : Value();
  };
  if (predicate == arith::CmpIPredicate::eq || predicate == arith::CmpIPredicate::ne) {
    if (!atPlace(left) || !atPlace(right))
      return {};
    if (left->dependsOn(form.key))
      std::swap(left, right);
    if (left->dependsOn(form.key) || !right->dependsOn(form.key) || !dependsOnQueries(left) ||
        dependsOnQueries(right))
      return {};
    Value ofQueries = rows(left, form.queries), ofKeys = rows(right, {form.key});
    if (!ofQueries || !ofKeys)
      return {};
    Value mask = MaskSegmentOp::create(builder, loc, maskType, ofQueries, ofKeys);
    return (predicate == arith::CmpIPredicate::ne) != negated ? negate(mask) : mask;
  }

  // j < lengths[b], also as j <= lengths[b] - 1.
  bool swapped = false;
  AffineExpr position = left->getAffine();
  Expr length = right;
  if (!position) {
    position = right->getAffine();
    length = left;
    swapped = true;
  }
  if (!position)
    return {};
  int64_t more = 0;
  while (length->is<arith::AddIOp>() || length->is<arith::SubIOp>()) {
    if (!length->args[1]->isConstant())
      return {};
    more += length->is<arith::AddIOp>() ? length->args[1]->integer : -length->args[1]->integer;
    length = stripIntegerCasts(length->args[0]);
  }
  if (!atPlace(length) || length->dependsOn(form.key) || dependsOnQueries(length))
    return {};
  std::optional<int64_t> factor = getFactor(e, position, form.key);
  AffineExpr rest = e.simplify(position - getAffineDimExpr(form.key, context));
  std::optional<int64_t> start = getInteger(rest);
  if (!factor || *factor != 1 || !start)
    return {};
  // j + start ? length + more
  more -= *start;
  bool below = predicate == arith::CmpIPredicate::slt || predicate == arith::CmpIPredicate::sle;
  bool above = predicate == arith::CmpIPredicate::sgt || predicate == arith::CmpIPredicate::sge;
  bool inclusive = predicate == arith::CmpIPredicate::sle || predicate == arith::CmpIPredicate::sge;
  if (swapped)
    std::swap(below, above);
  if (!below && !above)
    return {};
  if (below && inclusive) // j <= n is j < n + 1
    ++more;
  if (above && !inclusive) // j > n is not j < n + 1
    ++more;
  bool hasBatch = llvm::any_of(form.batch, [&](unsigned dim) { return length->dependsOn(dim); });
  SmallVector<Axis> axes{hasBatch ? Axis(form.batch) : Axis()};
  Value lengths = layOut(e, builder, loc, length->tensor, ArrayRef<Expr>(length->args), axes);
  if (!lengths)
    return {};
  lengths = toI32(builder, loc, lengths);
  if (more != 0) {
    auto type = cast<RankedTensorType>(lengths.getType());
    SmallVector<Value> sizes;
    if (type.isDynamicDim(0))
      sizes.push_back(tensor::DimOp::create(builder, loc, lengths, 0));
    Value number = arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(more));
    Value add = tensor::SplatOp::create(builder, loc, number, type, sizes);
    lengths = arith::AddIOp::create(builder, loc, lengths, add);
  }
  Value mask = MaskLengthOp::create(builder, loc, maskType, lengths);
  return above != negated ? negate(mask) : mask;
}

/// A predicate on elements of a constant matrix, read at (i + a, j + b): a band?
Value ScoreBuilder::maskOfConstant(Expr predicate) {
  Expr element = predicate;
  while (element->kind == Node::Kind::Compute) {
    Expr next = nullptr;
    for (Expr arg : element->args)
      if (!arg->isConstant()) {
        if (next)
          return {};
        next = arg;
      }
    if (!next)
      return {};
    element = next;
  }
  if (element->kind != Node::Kind::Element || form.queries.size() != 1)
    return {};
  auto constant = element->tensor.getDefiningOp<arith::ConstantOp>();
  auto dense = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
  if (!dense)
    return {};
  // Rows and columns, and the other indices.
  AffineExpr row, column;
  int64_t rows = 0, columns = 0;
  SmallVector<Expr> indices(element->args.begin(), element->args.end());
  MLIRContext *context = builder.getContext();
  unsigned r = 0, c = 0;
  for (auto [axis, index] : llvm::enumerate(element->args)) {
    AffineExpr affine = index->getAffine();
    bool ofQuery = index->dependsOn(form.queries[0]), ofKey = index->dependsOn(form.key);
    if (!affine || (ofQuery && ofKey))
      return {};
    if (ofQuery) {
      if (row)
        return {};
      row = affine;
      rows = dense.getType().getDimSize(axis);
      r = axis;
    } else if (ofKey) {
      if (column)
        return {};
      column = affine;
      columns = dense.getType().getDimSize(axis);
      c = axis;
    } else if (!index->isConstant()) {
      return {};
    }
  }
  if (!row || !column || rows * columns > (1 << 24))
    return {};
  if (getFactor(e, row, form.queries[0]) != 1 || getFactor(e, column, form.key) != 1)
    return {};
  unsigned x = e.addDim(getAffineConstantExpr(rows, context));
  unsigned y = e.addDim(getAffineConstantExpr(columns, context));
  indices[r] = e.dim(x);
  indices[c] = e.dim(y);
  llvm::DenseMap<Expr, Expr> parts;
  parts[element] = e.element(element->tensor, indices);
  Expr at = e.replace(predicate, parts);
  Evaluator evaluate(e, 1);
  evaluate.budget = 8 * rows * columns + 1000;
  evaluate.place.assign(e.getNumDims(), 0);
  std::vector<char> allowed(rows * columns);
  std::optional<int64_t> least, most;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) {
      evaluate.place[x] = i;
      evaluate.place[y] = j;
      std::optional<Number> value = evaluate.evaluate(at);
      if (!value)
        return {};
      allowed[i * columns + j] = value->integer != 0;
      if (!value->integer)
        continue;
      least = std::min(least.value_or(j - i), j - i);
      most = std::max(most.value_or(j - i), j - i);
    }
  if (!least)
    return {};
  auto isBand = [&](std::optional<int64_t> lower, std::optional<int64_t> upper) {
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        if ((allowed[i * columns + j] != 0) !=
            ((!lower || j - i >= *lower) && (!upper || j - i <= *upper)))
          return false;
    return true;
  };
  std::optional<int64_t> lower, upper;
  // A prefix that all see, and a triangle.
  int64_t prefix = 0;
  while (prefix < columns && allowed[prefix])
    ++prefix;
  bool isPrefix = prefix > 1;
  for (int64_t i = 0; isPrefix && i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      isPrefix &= (allowed[i * columns + j] != 0) == (j <= i || j < prefix);
  if (isPrefix && prefix < columns && !isBand({}, most)) {
    Booleans booleans(e);
    MLIRContext *ctx = context;
    auto number = [&](int64_t n) { return e.index(getAffineConstantExpr(n, ctx)); };
    return tryMask(
        booleans.either(e.compare(arith::CmpIPredicate::sle, e.index(column), e.index(row)),
                        e.compare(arith::CmpIPredicate::slt, e.index(column), number(prefix))));
  }
  if (isBand({}, most))
    upper = most;
  else if (isBand(least, {}))
    lower = least;
  else if (isBand(least, most))
    lower = least, upper = most;
  else
    return {};
  // In terms of i and j.
  AffineExpr difference = e.simplify(column - row);
  auto comparison = [&](arith::CmpIPredicate predicate, int64_t bound) {
    return tryMask(
        e.compare(predicate, e.index(difference), e.index(getAffineConstantExpr(bound, context))));
  };
  SmallVector<Value> masks;
  if (upper)
    masks.push_back(comparison(arith::CmpIPredicate::sle, *upper));
  if (lower)
    masks.push_back(comparison(arith::CmpIPredicate::sge, *lower));
  if (llvm::is_contained(masks, Value()))
    return {};
  return logical(/*isAnd=*/true, masks);
}

SmallVector<Axis> ScoreBuilder::axesOf(Expr expr, SmallVectorImpl<unsigned> &present) {
  SmallVector<Axis> axes;
  SmallVector<Axis> groups{Axis(form.batch), Axis(form.heads), Axis(form.queries), Axis{form.key}};
  for (auto [i, group] : llvm::enumerate(groups)) {
    bool used = llvm::any_of(group, [&](unsigned dim) { return expr->dependsOn(dim); });
    axes.push_back(used ? group : Axis());
    if (used)
      present.push_back(i);
  }
  return axes;
}

Value ScoreBuilder::dense(Expr allowed) {
  SmallVector<unsigned> present;
  SmallVector<Axis> axes = axesOf(allowed, present);
  Type type = MaskType::get(builder.getContext());
  if (allowed->isConstant())
    return allowed->integer ? MaskAndOp::create(builder, loc, type, ValueRange()).getResult()
                            : MaskOrOp::create(builder, loc, type, ValueRange()).getResult();
  bool negated = false;
  Expr inner = allowed;
  // An integer tensor is a mask as it is.
  if (inner->is<arith::CmpIOp>() && inner->args[1]->isConstant() &&
      inner->args[0]->kind == Node::Kind::Element) {
    auto predicate = cast<arith::CmpIPredicateAttr>(inner->attrs.get("predicate")).getValue();
    unsigned width = inner->args[0]->type.getIntOrFloatBitWidth();
    bool fits = width == 8 || width == 32 || width == 64;
    bool isSet = (predicate == arith::CmpIPredicate::ne && inner->args[1]->integer == 0);
    bool isClear = (predicate == arith::CmpIPredicate::eq && inner->args[1]->integer == 0);
    if (fits && (isSet || isClear)) {
      negated = isClear;
      inner = inner->args[0];
    }
  }
  Value tensor;
  if (inner->kind == Node::Kind::Element)
    tensor = layOut(e, builder, loc, inner->tensor, ArrayRef<Expr>(inner->args), axes);
  else
    tensor = compute(e, builder, loc, inner, axes);
  if (!tensor)
    return {};
  Value mask = MaskDenseOp::create(builder, loc, type, tensor);
  return negated ? negate(mask) : mask;
}

/// The operands of a tree of one op.
template <typename OpT> static void addOperands(Expr expr, SmallVectorImpl<Expr> &operands) {
  if (!expr->is<OpT>()) {
    operands.push_back(expr);
    return;
  }
  addOperands<OpT>(expr->args[0], operands);
  addOperands<OpT>(expr->args[1], operands);
}

Value ScoreBuilder::tryMask(Expr allowed) {
  Type type = MaskType::get(builder.getContext());
  if (allowed->isConstant())
    return allowed->integer ? MaskAndOp::create(builder, loc, type, ValueRange()).getResult()
                            : MaskOrOp::create(builder, loc, type, ValueRange()).getResult();
  if (allowed->is<arith::XOrIOp>())
    for (unsigned i : {0, 1})
      if (allowed->args[i]->isConstant() && allowed->args[i]->integer) {
        Expr inner = allowed->args[1 - i];
        if (inner->is<arith::CmpIOp>())
          if (Value mask = maskOfComparison(inner, /*negated=*/true))
            return mask;
        // De Morgan, so that what is below can be told apart.
        Booleans booleans(e);
        if (inner->is<arith::OrIOp>())
          return tryMask(
              booleans.both(booleans.negate(inner->args[0]), booleans.negate(inner->args[1])));
        if (inner->is<arith::AndIOp>())
          return tryMask(
              booleans.either(booleans.negate(inner->args[0]), booleans.negate(inner->args[1])));
        if (Value mask = maskOfConstant(allowed))
          return mask;
        Value mask = tryMask(inner);
        return mask ? negate(mask) : Value();
      }
  if (allowed->is<arith::AndIOp>()) {
    SmallVector<Expr> parts;
    addOperands<arith::AndIOp>(allowed, parts);
    SmallVector<Value> masks;
    for (Expr part : parts) {
      masks.push_back(tryMask(part));
      if (!masks.back())
        return {};
    }
    return logical(/*isAnd=*/true, masks);
  }
  if (allowed->is<arith::OrIOp>()) {
    SmallVector<Expr> parts;
    addOperands<arith::OrIOp>(allowed, parts);
    SmallVector<Value> masks;
    // i < n or j < n: global tokens.
    llvm::SmallBitVector used(parts.size());
    auto firstTokens = [&](Expr part, unsigned dim) -> std::optional<int64_t> {
      if (!part->is<arith::CmpIOp>())
        return std::nullopt;
      arith::CmpIPredicate predicate;
      AffineExpr difference = getDifference(e, part, predicate);
      if (!difference)
        return std::nullopt;
      AffineExpr variable = getAffineDimExpr(dim, e.getContext());
      std::optional<int64_t> rest = getInteger(e.simplify(difference - variable));
      if (rest &&
          (predicate == arith::CmpIPredicate::slt || predicate == arith::CmpIPredicate::sle))
        return -*rest + (predicate == arith::CmpIPredicate::sle);
      rest = getInteger(e.simplify(difference + variable));
      if (rest &&
          (predicate == arith::CmpIPredicate::sgt || predicate == arith::CmpIPredicate::sge))
        return *rest + (predicate == arith::CmpIPredicate::sge);
      return std::nullopt;
    };
    if (form.queries.size() == 1 && !offset)
      for (auto [a, first] : llvm::enumerate(parts))
        for (auto [b, second] : llvm::enumerate(parts)) {
          std::optional<int64_t> ofQueries = firstTokens(first, form.queries[0]);
          std::optional<int64_t> ofKeys = firstTokens(second, form.key);
          if (!ofQueries || ofQueries != ofKeys || *ofQueries <= 0 || used.test(a) || used.test(b))
            continue;
          used.set(a);
          used.set(b);
          masks.push_back(
              MaskGlobalOp::create(builder, loc, type, builder.getI64IntegerAttr(*ofQueries)));
        }
    for (auto [i, part] : llvm::enumerate(parts)) {
      if (used.test(i))
        continue;
      masks.push_back(tryMask(part));
      if (!masks.back())
        return {};
    }
    // Causal or before a length: a prefix.
    for (size_t i = 0; i < masks.size(); ++i)
      for (size_t j = 0; j < masks.size(); ++j) {
        auto length = masks[j].getDefiningOp<MaskLengthOp>();
        if (!masks[i].getDefiningOp<MaskCausalOp>() || !length || i == j)
          continue;
        masks[i] = MaskPrefixOp::create(builder, loc, type, length.getLengths());
        masks.erase(masks.begin() + j);
        i = j = masks.size();
        break;
      }
    return logical(/*isAnd=*/false, masks);
  }
  if (allowed->is<arith::CmpIOp>())
    if (Value mask = maskOfComparison(allowed, /*negated=*/false))
      return mask;
  if (Value mask = maskOfConstant(allowed))
    return mask;
  return dense(allowed);
}

Value ScoreBuilder::buildMask(Expr allowed) { return tryMask(allowed); }

//===-- Score regions ------------------------------------------------------------------------===//

bool ScoreBuilder::buildRegion(Expr rule, Region &region, SmallVectorImpl<Value> &operands,
                               SmallVectorImpl<AffineMap> &maps, FloatType accumulation) {
  MLIRContext *context = builder.getContext();
  Type indexType = builder.getIndexType(), i32 = builder.getI32Type();
  OpBuilder::InsertionGuard guard(builder);
  OpBuilder body(context);
  Block *block = new Block();
  region.push_back(block);
  block->addArgument(accumulation, loc);
  // Operands are added as they turn up, so the arguments behind them come from a later place.
  SmallVector<Value> places; // b, h, q_pos, k_pos
  for (Type type : {indexType, indexType, i32, i32})
    places.push_back(block->addArgument(type, loc));
  body.setInsertionPointToStart(block);
  llvm::DenseMap<Expr, Value> done;
  auto addOperand = [&](Value tensor, AffineMap map) -> Value {
    auto type = cast<RankedTensorType>(tensor.getType());
    for (auto [i, old] : llvm::enumerate(operands))
      if (old == tensor && maps[i] == map)
        return block->getArgument(1 + i);
    operands.push_back(tensor);
    maps.push_back(map);
    bool whole = map.getNumResults() == 0 && type.getRank() != 0;
    return block->insertArgument(operands.size(), whole ? Type(type) : type.getElementType(), loc);
  };
  AffineExpr groupsOf[4] = {getAffineDimExpr(0, context), getAffineDimExpr(1, context),
                            getAffineDimExpr(2, context), getAffineDimExpr(3, context)};
  auto operandOf = [&](Expr part, bool computed) -> Value {
    SmallVector<unsigned> present;
    SmallVector<Axis> all = axesOf(part, present), axes;
    SmallVector<AffineExpr> results;
    for (unsigned group : present) {
      axes.push_back(all[group]);
      results.push_back(groupsOf[group]);
    }
    Value tensor;
    if (computed) {
      tensor = compute(e, builder, loc, part, axes);
    } else {
      auto [home, indices] = e.getHome(part);
      tensor = home ? layOut(e, builder, loc, home, indices, axes) : Value();
    }
    return tensor ? addOperand(tensor, AffineMap::get(4, 0, results, context)) : Value();
  };
  auto toAccumulation = [&](Value value) -> Value {
    auto type = dyn_cast<FloatType>(value.getType());
    if (!type || type == accumulation)
      return value;
    if (type.getWidth() < accumulation.getWidth())
      return arith::ExtFOp::create(body, loc, accumulation, value);
    return arith::TruncFOp::create(body, loc, accumulation, value);
  };
  /// Values of all dims, from the region's arguments.
  SmallVector<Value> dims(e.getNumDims());
  auto setDims = [&](ArrayRef<unsigned> group, Value flat) {
    for (size_t i = group.size(); i-- > 0;) {
      if (i == 0) {
        dims[group[0]] = flat;
        return;
      }
      Value size = e.materialize(body, loc, e.getExtent(group[i]));
      dims[group[i]] = arith::RemUIOp::create(body, loc, flat, size);
      flat = arith::DivUIOp::create(body, loc, flat, size);
    }
  };
  auto hasSymbols = [&](AffineExpr affine) {
    bool found = false;
    affine.walk([&](AffineExpr part) { found |= isa<AffineSymbolExpr>(part); });
    return found;
  };
  std::function<Value(Expr)> emit = [&](Expr part) -> Value {
    if (part == form.raw)
      return block->getArgument(0);
    if (Value found = done.lookup(part))
      return found;
    Value value;
    bool hasIndex = false, hasRaw = false;
    for (Expr node : collect(part)) {
      hasIndex |= node->kind == Node::Kind::Index && part->kind != Node::Kind::Element;
      hasRaw |= node == form.raw;
    }
    if (part->isConstant()) {
      TypedAttr attribute =
          part->real ? TypedAttr(FloatAttr::get(accumulation, part->real.getValueAsDouble()))
                     : TypedAttr(body.getIntegerAttr(part->type, part->integer));
      value = arith::ConstantOp::create(body, loc, attribute);
    } else if (part->kind == Node::Kind::Index) {
      // Queries stand at their position minus the offset of the first.
      AffineExpr affine = part->affine;
      if (offset) {
        SmallVector<AffineExpr> moved;
        for (unsigned d = 0; d < e.getNumDims(); ++d)
          moved.push_back(getAffineDimExpr(d, context));
        moved[form.queries[0]] = moved[form.queries[0]] - offset;
        affine = e.simplify(affine.replaceDims(moved));
      }
      bool splits = false;
      for (ArrayRef<unsigned> group :
           {ArrayRef<unsigned>(form.batch), ArrayRef<unsigned>(form.queries)})
        if (group.size() > 1)
          for (unsigned dim : group.drop_front())
            splits |= !isa<AffineConstantExpr>(e.getExtent(dim));
      if (hasSymbols(affine) || splits)
        return operandOf(part, /*computed=*/true);
      auto asIndex = [&](Value position) {
        return arith::IndexCastOp::create(body, loc, indexType, position).getResult();
      };
      setDims(form.batch, places[0]);
      setDims(form.heads, places[1]);
      if (part->dependsOn(form.key))
        dims[form.key] = asIndex(places[3]);
      if (llvm::any_of(form.queries, [&](unsigned dim) { return part->dependsOn(dim); }))
        setDims(form.queries, asIndex(places[2]));
      Value zero;
      SmallVector<Value> given(dims);
      for (Value &dim : given)
        if (!dim) {
          if (!zero)
            zero = arith::ConstantIndexOp::create(body, loc, 0);
          dim = zero;
        }
      value = affine::expandAffineExpr(body, loc, affine, given, {});
      if (!part->type.isIndex())
        value = arith::IndexCastOp::create(body, loc, part->type, value);
      std::fill(dims.begin(), dims.end(), Value());
    } else if (part->kind == Node::Kind::Element) {
      // Read along, if each axis goes with one of the arguments; else handed over whole.
      bool along = llvm::all_of(part->args, [&](Expr index) {
        return index->isConstant() ||
               (index->kind == Node::Kind::Index && index->dims.count() == 1);
      });
      if (along)
        value = operandOf(part, /*computed=*/false);
      if (!value) {
        SmallVector<Value> indices;
        for (Expr index : part->args) {
          Value at = emit(index);
          if (!at)
            return {};
          if (!at.getType().isIndex())
            at = arith::IndexCastOp::create(body, loc, indexType, at);
          indices.push_back(at);
        }
        Value whole = addOperand(part->tensor, AffineMap::get(4, 0, context));
        value = tensor::ExtractOp::create(body, loc, whole, indices);
      }
      value = toAccumulation(value);
    } else if (!hasRaw && !hasIndex && e.getHome(part).first) {
      value = operandOf(part, /*computed=*/false);
      if (value)
        value = toAccumulation(value);
    }
    if (!value && (part->kind == Node::Kind::Reduce ||
                   (part->is<arith::SelectOp>() && !hasRaw && !isSafe(e, part)))) {
      value = operandOf(part, /*computed=*/false);
      if (value)
        value = toAccumulation(value);
    }
    if (!value && part->kind == Node::Kind::Compute) {
      SmallVector<Value> args;
      for (Expr arg : part->args) {
        args.push_back(emit(arg));
        if (!args.back())
          return {};
      }
      if (isCast(part)) {
        value = args[0];
      } else {
        Type type = isa<FloatType>(part->type) ? Type(accumulation) : part->type;
        OperationState state(loc, part->name.getValue(), args, type, part->attrs.getValue());
        value = body.create(state)->getResult(0);
      }
    }
    if (value)
      done[part] = value;
    return value;
  };
  Value result = emit(rule);
  if (!result)
    return false;
  YieldOp::create(body, loc, result);
  return true;
}
