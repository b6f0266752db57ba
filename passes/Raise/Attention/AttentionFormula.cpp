// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention as an expression to compare with, and rows without keys.
#include "passes/Raise/Attention/AttentionFormula.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/Elements/Equivalence.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::raise;

Expr raise::makeAttention(Expressions &e, Expr score, Expr value, Expr sink, unsigned key) {
  FloatType type = Float64Type::get(e.getContext());
  auto exp = [&](Expr x) { return e.compute<math::ExpOp>(type, {e.convert(x, type)}); };
  Expr weight = exp(score);
  Expr sum = e.reduce(Combiner::Add, key, weight);
  if (sink)
    sum = e.compute<arith::AddFOp>(type, {sum, exp(sink)});
  if (value) {
    weight = e.compute<arith::MulFOp>(type, {weight, e.convert(value, type)});
    weight = e.reduce(Combiner::Add, key, weight);
  }
  return e.compute<arith::DivFOp>(type, {weight, sum});
}

/// Whether a condition is of scores or probabilities: no mask, but a guard.
static bool isOfScores(Expr condition) {
  return llvm::any_of(collect(condition),
                      [](Expr part) { return isExp(part) || part->kind == Node::Kind::Variable; });
}

static void addGivenSummands(Expr part, SmallVectorImpl<Expr> &summands) {
  part = stripCasts(part);
  if (part->is<arith::AddFOp, arith::SelectOp>())
    for (Expr arg : part->args)
      addGivenSummands(arg, summands);
  if (part->kind == Node::Kind::Element && isa<FloatType>(part->type) &&
      isa<BlockArgument>(part->tensor) && !llvm::is_contained(summands, part))
    summands.push_back(part);
}

SmallVector<Expr> raise::getGivenSummands(Expr score) {
  SmallVector<Expr> summands;
  addGivenSummands(score, summands);
  return summands;
}

/// Whether a flag that scores are computed from forbids a key when it is set, rather than when it
/// is not.
static bool forbidsWhenSet(Expressions &e, Expr allowed, Expr flag) {
  if (flag->kind != Node::Kind::Element)
    return false;
  llvm::DenseMap<Expr, Expr> set;
  for (Expr part : collect(allowed))
    if (part->kind == Node::Kind::Element && part->tensor == flag->tensor)
      set[part] = e.constant(int64_t(1), part->type);
  Expr left = IntervalAnalysis(e).fold(e.replace(allowed, set));
  return !set.empty() && left->isConstant() && !left->integer;
}

/// The conditions of a mask, each as the value that forbids: for the score below the exponential,
/// in the maximum, in the sum, and for weights that are overwritten; or what multiplies with zero.
/// Where the score is added to what the caller gives, that is minus infinity.
static llvm::DenseMap<Expr, Expr> forbidAll(Expressions &e, Expr whole, Expr score, Expr allowed) {
  llvm::DenseMap<Expr, Expr> hidden;
  for (Expr given : getGivenSummands(score))
    for (Expr part : collect(whole))
      if (part->kind == Node::Kind::Element && part->tensor == given->tensor)
        hidden[part] =
            e.constant(-std::numeric_limits<double>::infinity(), cast<FloatType>(part->type));
  for (Expr part : collect(whole))
    if (part->is<arith::SelectOp>())
      for (unsigned i : {1, 2})
        if (Expr low = stripCasts(part->args[i]); !isOfScores(part->args[0]) && low->isConstant() &&
                                                  low->real && low->getNumber() <= kVeryNegative)
          hidden[part->args[0]] = e.constant(int64_t(i == 1), part->args[0]->type);
  if (hidden.empty())
    for (Expr part : collect(whole))
      if (part->is<arith::UIToFPOp>() && part->args[0]->type.isInteger(1))
        hidden[part] = e.constant(forbidsWhenSet(e, allowed, part->args[0]) ? 1.0 : 0.0,
                                  cast<FloatType>(part->type));
  return hidden;
}

/// The opposite: each as the value that allows.
static llvm::DenseMap<Expr, Expr> allowAll(Expressions &e,
                                           const llvm::DenseMap<Expr, Expr> &hidden) {
  llvm::DenseMap<Expr, Expr> shown;
  for (auto [condition, value] : hidden)
    shown[condition] =
        value->real ? e.constant(value->getNumber() == 0 ? 1.0 : 0.0, cast<FloatType>(value->type))
                    : e.constant(int64_t(!value->integer), value->type);
  return shown;
}

namespace {
/// What a row may give, beside each other at one place.
struct RowOutcome {
  Expr found, mean, raw, size;
  bool isWeighed = false;  ///< whether weights are more than probabilities
  double tolerance = 5e-2; ///< in proportion to the terms of the sum

  /// Takes those out of `fills` that it is not. False if it cannot be told.
  bool narrow(Evaluator &evaluate, SmallVectorImpl<Fill> &fills) const {
    std::optional<double> value = evaluate.evaluateReal(found),
                          average = evaluate.evaluateReal(mean),
                          unmasked = evaluate.evaluateReal(raw),
                          terms = evaluate.evaluateReal(size);
    if (!value || !average || !terms)
      return false;
    // What narrow types round is in proportion to the terms of a sum, which may be much less.
    auto isNear = [&](double other) { return std::fabs(*value - other) <= tolerance * *terms; };
    llvm::erase_if(fills, [&](Fill fill) {
      switch (fill) {
      case Fill::Nan: // infinity where the source overflows, as the logarithm of an empty sum does
        return std::isfinite(*value);
      case Fill::Zero:
        return *value != 0;
      case Fill::Mean:
        return !isNear(*average);
      case Fill::Raw:
        return !unmasked || !isNear(*unmasked);
      }
      llvm_unreachable("a fill");
    });
    return true;
  }

  /// What weights make zero here of a mean they need not make zero of another number of keys.
  bool isAmbiguous(ArrayRef<Fill> fills) const {
    return isWeighed && fills.size() > 1 && llvm::is_contained(fills, Fill::Zero);
  }
};
} // namespace

/// Very negative numbers as less great ones, beside which f64 keeps the digits of a score.
static Expr withoutGreat(Expressions &e, Expr root) {
  constexpr double kLeast = -1e6;
  llvm::DenseMap<Expr, Expr> parts;
  for (Expr part : collect(root))
    if (part->isConstant() && part->real && std::isfinite(part->getNumber()) &&
        part->getNumber() < kLeast)
      parts[part] = e.constant(kLeast, cast<FloatType>(part->type));
  return e.replace(root, parts);
}

/// The fills that a row may be by what it gives at a few places; nothing if one cannot be
/// evaluated.
static std::optional<SmallVector<Fill>> findFills(Expressions &e, const AttentionForm &form,
                                                  const RowOutcome &outcome, bool rounds) {
  llvm::SmallDenseSet<int64_t> classed =
      findClassed(e, {outcome.found, outcome.mean, outcome.raw, outcome.size});
  SmallVector<Fill> fills{Fill::Nan, Fill::Zero, Fill::Mean, Fill::Raw};
  for (int seed = 1; seed <= 4; ++seed) {
    Evaluator evaluate(e, seed * 31, SmallVector<int64_t>(e.getNumDims()));
    evaluate.rounds = rounds;
    evaluate.classed = classed;
    for (const Axis &axis : form.axes)
      for (unsigned dim : axis)
        evaluate.place[dim] = (seed * (dim + 1)) % std::max<int64_t>(evaluate.getExtent(dim), 1);
    if (!outcome.narrow(evaluate, fills))
      return std::nullopt;
  }
  return fills;
}

EmptyRow raise::evaluateEmptyRow(Expressions &e, const AttentionForm &form, Expr allowed) {
  // What queries, keys and values are computed from does not matter.
  Generalizer general(e);
  general.add(form.raw);
  general.add(form.value);
  Expr whole = general.apply(form.whole), value = general.apply(form.value);
  llvm::DenseMap<Expr, Expr> hidden = forbidAll(e, whole, form.score, allowed);
  if (hidden.empty())
    return {};
  FloatType real = Float32Type::get(e.getContext());
  Expr even = e.constant(0.0, real),
       score = e.replace(general.apply(form.score), allowAll(e, hidden));
  auto make = [&](Expr score, bool isSize) {
    FloatType type = cast<FloatType>(value->type);
    Expr values = isSize ? e.compute<math::AbsFOp>(type, {value}) : value;
    if (!form.weight)
      return makeAttention(e, score, values, nullptr, form.key);
    Expr p = makeAttention(e, score, nullptr, nullptr, form.key);
    llvm::DenseMap<Expr, Expr> given{
        {form.probability, e.convert(p, cast<FloatType>(form.probability->type))}};
    FloatType wide = Float64Type::get(e.getContext());
    Expr weight = e.convert(e.replace(form.weight, given), wide);
    if (isSize)
      weight = e.compute<math::AbsFOp>(wide, {weight});
    weight = e.compute<arith::MulFOp>(wide, {weight, e.convert(values, wide)});
    return e.reduce(Combiner::Add, form.key, weight);
  };
  RowOutcome outcome{e.replace(whole, hidden), make(even, false), make(score, false),
                     make(even, true), form.weight != nullptr};
  // Weights of NaN may be near to those of a mean, and not the same.
  if (form.weight) {
    int bits = cast<FloatType>(form.probability->type).getFPMantissaWidth();
    outcome.tolerance = std::min(outcome.tolerance, std::ldexp(64.0, -bits));
  }
  // What rounding makes of such a row, or, where that is no fill, what it means: beside numbers
  // that lose nothing.
  std::optional<SmallVector<Fill>> fills = findFills(e, form, outcome, /*rounds=*/true);
  if (fills && fills->empty()) {
    outcome.found = withoutGreat(e, outcome.found);
    fills = findFills(e, form, outcome, /*rounds=*/false);
  }
  if (!fills)
    return {};
  bool isOne = !fills->empty() && !outcome.isAmbiguous(*fills);
  return {true, isOne ? std::optional(fills->front()) : std::nullopt};
}
