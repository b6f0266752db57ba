// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recognition of attention. Readings come from the structure of an expression (where an exponential
// depends on the summed dim); whether one is right is decided beside the formula, with the scores
// and values as unknowns: what they are computed from plays no part and costs nothing.
#include "passes/Raise/Attention/AttentionForm.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/Elements/Equivalence.h"
#include "passes/Elements/Predicates.h"
#include "passes/Raise/Attention/AttentionFormula.h"
#include "passes/Raise/Attention/Score.h"
#include "passes/Raise/Attention/Sinks.h"
#include "passes/Raise/Attention/WeightedSums.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::raise;

//===-- Looking at expressions ---------------------------------------------------------------===//

/// What is looked at by a test for NaN that puts zero in its place; else the expression itself.
static Expr stripGuard(Expr expr) {
  Expr inner = stripCasts(expr);
  if (!inner->is<arith::SelectOp>() || !inner->args[0]->is<arith::CmpFOp>() ||
      inner->args[0]->args[0] != inner->args[0]->args[1])
    return expr;
  for (unsigned i : {1, 2})
    if (inner->args[i]->isConstant() && inner->args[i]->getNumber() == 0)
      return inner->args[3 - i];
  return expr;
}

bool raise::mayBeAttention(Value value) {
  auto result = dyn_cast<OpResult>(value);
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!result || !type || !isa<FloatType>(type.getElementType()))
    return false;
  if (isContraction(result.getOwner()))
    return true;
  auto op = dyn_cast<linalg::LinalgOp>(result.getOwner());
  return op && op.getNumReductionLoops() > 0 && op.hasPureTensorSemantics() &&
         !isa<linalg::FillOp>(op);
}

//===-- Softmaxes ----------------------------------------------------------------------------===//

namespace {
/// Scores with which an expression may be the formula of attention.
struct Candidate {
  explicit Candidate(Expr score, Expr sink = nullptr) : score(score), sink(sink) {}

  Expr score;
  Expr sink;
  Expr rowFactor = nullptr; ///< what the row is multiplied with, a function of `sum`
  Expr sum = nullptr;
};

/// One reading of an expression as attention: a sum of weights times values and an exponential in
/// the weights.
class Reading {
public:
  Reading(Expressions &e, AttentionForm form, const WeightedSum &sum, Expr exp,
          ArrayRef<unsigned> dims)
      : e(e), form(std::move(form)), sum(sum), exp(exp), dims(dims), general(e) {
    this->form.key = sum.key;
    this->form.value = sum.value;
    keyDims.assign(dims.begin(), dims.end());
    keyDims.push_back(sum.key);
  }

  std::optional<AttentionForm> run(Refusal &refusal);
  bool mixesHeads();

private:
  /// Whether `node` is the formula with a candidate's scores; remembers what speaks against it.
  bool is(Expr node, const Candidate &candidate);
  void addUnknowns(Expr part, Expr within);
  unsigned getRounding();
  /// An expression that may be attention's result, or, where it is part of the weight, its
  /// probabilities.
  struct Place {
    Expr node;
    Expr score;                  ///< up to what all keys share
    SmallVector<Expr> factors;   ///< of the weight
    SmallVector<Expr> unguarded; ///< the same behind tests for NaN
  };
  /// Candidates for what stands at a place, likelier ones first.
  using Way = SmallVector<Candidate> (Reading::*)(const Place &);
  static const Way kWays[];
  SmallVector<Candidate> readPlain(const Place &at) { return {Candidate(at.score)}; }
  SmallVector<Candidate> readMasked(const Place &at);
  SmallVector<Candidate> readOverwrittenKeys(const Place &at) {
    return readOverwritten(at, /*ofKeys=*/true);
  }
  SmallVector<Candidate> readOverwrittenRows(const Place &at) {
    return readOverwritten(at, /*ofKeys=*/false);
  }
  SmallVector<Candidate> readOverwritten(const Place &at, bool ofKeys);
  SmallVector<Candidate> readSinks(const Place &at);
  SmallVector<Candidate> readScaled(const Place &at);
  /// Reads `node` in each way; sets the score, the sink and the factor of rows in `form`.
  bool match(Expr node);
  bool isNormalizedAway(Expr node, Expr factor);
  /// Finds the probabilities in the weight, and what becomes of them before the product.
  bool findProbabilities();
  const MaskedScore &getSplit();
  bool isPlainWhereAllowed(Expr weight, Expr plain);
  Expr foldWeight(Expr part, Expr plain);
  bool carryWeight(Expr weight, Expr plain, Refusal &refusal);
  bool readWeight(Refusal &refusal);
  void findWeightsTensor();
  bool readOperands(Refusal &refusal);
  bool findGuards(Refusal &refusal);
  void addGiven(Expr sum, ArrayRef<Expr> leaves, SmallVectorImpl<Expr> &parts);
  void hideInfinite();
  void explain(Refusal &refusal);

  Expressions &e;
  AttentionForm form;
  const WeightedSum &sum;
  Expr exp;
  ArrayRef<unsigned> dims;
  SmallVector<unsigned> keyDims;
  Generalizer general;
  Expr score = nullptr;             ///< the exponent to base e
  Expr value = nullptr;             ///< of the formula; null for probabilities
  Expr probability = nullptr;       ///< the part of the weight that is a softmax
  SmallVector<Expr> outer;          ///< factors of the weight
  Verdict against;                  ///< the one that came nearest to an agreement
  std::optional<MaskedScore> split; ///< of `form.score`, once asked for
};
} // namespace

bool Reading::is(Expr node, const Candidate &candidate) {
  Claim claim;
  claim.source = general.apply(node);
  Expr formula = makeAttention(e, candidate.score, value, candidate.sink, form.key);
  if (candidate.rowFactor)
    formula = e.compute<arith::MulFOp>(formula->type, {formula, candidate.rowFactor});
  claim.formula = general.apply(formula);
  if (value) {
    Expr size = e.compute<math::AbsFOp>(cast<FloatType>(value->type), {value});
    claim.size = general.apply(makeAttention(e, candidate.score, size, candidate.sink, form.key));
  }
  claim.dims = value ? SmallVector<unsigned>(dims) : keyDims;
  claim.negligible = 1e-6;
  claim.rounding = getRounding();
  // A sum of weights that is zero is a row without keys, which `fill` describes: guards that ask
  // for it change nothing else.
  IntervalAnalysis intervals(e);
  claim.ranges = [&](Expr expr) -> std::optional<Interval> {
    if (!isSumOfExps(expr))
      return std::nullopt;
    Interval sum = intervals.get(expr);
    if (!sum.isAtLeast(0))
      return std::nullopt;
    sum.openLeast |= sum.least == 0;
    return sum;
  };
  Verdict verdict = decide(e, claim);
  auto rank = [](const Verdict &v) {
    return v.kind == Verdict::Unseen ? 2 : v.kind == Verdict::Different && v.culprit ? 1 : 0;
  };
  if (rank(verdict) > rank(against))
    against = verdict;
  return static_cast<bool>(verdict);
}

/// The largest parts of `part` that stand in `within`, wherever and in whatever tensor they are
/// computed.
void Reading::addUnknowns(Expr part, Expr within) {
  if (part->isConstant() || part->kind == Node::Kind::Index)
    return;
  if (!contains(within, part)) {
    for (Expr arg : part->args)
      addUnknowns(arg, within);
    return;
  }
  general.add(part);
}

/// The width of the narrowest floats that the attention is of: what is rounded to these is rounded
/// as promised.
unsigned Reading::getRounding() {
  unsigned width = 32;
  for (Expr root : {form.whole, sum.value, score})
    for (Expr part : collect(root, [](Expr part) { return part->kind == Node::Kind::Compute; }))
      if (part == root || part->kind == Node::Kind::Element)
        if (auto type = dyn_cast<FloatType>(part->type))
          width = std::min(width, type.getWidth());
  return width;
}

/// Whether a predicate of a row is a factor of its weights and of their sum alike: where it does
/// not hold, the row sees no key.
bool Reading::isNormalizedAway(Expr node, Expr factor) {
  Expr inner = stripCasts(factor);
  if (!inner->is<arith::UIToFPOp>() || !inner->args[0]->type.isInteger(1) ||
      inner->args[0]->isConstant())
    return false;
  llvm::DenseMap<Expr, Expr> nothing;
  nothing[inner] = e.constant(0.0, cast<FloatType>(inner->type));
  Evaluator evaluate(e, /*seed=*/31);
  evaluate.place.assign(e.getNumDims(), 0);
  std::optional<double> found = evaluate.evaluateReal(general.apply(e.replace(node, nothing)));
  return found && std::isnan(*found);
}

/// Exponentials that are multiplied by a mask before they are summed.
SmallVector<Candidate> Reading::readMasked(const Place &at) {
  SmallVector<Expr> masks;
  for (Expr factor : at.unguarded)
    if (!hasExp(factor, form.key) &&
        (factor->dependsOn(form.key) || isNormalizedAway(at.node, factor)))
      masks.push_back(factor);
  if (masks.empty())
    return {};
  FloatType type = Float64Type::get(e.getContext());
  Expr log = e.compute<math::LogOp>(type, {multiply(e, masks, type)});
  return {Candidate(e.compute<arith::AddFOp>(type, {e.convert(at.score, type), log}))};
}

/// Exponentials that are overwritten by zero: those keys are masked. `ofKeys`: where the condition
/// is of keys, not of the row or of the weights themselves.
SmallVector<Candidate> Reading::readOverwritten(const Place &at, bool ofKeys) {
  SmallVector<Candidate> candidates;
  for (Expr factor : at.factors) {
    Expr chosen = stripCasts(factor);
    if (!chosen->is<arith::SelectOp>())
      continue;
    Expr condition = chosen->args[0];
    if (ofKeys != (condition->dependsOn(form.key) && !hasExp(condition, form.key)))
      continue;
    for (unsigned i : {1, 2}) {
      Expr zero = chosen->args[i];
      if (!zero->isConstant() || zero->getNumber() != 0 || !hasExp(chosen->args[3 - i], form.key))
        continue;
      auto type = cast<FloatType>(at.score->type);
      SmallVector<Expr> args(chosen->args.begin(), chosen->args.end());
      args[i] = e.constant(-std::numeric_limits<double>::infinity(), type);
      args[3 - i] = at.score;
      candidates.emplace_back(e.compute<arith::SelectOp>(type, args));
    }
  }
  return candidates;
}

/// Beside a sink it matters what all keys share: of what is added, the outermost is left out.
SmallVector<Candidate> Reading::readSinks(const Place &at) {
  SmallVector<Expr> scores{at.score};
  for (unsigned most = 3; most-- > 0;)
    if (Expr other = dropIndependent(e, score, form.key, most); !llvm::is_contained(scores, other))
      scores.push_back(other);
  SmallVector<Candidate> candidates;
  for (Expr sink : findSinks(e, form, at.node)) {
    if (sink->type != at.score->type && !sink->isConstant() &&
        sink->type.getIntOrFloatBitWidth() > 32)
      continue;
    for (Expr other : scores)
      candidates.emplace_back(other, sink);
  }
  return candidates;
}

/// The sum of exponentials is not what is divided by, but a function of it, as max(sum, 1e-12):
/// then the row is scaled by what both differ by.
SmallVector<Candidate> Reading::readScaled(const Place &at) {
  FloatType type = Float64Type::get(e.getContext());
  Expr sumOf =
      e.reduce(Combiner::Add, form.key, e.compute<math::ExpOp>(type, {e.convert(at.score, type)}));
  SmallVector<Candidate> candidates;
  for (Expr bound : collect(IntervalAnalysis(e).fold(at.node))) {
    if (!isPiecewise(bound) || bound->kind != Node::Kind::Compute || bound->args.size() != 2)
      continue;
    for (unsigned i : {0, 1}) {
      Expr sumHere = bound->args[i];
      if (sumHere->kind != Node::Kind::Reduce || !bound->args[1 - i]->isConstant() ||
          !hasExp(sumHere->args[0], sumHere->dim))
        continue;
      SmallVector<Expr> args(bound->args.begin(), bound->args.end());
      args[i] = sumOf;
      args[1 - i] = e.constant(args[1 - i]->getNumber(), type);
      Expr bounded = e.compute(bound->name, bound->attrs, type, args);
      Candidate candidate(at.score);
      candidate.rowFactor = e.compute<arith::DivFOp>(type, {sumOf, bounded});
      candidate.sum = sumOf;
      candidates.push_back(candidate);
    }
  }
  return candidates;
}

/// The ways to read an expression as a softmax, those that others would hide first.
const Reading::Way Reading::kWays[] = {&Reading::readMasked, &Reading::readOverwrittenKeys,
                                       &Reading::readPlain,  &Reading::readOverwrittenRows,
                                       &Reading::readSinks,  &Reading::readScaled};

bool Reading::match(Expr node) {
  Place at;
  at.node = node;
  at.score = dropIndependent(e, score, form.key);
  addFactors(e, value ? sum.weight : node, at.factors);
  for (Expr factor : at.factors)
    addFactors(e, stripGuard(factor), at.unguarded);
  form.score = at.score;
  for (Way way : kWays)
    for (const Candidate &candidate : (this->*way)(at))
      if (is(node, candidate)) {
        form.score = candidate.score;
        form.sink = candidate.sink;
        form.rowFactor = candidate.rowFactor;
        form.sum = candidate.sum;
        return true;
      }
  return false;
}

bool Reading::findProbabilities() {
  value = nullptr;
  for (Expr node : collect(sum.weight, [](Expr node) { return !isExp(node); })) {
    if (!hasExp(node, form.key) || isCast(node) || !isa<FloatType>(node->type) || !match(node))
      continue;
    probability = node;
    return true;
  }
  return false;
}

static bool isSummand(Expr sum, Expr part) {
  sum = stripCasts(sum);
  if (sum == stripCasts(part))
    return true;
  return sum->is<arith::AddFOp>() &&
         llvm::any_of(sum->args, [&](Expr arg) { return isSummand(arg, part); });
}

/// What a reduction may be that has a term within `term`; nothing where that says nothing.
static std::optional<Interval> getReductionWith(Combiner combiner, const Interval &term) {
  if (term.mayBeNan)
    return std::nullopt;
  constexpr double infinity = Interval::kInfinity;
  switch (combiner) {
  case Combiner::Max:
    return Interval{term.least, infinity, term.openLeast, false, false};
  case Combiner::Min:
    return Interval{-infinity, term.most, false, term.openMost, false};
  case Combiner::Or:
    return term.isAtLeast(1) ? Interval::of(1) : Interval::between(0, 1);
  case Combiner::And:
    return term.isAtMost(0) ? Interval::of(0) : Interval::between(0, 1);
  default:
    return std::nullopt;
  }
}

/// The score's masks and rule, when queries and keys are found in it.
const MaskedScore &Reading::getSplit() {
  if (!split)
    split = splitScore(e, form);
  return *split;
}

/// Where the weight is more than the probabilities: whether that changes nothing for keys that the
/// mask allows, and leaves the others none.
bool Reading::isPlainWhereAllowed(Expr weight, Expr plain) {
  const MaskedScore &score = getSplit();
  if (!score.allowed)
    return false;
  IntervalAnalysis intervals(e);
  // A key is allowed here: it is one of those that a reduction over the row's keys sees.
  intervals.given = [&](Expr expr) -> std::optional<Interval> {
    if (expr->kind != Node::Kind::Reduce || e.getExtent(expr->dim) != e.getExtent(form.key))
      return std::nullopt;
    llvm::DenseMap<unsigned, Expr> here{{expr->dim, e.dim(form.key)}};
    Expr term = e.substitute(expr->args[0], here);
    // Where a part of the score is minus infinity the key is none.
    if (isSummand(form.score, term))
      return getReductionWith(expr->combiner, Interval::all());
    term = assume(e, term, score.allowed);
    return getReductionWith(expr->combiner,
                            IntervalAnalysis(e).get(IntervalAnalysis(e).fold(term)));
  };
  Expr allowed = stripCasts(intervals.fold(assume(e, weight, score.allowed)));
  llvm::DenseMap<Expr, Expr> none{{plain, e.constant(0.0, cast<FloatType>(plain->type))}};
  Expr forbidden = intervals.fold(e.replace(weight, none));
  return allowed == plain && forbidden->isConstant() && forbidden->getNumber() == 0;
}

/// Folds parts of the weight in which the probability, a number from 0 to 1, is `plain`.
Expr Reading::foldWeight(Expr part, Expr plain) {
  IntervalAnalysis intervals(e);
  intervals.given = [&](Expr expr) -> std::optional<Interval> {
    return expr == plain ? std::optional(Interval::between(0, 1)) : std::nullopt;
  };
  return intervals.fold(part);
}

/// Whether a weight is a function of the one probability `plain` and of the place, and nothing for
/// a key that the mask forbids. Then `form` gets it.
bool Reading::carryWeight(Expr weight, Expr plain, Refusal &refusal) {
  const MaskedScore &score = getSplit();
  if (score.allowed) {
    llvm::DenseMap<Expr, Expr> none{{plain, e.constant(0.0, cast<FloatType>(plain->type))}};
    Predicates booleans(e);
    Expr hidden = assume(e, e.replace(weight, none), booleans.negate(score.allowed));
    hidden = IntervalAnalysis(e).fold(hidden);
    if (!hidden->isConstant() || hidden->getNumber() != 0) {
      refusal.reason += ", which gives weight to keys that the mask forbids";
      return false;
    }
    weight = foldWeight(assume(e, weight, score.allowed), plain);
  }
  for (Expr part : collect(weight))
    if (part->kind == Node::Kind::Variable && part != plain) {
      refusal.reason += ", together with those of other keys";
      return false;
    }
  if (hasExp(weight, form.key)) {
    refusal.reason += ", together with other exponentials";
    return false;
  }
  if (form.rowFactor || !contains(weight, plain))
    return false;
  refusal = {};
  form.weight = weight;
  form.probability = plain;
  return true;
}

/// What becomes of the probabilities before the product.
bool Reading::readWeight(Refusal &refusal) {
  if (!probability)
    return true;
  Generalizer unknown(e);
  unknown.add(probability);
  Expr plain = unknown.apply(probability);
  Expr weight = foldWeight(unknown.apply(sum.weight), plain);
  if (stripCasts(weight) == plain || isPlainWhereAllowed(weight, plain) ||
      getPlantedFault() == PlantedFault::Harmless)
    return true;
  // The outermost part that a reader knows from the source.
  Expr changed = weight;
  for (Expr part : collect(weight))
    if (isPiecewise(part) && !part->is<arith::TruncFOp>() && contains(part, plain)) {
      changed = part;
      break;
    }
  refusal = {
      "the probabilities are changed before they meet the values, by " + describe(e, changed), ""};
  return carryWeight(weight, plain, refusal);
}

/// The probabilities where they are a tensor by themselves: the last one that holds them.
void Reading::findWeightsTensor() {
  Generalizer unknown(e);
  unknown.add(probability);
  Expr plain = unknown.apply(probability);
  auto isProbability = [&](Expr part) {
    return stripCasts(foldWeight(unknown.apply(part), plain)) == plain ||
           is(part, Candidate(form.score, form.sink));
  };
  for (Expr part : collect(sum.node->args[0], [](Expr part) { return !isExp(part); })) {
    auto [tensor, at] = e.getHome(part);
    if (!tensor || part->kind == Node::Kind::Element || !hasExp(part, form.key))
      continue;
    if (isProbability(part)) {
      form.weights = {tensor, at};
      return;
    }
  }
}

bool Reading::readOperands(Refusal &refusal) {
  double valueScale = 1;
  std::optional<Operand> values = getOperand(e, sum.value, valueScale);
  if (!values || valueScale != 1) {
    auto [tensor, at] = e.getHome(sum.value);
    if (!tensor) {
      refusal = {"the values are no tensor", ""};
      return false;
    }
    values = Operand{tensor, at};
  }
  form.values = *values;
  if (findQueryKeyProduct(e, form, dims))
    return true;
  refusal = {"the scores do not come from a product of queries and keys",
             "compute scores as a product of two tensors over the head size"};
  return false;
}

static bool isTestForNan(Expr part) {
  if (part->name.getValue() == "math.isnan")
    return true;
  if (!part->is<arith::CmpFOp>())
    return false;
  auto predicate = cast<arith::CmpFPredicateAttr>(part->attrs.get("predicate")).getValue();
  return predicate == arith::CmpFPredicate::UNO || predicate == arith::CmpFPredicate::ORD ||
         part->args[0] == part->args[1];
}

/// A guard: somewhere on the way from the exponential to the result stands a test for NaN, or a
/// product with a mask.
bool Reading::findGuards(Refusal &refusal) {
  bool testsProbabilities = false;
  for (Expr part : collect(form.whole)) {
    if (part->kind != Node::Kind::Compute)
      continue;
    // Probabilities are overwritten by zero where the mask forbids.
    if (part->is<arith::SelectOp>())
      for (unsigned i : {1, 2}) {
        Expr zero = part->args[i], kept = part->args[3 - i];
        form.guarded |= zero->isConstant() && zero->getNumber() == 0 &&
                        stripCasts(kept)->is<arith::DivFOp>() && hasExp(kept, form.key);
      }
    if (isTestForNan(part)) {
      form.guarded = true;
      testsProbabilities |= hasExp(part, form.key);
    }
  }
  for (Expr part : outer)
    form.guarded |= !hasExp(part, form.key) && part->dependsOn(form.key);
  // `fill` describes rows without keys, and nothing that is NaN beside these.
  IntervalAnalysis intervals(e);
  intervals.given = [&](Expr expr) -> std::optional<Interval> {
    return expr == form.raw ? std::optional(Interval::all()) : std::nullopt;
  };
  if (!testsProbabilities || !intervals.get(getSplit().rule).mayBeNan)
    return true;
  refusal = {"its probabilities are tested for NaN, which scores by themselves may be: infinity "
             "times zero, or less infinity",
             "leave infinities to the mask"};
  return false;
}

/// The summands of a score that hold one of these elements, as they stand there: an element by
/// itself may not exist where it is not chosen.
void Reading::addGiven(Expr sum, ArrayRef<Expr> leaves, SmallVectorImpl<Expr> &parts) {
  Expr inner = stripCasts(sum);
  if (inner->is<arith::AddFOp>()) {
    for (Expr arg : inner->args)
      addGiven(arg, leaves, parts);
  } else if (!contains(inner, form.raw) &&
             llvm::any_of(leaves, [&](Expr leaf) { return contains(inner, leaf); })) {
    parts.push_back(inner);
  }
}

/// What the caller adds to scores may be minus infinity, for all keys of a row. Without a guard
/// that gives NaN, by the source as by attention, or, beside a sink, zero; with one those keys are
/// a mask, whose `fill` says what.
void Reading::hideInfinite() {
  FloatType type = cast<FloatType>(form.score->type);
  Expr infinity = e.constant(-std::numeric_limits<double>::infinity(), type);
  SmallVector<Expr> summands = getGivenSummands(form.score);
  auto hide = [&](Expr root) {
    llvm::DenseMap<Expr, Expr> hidden;
    for (Expr part : collect(root))
      if (llvm::any_of(summands, [&](Expr given) {
            return part->kind == Node::Kind::Element && part->tensor == given->tensor;
          }))
        hidden[part] = e.constant(infinity->getNumber(), cast<FloatType>(part->type));
    return e.replace(root, hidden);
  };
  if (summands.empty() || form.rowFactor || form.sink)
    return;
  Expr whole = general.apply(hide(form.whole));
  Expr greatest = general.apply(e.reduce(Combiner::Max, form.key, hide(form.score)));
  // Of rows that see no key, whatever else masks hide.
  auto isGuarded = [&](uint64_t seed) {
    Evaluator evaluate(e, seed);
    evaluate.place.assign(e.getNumDims(), 0);
    std::optional<double> best = evaluate.evaluateReal(greatest);
    std::optional<double> found = evaluate.evaluateReal(whole);
    bool isEmpty = best && *best == -std::numeric_limits<double>::infinity();
    return isEmpty && !(found && std::isnan(*found));
  };
  if (llvm::none_of(ArrayRef<uint64_t>{1, 2, 3, 4, 5, 6, 7, 8}, isGuarded))
    return;
  SmallVector<Expr> parts;
  addGiven(form.score, summands, parts);
  for (Expr given : parts) {
    DictionaryAttr isMore = DictionaryAttr::get(
        e.getContext(),
        NamedAttribute(StringAttr::get(e.getContext(), "predicate"),
                       arith::CmpFPredicateAttr::get(e.getContext(), arith::CmpFPredicate::OGT)));
    Expr least = e.constant(infinity->getNumber(), cast<FloatType>(given->type));
    Expr isFinite =
        e.compute<arith::CmpFOp>(IntegerType::get(e.getContext(), 1), {given, least}, isMore);
    form.score = e.compute<arith::SelectOp>(type, {isFinite, form.score, infinity});
  }
}

/// Whether softmaxes are summed over another axis than their own, in the weights or, with a matrix
/// in place of values, here: talking heads (Shazeer et al. 2020).
bool Reading::mixesHeads() {
  auto outside = [](Expr part) { return !isExp(part); };
  auto hasNormaliser = [&](Expr root) { return llvm::any_of(collect(root, outside), isSumOfExps); };
  Expr matrix = stripCasts(sum.value);
  if (matrix->tensor &&
      isa_and_nonnull<arith::ConstantOp, WeightRefOp>(matrix->tensor.getDefiningOp()))
    return hasNormaliser(sum.weight);
  return llvm::any_of(collect(sum.weight, outside), [&](Expr part) {
    return part->kind == Node::Kind::Reduce && part->combiner == Combiner::Add &&
           hasNormaliser(part->args[0]) &&
           llvm::any_of(getExps(part->args[0], form.key),
                        [&](Expr exp) { return exp->dependsOn(part->dim); });
  });
}

/// Why the weights are no softmax.
void Reading::explain(Refusal &refusal) {
  if (mixesHeads()) {
    refusal = {"heads are mixed between the softmax and the product with values", ""};
    return;
  }
  refusal.reason = "the weights are not the softmax of anything over the keys that are summed";
  refusal.change = "normalise over the axis that the product with the values sums";
  if (!against.culprit)
    return;
  if (against.kind == Verdict::Unseen)
    refusal.reason = "the weights agree with a softmax wherever they were evaluated, but " +
                     describe(e, against.culprit) + " was not seen on both of its sides";
  else
    refusal.reason =
        "the weights are no softmax: " + describe(e, against.culprit) + " changes them";
  refusal.change = "";
}

std::optional<AttentionForm> Reading::run(Refusal &refusal) {
  // A logarithm of a probability that is kept from being positive is that logarithm.
  Expr exponent = exp->args[0];
  if (Expr top = stripCasts(exponent);
      top->is<arith::MinimumFOp, arith::MinNumFOp, arith::SelectOp>())
    if (Expr kept = IntervalAnalysis(e).fold(top); llvm::is_contained(top->args, kept))
      exponent = kept;
  score = toNatural(e, exp, exponent);
  addFactors(e, sum.weight, outer);
  if (!hasDenominator(e, form.whole, sum, dropIndependent(e, score, form.key))) {
    explain(refusal);
    return std::nullopt;
  }
  // Scores and values are unknowns, as wholes where they can be.
  addUnknowns(dropIndependent(e, exponent, form.key), exp->args[0]);
  addUnknowns(sum.value, sum.value);
  bool isDirect = form.whole == sum.node;
  if (isDirect) {
    if (!findProbabilities()) {
      explain(refusal);
      return std::nullopt;
    }
  } else {
    value = sum.value;
    if (!match(form.whole)) {
      explain(refusal);
      return std::nullopt;
    }
  }
  if (!readOperands(refusal) || !readWeight(refusal))
    return std::nullopt;
  if (!findGuards(refusal))
    return std::nullopt;
  if (probability && !form.rowFactor)
    findWeightsTensor();
  hideInfinite();
  return form;
}

//===-- Recognition --------------------------------------------------------------------------===//

/// The root's element along new dims, which are added to `dims`; axes of size one are read at zero.
static SmallVector<Expr> makeAxes(Expressions &e, Value root, AttentionForm &form,
                                  SmallVectorImpl<unsigned> &dims) {
  SmallVector<Expr> indices;
  for (int64_t axis = 0; axis < cast<RankedTensorType>(root.getType()).getRank(); ++axis) {
    AffineExpr size = e.getSize(root, axis);
    if (size == getAffineConstantExpr(1, e.getContext())) {
      form.axes.emplace_back();
      indices.push_back(e.constant(int64_t(0), IndexType::get(e.getContext())));
      continue;
    }
    unsigned dim = e.addDim(size);
    dims.push_back(dim);
    form.axes.push_back({dim});
    indices.push_back(e.dim(dim));
  }
  return indices;
}

/// Sums with exponentials written out: the product with values where the root stands behind it, a
/// denominator that is a product too, as weights times a mask. What weights are multiplied with is
/// left alone.
static Expr writeOutSums(Expressions &e, Expr whole, Value product, bool isLate) {
  llvm::DenseMap<Expr, Expr> written;
  auto getWeights = [&](Expr sum) {
    SmallVector<Value> homes;
    if (sum && sum->kind == Node::Kind::Reduce)
      for (Expr exp : getExps(sum, sum->dim))
        addHomes(e, exp, homes);
    if (sum && sum->kind == Node::Kind::Reduce)
      for (Expr exp : getExps(sum->args[0], sum->dim))
        addHomes(e, exp->args[0], homes);
    return homes;
  };
  SmallVector<Value> weights;
  for (Expr node : collect(whole)) {
    if (node->kind != Node::Kind::Element ||
        (!isLate && (whole->kind != Node::Kind::Reduce || node->dependsOn(whole->dim))))
      continue;
    auto result = dyn_cast<OpResult>(node->tensor);
    if (!result || !isContraction(result.getOwner()))
      continue;
    Expr sum = e.product(node->tensor, ArrayRef<Expr>(node->args));
    // Only sums of the same weights.
    if (isLate && result != product) {
      if (weights.empty())
        for (Expr other : collect(whole))
          if (other->kind == Node::Kind::Element && other->tensor == product)
            weights = getWeights(e.product(product, ArrayRef<Expr>(other->args)));
      if (llvm::none_of(getWeights(sum),
                        [&](Value home) { return llvm::is_contained(weights, home); }))
        continue;
    }
    if (sum && (hasExp(sum, sum->dim) ||
                (sum->kind == Node::Kind::Reduce && hasExp(sum->args[0], sum->dim))))
      written[node] = sum;
  }
  return written.empty() ? whole : e.replace(whole, written);
}

/// The first reading of `root` that is an attention.
static std::optional<AttentionForm> read(Expressions &e, Value root, Value product,
                                         Refusal &refusal) {
  AttentionForm form;
  form.root = root;
  SmallVector<unsigned> dims;
  SmallVector<Expr> indices = makeAxes(e, root, form, dims);
  form.whole = e.product(root, indices);
  // Late division: the sum stands below the root.
  bool isLate = !form.whole;
  if (isLate)
    form.whole = e.at(root, indices);
  form.whole = writeOutSums(e, form.whole, product, isLate);

  bool any = false;
  for (Expr node : collect(form.whole, [](Expr node) { return !isExp(node); })) {
    if (node->kind != Node::Kind::Reduce || node->combiner != Combiner::Add)
      continue;
    for (const WeightedSum &sum : readWeightedSum(e, node, dims))
      for (Expr exp : getExps(sum.weight, sum.key)) {
        any = true;
        Reading reading(e, form, sum, exp, dims);
        if (std::optional<AttentionForm> found = reading.run(refusal))
          return found;
        if (reading.mixesHeads())
          return std::nullopt; // the sum over heads inside is no attention either
      }
  }
  if (!any)
    refusal = {};
  return std::nullopt;
}

std::optional<AttentionForm> raise::recognizeAttention(Expressions &e, Value root, Value product,
                                                       Refusal &refusal) {
  std::optional<AttentionForm> form = read(e, root, product, refusal);
  if (!form)
    return std::nullopt;
  splitDims(e, *form);
  return assignRoles(e, *form, refusal) ? form : std::nullopt;
}
