// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Takes masks out of a score. What is not understood stays in the rule, or becomes a dense mask:
// slower, never wrong.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/Elements/Evaluate.h"
#include "passes/Elements/Predicates.h"
#include "passes/Raise/Attention/Score.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::raise;

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

/// What a row without a key gives when `number` is added to its scores of this type.
static Fill getFillOfSum(double number, Type type) {
  if (std::isinf(number))
    return Fill::Nan;
  // If scores vanish beside the number all are alike.
  int bits = cast<FloatType>(type).getFPMantissaWidth();
  return std::fabs(number) >= std::ldexp(1.0, bits - 1) ? Fill::Mean : Fill::Raw;
}

namespace {
/// What is known where a formula of conditions holds.
class Knowledge {
public:
  explicit Knowledge(Expressions &e) : booleans(e) {}

  void add(Expr condition, bool value) {
    if (condition->is<arith::AndIOp>() && value) {
      add(condition->args[0], true);
      add(condition->args[1], true);
      return;
    }
    if (condition->is<arith::XOrIOp>())
      for (unsigned i : {0, 1})
        if (condition->args[i]->isConstant() && condition->args[i]->integer)
          add(condition->args[1 - i], !value);
    known[condition] = booleans.constant(value);
    known[booleans.normalize(booleans.negate(condition))] = booleans.constant(!value);
  }

  /// What is known of a formula of conditions.
  std::optional<bool> get(Expr x) const {
    if (auto found = known.find(x); found != known.end())
      return found->second->integer != 0;
    bool isAnd = x->is<arith::AndIOp>();
    if (!isAnd && !x->is<arith::OrIOp>())
      return std::nullopt;
    std::optional<bool> a = get(x->args[0]), b = get(x->args[1]);
    if (a && b)
      return isAnd ? *a && *b : *a || *b;
    std::optional<bool> one = a ? a : b;
    return one && *one != isAnd ? one : std::nullopt;
  }

  /// What is decided in an expression, which may ask in another spelling.
  llvm::DenseMap<Expr, Expr> decide(Expr root) {
    for (Expr part : collect(root))
      if (part->type.isInteger(1) && !part->isConstant() && !known.contains(part))
        if (std::optional<bool> value = get(booleans.normalize(part)))
          known[part] = booleans.constant(*value);
    return known;
  }

private:
  Predicates booleans;
  llvm::DenseMap<Expr, Expr> known;
};
} // namespace

Expr raise::assume(Expressions &e, Expr root, Expr allowed) {
  Knowledge knowledge(e);
  knowledge.add(allowed, true);
  return e.replace(root, knowledge.decide(root));
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
    for (Expr condition : conditions)
      result.allowed = result.allowed ? booleans.both(result.allowed, condition) : condition;
    // Where the mask allows, its conditions hold.
    result.rule = result.allowed ? assume(e, rule, result.allowed) : rule;
    if (!contains(result.rule, form.raw))
      result.rule = rule;
    result.fill = fill;
    return result;
  }

private:
  void forbid(Expr allowed, Fill how) {
    allowed = booleans.normalize(allowed);
    conditions.push_back(allowed);
    if (!fill)
      fill = how;
  }

  /// The score is replaced by `number` where it is not allowed.
  void replaceBy(double number, Expr allowed) {
    forbid(allowed, std::isinf(number) ? Fill::Nan : Fill::Mean);
  }

  bool hasRaw(Expr expr) { return contains(expr, form.raw); }

  /// `factor`: what the score is multiplied with outside of `x`, which what it puts in is as well.
  Expr split(Expr x, double factor = 1) {
    if (x == form.raw)
      return x;
    if (isCast(x))
      return split(x->args[0], factor);
    if (x->is<arith::SelectOp>())
      return splitChoice(x, factor);
    if (x->is<arith::AddFOp, arith::SubFOp>())
      return splitSum(x, factor);
    if (x->is<arith::MulFOp, arith::DivFOp>())
      return splitProduct(x, factor);
    if (x->is<arith::MinimumFOp, arith::MinNumFOp>())
      return splitMinimum(x, factor);
    if (x->is<arith::MaximumFOp, arith::MaxNumFOp>())
      return splitMaximum(x, factor);
    return x;
  }

  /// The score or a very negative number.
  Expr splitChoice(Expr x, double factor) {
    for (unsigned i : {2, 1}) {
      std::optional<double> number = getNumber(e, x->args[i]);
      if (!number || *number * factor > kVeryNegative || !hasRaw(x->args[3 - i]))
        continue;
      replaceBy(*number, i == 2 ? x->args[0] : booleans.negate(x->args[0]));
      return split(x->args[3 - i], factor);
    }
    return x;
  }

  Expr splitSum(Expr x, double factor) {
    bool isDifference = x->is<arith::SubFOp>();
    for (unsigned i : {0, 1}) {
      Expr inner = x->args[i], other = x->args[1 - i];
      if (!hasRaw(inner) || hasRaw(other) || (i == 1 && isDifference))
        continue;
      Expr rest = addMasks(other, (isDifference ? -1 : 1) * factor, x->type);
      Expr score = split(inner, factor);
      return rest ? rebuild(x, i, score, rest) : score;
    }
    return x;
  }

  Expr splitProduct(Expr x, double factor) {
    bool isQuotient = x->is<arith::DivFOp>();
    for (unsigned i : {0, 1}) {
      Expr inner = x->args[i], other = x->args[1 - i];
      if (!hasRaw(inner) || hasRaw(other) || (i == 1 && isQuotient))
        continue;
      std::optional<double> number = getNumber(e, other);
      if (number && (*number <= 0 || !std::isfinite(*number)))
        return x;
      if (!number && !isMaskFactor(other))
        return x;
      double more = !number ? 1 : isQuotient ? 1 / *number : *number;
      return rebuild(x, i, split(inner, factor * more), other);
    }
    return x;
  }

  /// The lesser of the score and, where it is forbidden, a very negative number.
  Expr splitMinimum(Expr x, double factor) {
    for (unsigned i : {0, 1}) {
      Expr limit = stripCasts(x->args[1 - i]);
      if (!hasRaw(x->args[i]) || !limit->is<arith::SelectOp>())
        continue;
      for (unsigned k : {1, 2}) {
        std::optional<double> number = getNumber(e, limit->args[k]),
                              high = getNumber(e, limit->args[3 - k]);
        // Scores that are no infinity lie below the greater one.
        if (!number || !high || *number * factor > kVeryNegative || !std::isinf(*high) || *high < 0)
          continue;
        replaceBy(*number, k == 2 ? limit->args[0] : booleans.negate(limit->args[0]));
        return split(x->args[i], factor);
      }
    }
    return x;
  }

  /// The greater of the score and a very negative number.
  Expr splitMaximum(Expr x, double factor) {
    for (unsigned i : {0, 1}) {
      std::optional<double> number = getNumber(e, x->args[1 - i]);
      if (number && *number * factor <= kVeryNegative && hasRaw(x->args[i]))
        return split(x->args[i], factor);
    }
    return x;
  }

  /// Zeros and ones: scores are multiplied by the mask whose complement is added.
  bool isMaskFactor(Expr factor) {
    factor = stripCasts(factor);
    return factor->is<arith::UIToFPOp, arith::SIToFPOp, arith::SelectOp>();
  }

  /// Takes the masks out of what is added; the rest, or null.
  Expr addMasks(Expr x, double sign, Type type) {
    // Of two masks each may mean something by itself.
    if (Expr sum = stripCasts(x);
        sum->is<arith::AddFOp>() && llvm::all_of(sum->args, [&](Expr part) {
          return !part->isConstant() && getAdditiveMask(e, part, sign);
        })) {
      Expr rest;
      for (Expr part : sum->args)
        if (Expr more = addMasks(part, sign, type))
          rest = rest ? e.compute<arith::AddFOp>(sum->type, {rest, more}) : more;
      return rest;
    }
    if (std::optional<AdditiveMask> mask = getAdditiveMask(e, x, sign)) {
      // Half way, so that rounding on either side does not matter.
      double border = (std::isinf(mask->low) ? kVeryNegative : mask->low / 2) / sign;
      forbid(booleans.compare(x, border, /*above=*/sign > 0), getFillOfSum(mask->low, type));
      // Floats may be other numbers than zero and one: what they add to allowed keys stays.
      return mask->ofFlags ? x : Expr();
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
  Predicates booleans;
  SmallVector<Expr> conditions;
  std::optional<Fill> fill;
};
} // namespace

MaskedScore raise::splitScore(Expressions &e, const AttentionForm &form) {
  return Splitter(e, form).run();
}
