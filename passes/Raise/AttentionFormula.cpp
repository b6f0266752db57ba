// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Identity testing of attention. Small sizes show most of what an expression is; a window of 256
// keys is no mask there, so sizes beyond the constants in comparisons are asked too, with sums over
// a few of the keys.
#include "passes/Raise/AttentionFormula.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/SmallSet.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::raise;

/// Tensors of floats whose elements are asked whether they are some number, a mask's zero: numbers
/// drawn at random never are.
static void addFlags(Expr root, SmallVectorImpl<Value> &flags) {
  for (Expr part : collect(root)) {
    if (!part->is<arith::CmpFOp>())
      continue;
    auto predicate = cast<arith::CmpFPredicateAttr>(part->attrs.get("predicate")).getValue();
    bool isEquality =
        predicate == arith::CmpFPredicate::OEQ || predicate == arith::CmpFPredicate::UEQ ||
        predicate == arith::CmpFPredicate::ONE || predicate == arith::CmpFPredicate::UNE;
    for (unsigned i : {0, 1}) {
      Expr element = stripCasts(part->args[i]);
      if (isEquality && part->args[1 - i]->isConstant() && element->kind == Node::Kind::Element)
        flags.push_back(element->tensor);
    }
  }
}

/// Whether the parts of a comparison, as far as they are scalar code, say that places are compared,
/// with each other or with numbers and lengths. Scores and what becomes of them are no places: a
/// test for NaN holds the number that forbids.
static bool comparesPlaces(ArrayRef<Expr> parts) {
  return llvm::any_of(parts,
                      [](Expr x) { return x->kind == Node::Kind::Index && x->dims.any(); }) &&
         llvm::none_of(parts, [](Expr x) {
           return isExp(x) || (isa<FloatType>(x->type) &&
                               (x->kind == Node::Kind::Element || x->kind == Node::Kind::Reduce));
         });
}

/// Constants that comparisons of places hold and that small sizes do not reach: the width of a
/// window, the first place behind a prefix, the size of a block. The greatest few.
static SmallVector<int64_t> getBounds(Expr root) {
  SmallVector<int64_t> bounds;
  auto add = [&](int64_t number) {
    number = number < 0 ? -number : number;
    if (number >= 4 && number < (int64_t(1) << 30) && !llvm::is_contained(bounds, number))
      bounds.push_back(number);
  };
  for (Expr part : collect(root)) {
    if (!part->is<arith::CmpIOp>() && !part->is<arith::CmpFOp>())
      continue;
    SmallVector<Expr> inner = collect(part, [](Expr x) { return x->kind == Node::Kind::Compute; });
    if (!comparesPlaces(inner))
      continue;
    for (Expr x : inner) {
      if (x->kind == Node::Kind::Index)
        x->affine.walk([&](AffineExpr affine) {
          if (std::optional<int64_t> number = getInteger(affine))
            add(*number);
        });
      else if (x->isConstant() && std::fabs(x->getNumber()) < 0x1p30)
        add(static_cast<int64_t>(x->getNumber()));
    }
  }
  llvm::sort(bounds, std::greater<int64_t>());
  if (bounds.size() > 6)
    bounds.resize(6);
  return bounds;
}

namespace {
/// An expression beside the formula.
class Comparison {
public:
  Comparison(Expressions &e, Expr a, const Formula &formula, ArrayRef<unsigned> dims,
             ArrayRef<Value> booleans)
      : e(e), a(a), formula(formula), dims(dims), flags(booleans) {
    for (Expr root : {a, formula.value})
      addFlags(root, flags);
  }

  /// Whether rows were seen whose weights are of several keys, so that it matters what they are
  /// divided by.
  bool isSpread() const { return spread > 0; }

  /// At sizes from 5 to 11.
  bool agreeAtSmallSizes() {
    // Where masks leave few rows that mean something, more are looked at. A row that sees one key
    // means little: its weight is one, whatever is normalised. Large sizes that are known cost too
    // much for that.
    constexpr int kSeeds = 3, kMostSeeds = 24, kPlaces = 3;
    constexpr int64_t kMostSteps = 1'000'000;
    int64_t steps = 0;
    for (int seed = 1;
         seed <= kSeeds || ((sound < 3 || spread < 3) && seed <= kMostSeeds && steps < kMostSteps);
         ++seed) {
      Evaluator evaluate(e, seed);
      // Sizes and lengths too, if these do not let rows see enough.
      if (seed > kSeeds + 3)
        evaluate.variant = seed;
      setFlags(evaluate, seed);
      for (int n = 0; n < kPlaces; ++n) {
        evaluate.place.assign(e.getNumDims(), 0);
        int64_t last = 0;
        for (unsigned dim : dims) {
          // Now and then on the diagonal, which masks seldom hide.
          int64_t extent = std::max<int64_t>(evaluate.getExtent(dim), 1);
          last = (draw(seed, ~n, dim) % 3 == 0 ? last : draw(seed, n, dim)) % extent;
          evaluate.place[dim] = last;
        }
        if (!agreeInRow(evaluate))
          return false;
      }
      steps += Evaluator::kBudget - evaluate.budget;
    }
    return sound >= 3;
  }

  /// At sizes beyond the constants that the masks hold, which small sizes cannot tell from no mask.
  /// Sums over as many as there are keys take the same few keys on both sides: those near to where
  /// a constant makes a difference. Sums over one more have a sink, before the keys or behind. What
  /// this cannot evaluate counts as agreed.
  bool agreeBeyond(ArrayRef<int64_t> bounds, bool sinkFirst) {
    constexpr int kSeeds = 12;
    for (int seed = 1; seed <= kSeeds; ++seed) {
      Evaluator evaluate(e, seed);
      setFlags(evaluate, seed);
      evaluate.stretch = 2 * bounds.front();
      evaluate.budget = 200'000;
      int64_t keys = evaluate.getExtent(formula.key);
      if (!isOpen(formula.key))
        return true; // known, and so large as it is
      evaluate.place.assign(e.getNumDims(), 0);
      SmallVector<int64_t> near{0};
      for (unsigned dim : dims) {
        int64_t extent = std::max<int64_t>(evaluate.getExtent(dim), 1);
        int64_t bound = bounds[seed % bounds.size()];
        int64_t places[] = {draw(seed, 1, dim),
                            bound,
                            bound - 1,
                            bound + 1,
                            extent - 1,
                            draw(seed, 2, dim),
                            bound + draw(seed, 3, dim) % bound};
        int64_t &place = evaluate.place[dim];
        place = places[seed % std::size(places)];
        place = isOpen(dim) ? std::min(place % extent, extent - 1) : draw(seed, 4, dim) % extent;
        if (isOpen(dim))
          near.push_back(place);
      }
      llvm::SmallSet<int64_t, 32> samples;
      for (int64_t place : near)
        for (int64_t bound : bounds)
          for (int64_t by : {int64_t(0), bound, -bound})
            for (int64_t step : {-1, 0, 1})
              samples.insert(place + by + step);
      for (int n = 0; n < 6; ++n)
        samples.insert(draw(seed, n, 77) % keys);
      samples.insert(keys - 1);
      SmallVector<int64_t> chosen, more{sinkFirst ? 0 : keys};
      for (int64_t sample : samples)
        if (sample >= 0 && sample < keys) {
          chosen.push_back(sample);
          more.push_back(sample + sinkFirst);
        }
      if (keys > 64) {
        evaluate.samples.push_back({e.getExtent(formula.key), chosen});
        for (unsigned dim = 0; dim < e.getNumDims(); ++dim)
          if (getInteger(e.simplify(e.getExtent(dim) - e.getExtent(formula.key))) == 1)
            evaluate.samples.push_back({e.getExtent(dim), more});
      }
      if (agreeHere(evaluate) == Answer::No)
        return false;
    }
    return true;
  }

private:
  enum class Answer { Yes, No, Unknown };

  static int64_t draw(int64_t seed, int64_t n, int64_t dim) { return mix(seed, dim, n) >> 33; }

  bool isOpen(unsigned dim) const { return !isa<AffineConstantExpr>(e.getExtent(dim)); }

  void setFlags(Evaluator &evaluate, int seed) {
    if (!flags.empty())
      evaluate.given = [&, seed](Value tensor, ArrayRef<int64_t> indices) -> std::optional<Number> {
        if (!llvm::is_contained(flags, tensor))
          return std::nullopt;
        uint64_t bits = mix(seed, e.getNumber(tensor), indices);
        int64_t bit = (bits >> 9) % 4 != 0;
        return Number{static_cast<double>(bit), bit};
      };
  }

  /// At the place of `evaluate`. Probabilities at all keys, or many: a mask may leave a row few.
  bool agreeInRow(Evaluator &evaluate) {
    if (!llvm::is_contained(dims, formula.key))
      return agreeHere(evaluate) != Answer::No;
    constexpr int64_t kMost = 32;
    int64_t keys = evaluate.getExtent(formula.key), drawn = evaluate.place[formula.key];
    int64_t first = std::max<int64_t>(0, std::min(drawn - kMost / 2, keys - kMost));
    for (int64_t n = 0; n < std::min(keys, kMost); ++n) {
      evaluate.place[formula.key] = first + n;
      if (agreeHere(evaluate) == Answer::No)
        return false;
    }
    return true;
  }

  Answer agreeHere(Evaluator &evaluate) {
    std::optional<double> x = evaluate.evaluateReal(a), y = evaluate.evaluateReal(formula.value);
    if (!x || !y)
      return evaluate.stretch ? Answer::Unknown : Answer::No;
    // What grows with the distance of two places may be too much for an exponential.
    if (evaluate.stretch && evaluate.overflows)
      return Answer::Unknown;
    if (!std::isfinite(*x) || !std::isfinite(*y)) {
      // Rows in which no key is allowed may differ in how they fail; the formula sees none
      // either.
      std::optional<double> greatest = evaluate.evaluateReal(formula.ofKeys);
      bool isEmpty = !std::isfinite(*y) || (greatest && *greatest <= kVeryNegative / 2);
      return isEmpty ? Answer::Unknown : Answer::No;
    }
    // With sinks they are zero.
    if (*x == 0 && *y == 0)
      return Answer::Unknown;
    if (std::fabs(*x - *y) > 1e-6 * std::max({std::fabs(*x), std::fabs(*y), 1e-3})) {
      // So may those in which every key got a number that says so.
      std::optional<double> greatest = evaluate.evaluateReal(formula.greatest);
      return greatest && *greatest <= kVeryNegative / 2 ? Answer::Unknown : Answer::No;
    }
    ++sound;
    std::optional<double> sum = evaluate.evaluateReal(formula.sum);
    spread += sum && *sum > 1 + 1e-3;
    return Answer::Yes;
  }

  Expressions &e;
  Expr a;
  const Formula &formula;
  ArrayRef<unsigned> dims;
  SmallVector<Value> flags;
  unsigned sound = 0;  ///< rows that mean something
  unsigned spread = 0; ///< rows that see several keys
};
} // namespace

Agreement raise::compare(Expressions &e, Expr a, const Formula &formula, ArrayRef<unsigned> dims,
                         ArrayRef<Value> booleans) {
  Comparison comparison(e, a, formula, dims, booleans);
  if (!comparison.agreeAtSmallSizes())
    return Agreement::None;
  SmallVector<int64_t> bounds = getBounds(a);
  if (!bounds.empty() && !comparison.agreeBeyond(bounds, false) &&
      !comparison.agreeBeyond(bounds, true))
    return Agreement::None;
  return comparison.isSpread() ? Agreement::OfSeveralKeys : Agreement::OfOneKey;
}

Formula raise::makeAttention(Expressions &e, Expr score, Expr value, Expr sink, unsigned key) {
  FloatType type = Float64Type::get(e.getContext());
  score = e.convert(score, type);
  Expr ofKeys = e.reduce(Combiner::Max, key, score), greatest = ofKeys;
  if (sink)
    greatest = e.compute<arith::MaximumFOp>(type, {greatest, e.convert(sink, type)});
  auto exp = [&](Expr x) {
    return e.compute<math::ExpOp>(type, {e.compute<arith::SubFOp>(type, {x, greatest})});
  };
  Expr sum = e.reduce(Combiner::Add, key, exp(score));
  if (sink)
    sum = e.compute<arith::AddFOp>(type, {sum, exp(e.convert(sink, type))});
  Expr weighted = exp(score);
  if (value) {
    weighted = e.compute<arith::MulFOp>(type, {weighted, e.convert(value, type)});
    weighted = e.reduce(Combiner::Add, key, weighted);
  }
  return {e.compute<arith::DivFOp>(type, {weighted, sum}), greatest, sum, ofKeys, key};
}

std::optional<Fill> raise::evaluateEmptyRow(Expressions &e, const AttentionForm &form) {
  // The mask forbids wherever it is asked: for the score below the exponential, in the maximum, in
  // the sum, and for weights that are overwritten.
  llvm::DenseMap<Expr, Expr> hidden;
  for (Expr part : collect(form.whole))
    if (part->is<arith::SelectOp>())
      for (unsigned i : {1, 2})
        if (Expr low = stripCasts(part->args[i]);
            low->isConstant() && low->real && low->getNumber() <= kVeryNegative)
          hidden[part->args[0]] = e.constant(int64_t(i == 1), part->args[0]->type);
  // Or what it multiplies with is zero.
  if (hidden.empty())
    for (Expr part : collect(form.whole))
      if (part->is<arith::UIToFPOp>() && part->args[0]->type.isInteger(1))
        hidden[part] = e.constant(0.0, cast<FloatType>(part->type));
  if (hidden.empty())
    return std::nullopt;
  Expr row = e.replace(form.whole, hidden);
  FloatType real = Float32Type::get(e.getContext());
  auto makeMean = [&](Expr of) {
    return makeAttention(e, e.constant(0.0, real), of, nullptr, form.key).value;
  };
  Expr mean = makeMean(form.value);
  // What narrow types round is in proportion to the terms of a sum, which may be much less.
  Expr size = makeMean(e.compute<math::AbsFOp>(cast<FloatType>(form.value->type), {form.value}));
  std::optional<Fill> fill;
  for (int seed = 1; seed <= 4; ++seed) {
    Evaluator evaluate(e, seed * 31);
    evaluate.rounds = true;
    evaluate.place.assign(e.getNumDims(), 0);
    for (const Axis &axis : form.axes)
      for (unsigned dim : axis)
        evaluate.place[dim] = (seed * (dim + 1)) % std::max<int64_t>(evaluate.getExtent(dim), 1);
    std::optional<double> found = evaluate.evaluateReal(row), average = evaluate.evaluateReal(mean),
                          terms = evaluate.evaluateReal(size);
    if (!found || !average || !terms)
      return std::nullopt;
    std::optional<Fill> here;
    if (std::isnan(*found))
      here = Fill::Nan;
    else if (*found == 0)
      here = Fill::Zero;
    else if (std::fabs(*found - *average) <= 5e-2 * *terms)
      here = Fill::Mean;
    if (!here || (fill && *fill != *here))
      return std::nullopt;
    fill = here;
  }
  return fill;
}
