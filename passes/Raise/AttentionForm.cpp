// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recognition of attention. Guesses come from the structure of the expression (where an exponential
// depends on the summed dim), proof from evaluating it beside the formula.
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Raise/AttentionFormula.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::raise;

//===-- Looking at expressions ---------------------------------------------------------------===//

/// The outermost exponentials that depend on `dim`.
static SmallVector<Expr> getExps(Expr root, unsigned dim) {
  SmallVector<Expr> exps;
  for (Expr node : collect(root, [&](Expr node) { return node->dependsOn(dim) && !isExp(node); }))
    if (isExp(node) && node->dependsOn(dim))
      exps.push_back(node);
  return exps;
}

/// Factors of a product, through casts. What is divided by stays one factor 1 / x.
static void addFactors(Expressions &e, Expr expr, SmallVectorImpl<Expr> &factors) {
  Expr inner = stripCasts(expr);
  if (inner->is<arith::MulFOp>()) {
    addFactors(e, inner->args[0], factors);
    addFactors(e, inner->args[1], factors);
    return;
  }
  if (inner->is<arith::DivFOp>() && !inner->args[0]->isConstant()) {
    addFactors(e, inner->args[0], factors);
    auto type = cast<FloatType>(inner->type);
    factors.push_back(e.compute<arith::DivFOp>(type, {e.constant(1.0, type), inner->args[1]}));
    return;
  }
  factors.push_back(expr);
}

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

/// Whether a predicate of a row is a factor of its weights and of their sum alike: where it does
/// not hold, the row sees no key.
static bool isNormalizedAway(Expressions &e, Expr whole, Expr factor) {
  Expr inner = stripCasts(factor);
  if (!inner->is<arith::UIToFPOp>() || !inner->args[0]->type.isInteger(1) ||
      inner->args[0]->isConstant())
    return false;
  llvm::DenseMap<Expr, Expr> nothing;
  nothing[inner] = e.constant(0.0, cast<FloatType>(inner->type));
  Evaluator evaluate(e, /*seed=*/31);
  evaluate.place.assign(e.getNumDims(), 0);
  std::optional<double> found = evaluate.evaluateReal(e.replace(whole, nothing));
  return found && std::isnan(*found);
}

static Expr multiply(Expressions &e, ArrayRef<Expr> factors, FloatType type) {
  Expr result = e.constant(1.0, type);
  for (Expr factor : factors)
    result = e.compute<arith::MulFOp>(type, {result, e.convert(factor, type)});
  return result;
}

/// `expr` without summands, the outermost `most` of them, that `keep` is false for.
static Expr dropSummands(Expressions &e, Expr expr, unsigned &most,
                         llvm::function_ref<bool(Expr)> keep) {
  Expr inner = stripCasts(expr);
  auto drop = [&](Expr part) { return most > 0 && !keep(part) && most--; };
  auto rest = [&](Expr part) { return dropSummands(e, part, most, keep); };
  if (inner->is<arith::AddFOp>()) {
    for (unsigned i : {0, 1})
      if (drop(inner->args[i]))
        return rest(inner->args[1 - i]);
  } else if (inner->is<arith::SubFOp>()) {
    if (drop(inner->args[1]))
      return rest(inner->args[0]);
    if (drop(inner->args[0]))
      return e.compute<arith::NegFOp>(inner->type, {rest(inner->args[1])});
  } else if (inner->is<arith::MulFOp>()) {
    for (unsigned i : {0, 1})
      if (!keep(inner->args[i])) {
        Expr part = e.convert(rest(inner->args[1 - i]), cast<FloatType>(inner->type));
        return e.compute<arith::MulFOp>(inner->type, {part, inner->args[i]});
      }
  } else if (inner->is<arith::DivFOp>()) {
    if (!keep(inner->args[1])) {
      Expr part = e.convert(rest(inner->args[0]), cast<FloatType>(inner->type));
      return e.compute<arith::DivFOp>(inner->type, {part, inner->args[1]});
    }
  }
  return inner;
}

/// `expr` up to summands that do not depend on `dim`, or the outermost `most` of these.
static Expr dropIndependent(Expressions &e, Expr expr, unsigned dim, unsigned most = ~0u) {
  return dropSummands(e, expr, most, [&](Expr part) { return part->dependsOn(dim); });
}

/// The exponent of `exp`, or a part of it, as one to base e.
static Expr toNatural(Expressions &e, Expr exp, Expr exponent) {
  if (!exp->is<math::Exp2Op>())
    return exponent;
  auto type = cast<FloatType>(exponent->type);
  if (type.getWidth() < 32) {
    // The logarithm of two has more bits than that.
    type = Float32Type::get(e.getContext());
    exponent = e.convert(exponent, type);
  }
  return e.compute<arith::MulFOp>(type, {exponent, e.constant(std::log(2.0), type)});
}

//===-- Queries and keys ---------------------------------------------------------------------===//

/// The operand as a tensor, and the constant that it is multiplied by.
static std::optional<Operand> getOperand(Expressions &e, Expr expr, double &scale) {
  double factor = 1;
  auto [tensor, indices] = e.getHome(takeFactor(expr, factor));
  if (tensor) {
    scale *= factor;
    return Operand{tensor, indices};
  }
  std::tie(tensor, indices) = e.getHome(expr);
  if (!tensor)
    return std::nullopt;
  return Operand{tensor, indices};
}

/// Reads `node` as the product of queries and keys.
static bool readProduct(Expressions &e, AttentionForm &form, Expr node,
                        ArrayRef<unsigned> rootDims) {
  if (!node->dependsOn(form.key))
    return false;
  Expr product = node;
  if (node->kind == Node::Kind::Element) {
    auto result = dyn_cast<OpResult>(node->tensor);
    if (!result || !isContraction(result.getOwner()))
      return false;
    product = e.product(node->tensor, ArrayRef<Expr>(node->args));
  }
  SmallVector<unsigned> depth;
  while (product && product->kind == Node::Kind::Reduce && product->combiner == Combiner::Add) {
    depth.push_back(product->dim);
    product = product->args[0];
  }
  // A head size of one leaves nothing to sum.
  if (depth.empty() && node->kind != Node::Kind::Element)
    return false;
  SmallVector<Expr> factors;
  addFactors(e, product, factors);
  double scale = 1;
  auto accept = [&](const Operand &query, const Operand &keys) {
    form.query = query;
    form.keys = keys;
    form.depth = depth;
    form.scale = scale;
    form.raw = node;
  };

  // Bahdanau: w[d] * tanh(q + k).
  for (Expr factor : factors) {
    Expr tanh = stripCasts(factor);
    if (!tanh->is<math::TanhOp>() || !tanh->dependsOn(form.key))
      continue;
    Expr sum = stripCasts(tanh->args[0]);
    if (!sum->is<arith::AddFOp>())
      continue;
    SmallVector<Expr> queries, keys;
    std::function<bool(Expr)> split = [&](Expr part) -> bool {
      Expr inner = stripCasts(part);
      if (inner->is<arith::AddFOp>() && !e.getHome(inner).first)
        return split(inner->args[0]) && split(inner->args[1]);
      if (!inner->dependsOn(form.key)) {
        queries.push_back(part);
        return true;
      }
      if (inner->is<arith::AddFOp>() && queries.empty() && keys.empty())
        return split(inner->args[0]) && split(inner->args[1]);
      keys.push_back(part);
      return true;
    };
    if (!split(sum->args[0]) || !split(sum->args[1]) || queries.size() != 1 || keys.size() != 1)
      continue;
    SmallVector<Expr> others;
    for (Expr other : factors)
      if (other != factor)
        others.push_back(other);
    if (others.size() != 1 || others[0]->dependsOn(form.key))
      continue;
    double one = 1;
    std::optional<Operand> q = getOperand(e, queries[0], one), k = getOperand(e, keys[0], one);
    std::optional<Operand> w = getOperand(e, others[0], scale);
    if (!q || !k || !w || one != 1)
      continue;
    for (unsigned dim : rootDims)
      if (w->dependsOn(dim))
        return false;
    form.additive = *w;
    accept(*q, *k);
    return true;
  }

  // The product's two sides, as they stand there.
  std::optional<Operand> q, k;
  Expr top = takeFactor(product, scale);
  if (top->is<arith::MulFOp>() &&
      top->args[0]->dependsOn(form.key) != top->args[1]->dependsOn(form.key)) {
    unsigned ofKeys = top->args[1]->dependsOn(form.key) ? 1 : 0;
    q = getOperand(e, top->args[1 - ofKeys], scale);
    k = getOperand(e, top->args[ofKeys], scale);
  }
  // Or factors in a row, of which those with the key are the key's.
  if (!q || !k) {
    scale = 1;
    SmallVector<Expr> queries, keys;
    for (Expr factor : factors) {
      if (factor->isConstant())
        scale *= factor->getNumber();
      else
        (factor->dependsOn(form.key) ? keys : queries).push_back(factor);
    }
    if (queries.size() != 1 || keys.size() != 1)
      return false;
    q = getOperand(e, queries[0], scale);
    k = getOperand(e, keys[0], scale);
  }
  if (!q || !k)
    return false;
  // Queries and keys meet in the depth, and each has a length of its own.
  for (unsigned dim : depth)
    if (!q->dependsOn(dim) || !k->dependsOn(dim))
      return false;
  accept(*q, *k);
  return true;
}

//===-- The whole ----------------------------------------------------------------------------===//

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

/// Whether queries are tensors of the call with a place that neither keys nor values have. What is
/// added to a score may be a product too, of a weight.
static bool hasOwnQueries(const AttentionForm &form, ArrayRef<unsigned> rootDims) {
  return !form.query.tensor.getDefiningOp<WeightRefOp>() &&
         llvm::any_of(rootDims, [&](unsigned dim) {
           return form.query.dependsOn(dim) && !form.keys.dependsOn(dim) &&
                  !form.values.dependsOn(dim);
         });
}

namespace {
/// A sum over keys inside an expression, read as weights times values.
struct WeightedSum {
  unsigned key;
  Expr weight; ///< all factors but the value
  Expr value;
  SmallVector<Expr> exps; ///< candidates: exponentials in the weight
};
} // namespace

/// The readings of a sum, likelier ones first.
static SmallVector<WeightedSum> readWeightedSum(Expressions &e, Expr sum, ArrayRef<unsigned> dims) {
  WeightedSum found;
  found.key = sum->dim;
  Expr body = sum->args[0];
  if (body->kind == Node::Kind::Reduce)
    return {};
  found.exps = getExps(body, found.key);
  if (found.exps.empty())
    return {};
  SmallVector<WeightedSum> readings;
  // The product's two sides as they stand there: values may be products themselves.
  FloatType wide = Float64Type::get(e.getContext());
  if (Expr top = stripCasts(body); top->is<arith::MulFOp>())
    for (unsigned i : {0, 1}) {
      Expr value = top->args[1 - i], weight = top->args[i];
      if (!value->dependsOn(found.key) || !getExps(value, found.key).empty() ||
          getExps(weight, found.key).empty() || !e.getHome(value).first)
        continue;
      found.value = value;
      found.weight = e.convert(weight, wide);
      readings.push_back(found);
    }
  // Or all factors in a row, of which one is the value.
  SmallVector<Expr> factors, weights, values;
  addFactors(e, body, factors);
  llvm::SmallBitVector ofWeights(e.getNumDims());
  for (Expr factor : factors)
    if (!getExps(factor, found.key).empty()) {
      weights.push_back(factor);
      llvm::SmallBitVector dimsOf = factor->dims;
      dimsOf.resize(ofWeights.size());
      ofWeights |= dimsOf;
    }
  auto hasOwn = [&](Expr factor) {
    return llvm::any_of(
        dims, [&](unsigned dim) { return factor->dependsOn(dim) && !ofWeights.test(dim); });
  };
  for (Expr factor : factors) {
    if (llvm::is_contained(weights, factor))
      continue;
    if (factor->dependsOn(found.key) &&
        (hasOwn(factor) || stripCasts(factor)->kind == Node::Kind::Element))
      values.push_back(factor);
    else
      weights.push_back(factor);
  }
  if (values.size() > 1) // only those with a dim of their own
    llvm::erase_if(values, [&](Expr factor) {
      if (hasOwn(factor))
        return false;
      weights.push_back(factor);
      return true;
    });
  if (values.size() == 1 && (readings.empty() || readings.front().value != values[0])) {
    found.value = values[0];
    found.weight = multiply(e, weights, wide);
    readings.push_back(found);
  }
  return readings;
}

/// Logits that only a denominator sees: what stands in it for a place beside the keys, and what
/// exponentials are taken of that no key is in.
static SmallVector<Expr> getSinks(Expressions &e, const AttentionForm &form, Expr whole) {
  SmallVector<Expr> sinks;
  SmallVector<Expr> inScore = collect(form.score);
  auto is = [](Node::Kind kind) { return [kind](Expr part) { return part->kind == kind; }; };
  auto isOfTensor = [&](Expr root) {
    return llvm::any_of(collect(root, [](Expr part) { return part->kind != Node::Kind::Reduce; }),
                        is(Node::Kind::Element));
  };
  auto fits = [&](Expr node) {
    return llvm::all_of(node->dims.set_bits(), [&](unsigned dim) {
      return llvm::any_of(form.axes,
                          [&](const Axis &axis) { return llvm::is_contained(axis, dim); });
    });
  };
  auto add = [&](Expr root) {
    for (Expr node : collect(root, [](Expr node) { return node->kind != Node::Kind::Reduce; })) {
      if (node->kind != Node::Kind::Element || !isa<FloatType>(node->type) ||
          llvm::is_contained(inScore, node) || llvm::is_contained(sinks, node))
        continue;
      if (fits(node))
        sinks.push_back(node);
    }
  };
  // A place before or behind the keys.
  for (Expr node : collect(whole)) {
    if (node->kind != Node::Kind::Reduce || node->combiner != Combiner::Add)
      continue;
    AffineExpr more = e.simplify(e.getExtent(node->dim) - e.getExtent(form.key));
    if (more != getAffineConstantExpr(1, e.getContext()))
      continue;
    for (AffineExpr place : {getAffineConstantExpr(0, e.getContext()), e.getExtent(form.key)}) {
      llvm::DenseMap<unsigned, Expr> last;
      last[node->dim] = e.index(place);
      add(e.substitute(node->args[0], last));
    }
  }
  for (Expr node : collect(whole))
    if (isExp(node) && !node->dependsOn(form.key)) {
      add(node);
      // Multiplied by the logarithm that the type has of it: without what all is compared with.
      unsigned most = ~0u;
      Expr logit = dropSummands(e, node->args[0], most, isOfTensor);
      if (logit->kind == Node::Kind::Compute && isOfTensor(logit) && fits(logit) &&
          llvm::none_of(collect(logit), is(Node::Kind::Reduce)))
        sinks.push_back(toNatural(e, node, logit));
    }
  if (sinks.size() > 6)
    sinks.resize(6);
  sinks.push_back(e.constant(0.0, cast<FloatType>(Float32Type::get(e.getContext()))));
  return sinks;
}

std::optional<AttentionForm> raise::recognizeAttention(Expressions &e, Value root,
                                                       Refusal &refusal) {
  AttentionForm form;
  form.root = root;
  auto type = cast<RankedTensorType>(root.getType());
  SmallVector<Expr> indices;
  SmallVector<unsigned> dims;
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
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
  form.whole = e.product(root, indices);
  // Late division: the sum stands below the root.
  bool isLate = !form.whole;
  if (isLate)
    form.whole = e.at(root, indices);
  // Sums with exponentials are written out, a denominator that is a product too: weights times a
  // mask. What the weights are multiplied with is left alone.
  llvm::DenseMap<Expr, Expr> written;
  for (Expr node : collect(form.whole))
    if (node->kind == Node::Kind::Element) {
      if (!isLate && (form.whole->kind != Node::Kind::Reduce || node->dependsOn(form.whole->dim)))
        continue;
      if (auto result = dyn_cast<OpResult>(node->tensor);
          result && isContraction(result.getOwner()))
        if (Expr sum = e.product(node->tensor, ArrayRef<Expr>(node->args)))
          if (!getExps(sum, sum->dim).empty() ||
              (sum->kind == Node::Kind::Reduce && !getExps(sum->args[0], sum->dim).empty()))
            written[node] = sum;
    }
  if (!written.empty())
    form.whole = e.replace(form.whole, written);

  // Sums of weights times values, and the one whose softmax explains the whole.
  auto nodes = collect(form.whole, [](Expr node) { return !isExp(node); });
  SmallVector<std::pair<Expr, WeightedSum>> sums;
  for (Expr node : nodes)
    if (node->kind == Node::Kind::Reduce && node->combiner == Combiner::Add)
      for (WeightedSum &sum : readWeightedSum(e, node, dims))
        sums.push_back({node, sum});
  auto agrees = [&](const Formula &formula, ArrayRef<Value> booleans = {}) {
    Agreement agreement = compare(e, form.whole, formula, dims, booleans);
    form.seesSeveral = agreement == Agreement::OfSeveralKeys;
    return agreement != Agreement::None;
  };
  for (auto &[node, sum] : sums) {
    form.key = sum.key;
    SmallVector<unsigned> testDims(dims);
    testDims.push_back(form.key);
    for (Expr exp : sum.exps) {
      Expr score = toNatural(e, exp, exp->args[0]);
      form.score = dropIndependent(e, score, form.key);
      form.sink = nullptr;
      // Exponentials that are multiplied by a mask before they are summed: asked first, as draws
      // may be too small to show what the mask forbids.
      SmallVector<Expr> outer, factors, masks;
      addFactors(e, sum.weight, outer);
      for (Expr factor : outer)
        addFactors(e, stripGuard(factor), factors);
      for (Expr factor : factors)
        if (getExps(factor, form.key).empty() &&
            (factor->dependsOn(form.key) || isNormalizedAway(e, form.whole, factor)))
          masks.push_back(factor);
      SmallVector<Value> booleans;
      for (Expr mask : masks)
        for (Expr part : collect(mask, [](Expr part) { return !part->is<arith::CmpIOp>(); }))
          if (part->kind == Node::Kind::Element)
            booleans.push_back(part->tensor);
      bool right = false;
      if (!masks.empty()) {
        FloatType type = Float64Type::get(e.getContext());
        Expr log = e.compute<math::LogOp>(type, {multiply(e, masks, type)});
        Expr masked = e.compute<arith::AddFOp>(type, {e.convert(form.score, type), log});
        Formula formula = makeAttention(e, masked, sum.value, nullptr, form.key);
        right = agrees(formula, booleans);
        if (right)
          form.score = masked;
      }
      // Probabilities are overwritten by zero: those keys are masked. Asked first too, unless the
      // condition is of the row or of the probabilities themselves.
      auto tryOverwritten = [&, &sum = sum](bool isFirst) {
        for (Expr factor : outer) {
          Expr chosen = stripCasts(factor);
          if (right || !chosen->is<arith::SelectOp>())
            continue;
          Expr condition = chosen->args[0];
          if (isFirst != (condition->dependsOn(form.key) && getExps(condition, form.key).empty()))
            continue;
          for (unsigned i : {1, 2}) {
            Expr zero = chosen->args[i];
            if (right || !zero->isConstant() || zero->getNumber() != 0 ||
                getExps(chosen->args[3 - i], form.key).empty())
              continue;
            auto type = cast<FloatType>(form.score->type);
            SmallVector<Expr> args(chosen->args.begin(), chosen->args.end());
            args[i] = e.constant(-std::numeric_limits<double>::infinity(), type);
            args[3 - i] = form.score;
            Expr masked = e.compute<arith::SelectOp>(type, args);
            right = agrees(makeAttention(e, masked, sum.value, nullptr, form.key));
            if (right)
              form.score = masked;
          }
        }
      };
      tryOverwritten(/*isFirst=*/true);
      if (!right)
        right = agrees(makeAttention(e, form.score, sum.value, nullptr, form.key));
      tryOverwritten(/*isFirst=*/false);
      // Beside a sink it matters what all keys share: of what is added, the outermost is left out.
      SmallVector<Expr> scores{form.score};
      for (unsigned most = 3; !right && most-- > 0;)
        if (Expr other = dropIndependent(e, score, form.key, most);
            !llvm::is_contained(scores, other))
          scores.push_back(other);
      if (!right)
        for (Expr sink : getSinks(e, form, form.whole)) {
          if (sink->type != form.score->type && !sink->isConstant() &&
              sink->type.getIntOrFloatBitWidth() > 32)
            continue;
          for (Expr score : scores)
            if (!right && agrees(makeAttention(e, score, sum.value, sink, form.key))) {
              form.score = score;
              form.sink = sink;
              right = true;
            }
          if (right)
            break;
        }
      if (!right) {
        refusal.reason =
            "the weights are not the softmax of anything over the keys that are summed";
        refusal.change = "normalise over the axis that the product with the values sums";
        continue;
      }
      double valueScale = 1;
      std::optional<Operand> values = getOperand(e, sum.value, valueScale);
      if (!values || valueScale != 1) {
        auto [tensor, at] = e.getHome(sum.value);
        if (!tensor) {
          refusal.reason = "the values are no tensor";
          continue;
        }
        values = Operand{tensor, at};
      }
      form.values = *values;
      form.value = sum.value;
      // The product of queries and keys in the score.
      std::optional<AttentionForm> best;
      for (Expr part : collect(form.score, [&](Expr part) { return part->dependsOn(form.key); })) {
        if (part->kind != Node::Kind::Element && part->kind != Node::Kind::Reduce)
          continue;
        AttentionForm trial = form;
        if (readProduct(e, trial, part, dims) &&
            (!best || (!hasOwnQueries(*best, dims) && hasOwnQueries(trial, dims))))
          best = std::move(trial);
      }
      if (best) {
        form = std::move(*best);
      } else {
        refusal.reason = "the scores do not come from a product of queries and keys";
        refusal.change = "compute scores as a product of two tensors over the head size";
        continue;
      }
      // A guard: somewhere on the way from the exponential to the result stands a test for NaN, or
      // a product with a mask.
      for (Expr part : collect(form.whole)) {
        if (part->kind != Node::Kind::Compute)
          continue;
        StringRef name = part->name.getValue();
        if (name == "math.isnan")
          form.guarded = true;
        // Probabilities are overwritten by zero where the mask forbids.
        if (part->is<arith::SelectOp>())
          for (unsigned i : {1, 2}) {
            Expr zero = part->args[i], kept = part->args[3 - i];
            form.guarded |= zero->isConstant() && zero->getNumber() == 0 &&
                            stripCasts(kept)->is<arith::DivFOp>() &&
                            !getExps(kept, form.key).empty();
          }
        if (part->is<arith::CmpFOp>()) {
          auto predicate = cast<arith::CmpFPredicateAttr>(part->attrs.get("predicate")).getValue();
          form.guarded |=
              (predicate == arith::CmpFPredicate::UNO || predicate == arith::CmpFPredicate::ORD ||
               (part->args[0] == part->args[1]));
        }
      }
      for (Expr part : outer)
        form.guarded |= getExps(part, form.key).empty() && part->dependsOn(form.key);
      // The probabilities, where they are a tensor by themselves.
      for (Expr part : collect(node->args[0], [](Expr part) { return !isExp(part); })) {
        auto [tensor, at] = e.getHome(part);
        // A mask that leaves each row one key equals them too.
        if (!tensor || part->kind == Node::Kind::Element || getExps(part, form.key).empty())
          continue;
        if (compare(e, part, makeAttention(e, form.score, nullptr, form.sink, form.key),
                    testDims) != Agreement::None) {
          form.weights = {tensor, at};
          break;
        }
      }
      return form;
    }
  }
  if (sums.empty())
    refusal = {};
  return std::nullopt;
}
