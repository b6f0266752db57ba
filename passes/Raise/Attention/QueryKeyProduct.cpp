// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The product of queries and keys in a score: a dot product (Vaswani et al. 2017, eq. 1), or
// w * tanh(q + k) (Bahdanau et al. 2015). Refuses products in which a side is no tensor.
#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/Raise/Attention/AttentionForm.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::raise;

void raise::addFactors(Expressions &e, Expr expr, SmallVectorImpl<Expr> &factors) {
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

/// `takeFactor`, but not through what rounds to fewer bits.
static Expr takeExactFactor(Expr expr, double &factor) {
  while (true) {
    while (expr->is<arith::ExtFOp>())
      expr = expr->args[0];
    if (expr->is<arith::TruncFOp>())
      return expr;
    double one = 1;
    Expr inner = expr->is<arith::MulFOp>() && expr->args[0]->isConstant()   ? expr->args[1]
                 : expr->is<arith::MulFOp>() && expr->args[1]->isConstant() ? expr->args[0]
                 : expr->is<arith::DivFOp>() && expr->args[1]->isConstant() ? expr->args[0]
                 : expr->is<arith::NegFOp>()                                ? expr->args[0]
                                                                            : nullptr;
    if (!inner)
      return expr;
    if (expr->is<arith::NegFOp>())
      one = -1;
    else if (expr->is<arith::DivFOp>())
      one = 1 / expr->args[1]->getNumber();
    else
      one = expr->args[inner == expr->args[0] ? 1 : 0]->getNumber();
    factor *= one;
    expr = inner;
  }
}

std::optional<Operand> raise::getOperand(Expressions &e, Expr expr, double &scale) {
  double factor = 1;
  auto [tensor, indices] = e.getHome(takeExactFactor(expr, factor));
  if (tensor) {
    scale *= factor;
    return Operand{tensor, indices};
  }
  std::tie(tensor, indices) = e.getHome(expr);
  if (!tensor)
    return std::nullopt;
  return Operand{tensor, indices};
}

namespace {
/// Reads one node of a score as the product.
class ProductReader {
public:
  ProductReader(Expressions &e, AttentionForm &form, Expr node, ArrayRef<unsigned> rootDims)
      : e(e), form(form), node(node), rootDims(rootDims) {}

  bool run() {
    if (!node->dependsOn(form.key) || !openSums())
      return false;
    addFactors(e, product, factors);
    return readAdditive() || readDot();
  }

private:
  /// The summands of the product, without the sums over the head size.
  bool openSums() {
    product = node;
    if (node->kind == Node::Kind::Element) {
      auto result = dyn_cast<OpResult>(node->tensor);
      if (!result || !isContraction(result.getOwner()))
        return false;
      product = e.product(node->tensor, ArrayRef<Expr>(node->args));
    }
    while (product && product->kind == Node::Kind::Reduce && product->combiner == Combiner::Add) {
      depth.push_back(product->dim);
      product = product->args[0];
    }
    // A head size of one leaves nothing to sum.
    return product && (!depth.empty() || node->kind == Node::Kind::Element);
  }

  void accept(const Operand &query, const Operand &keys, double scale) {
    form.query = query;
    form.keys = keys;
    form.depth = depth;
    form.scale = scale;
    form.raw = node;
  }

  /// The summands of a tanh's argument as queries and keys. False if a side has several.
  bool splitSum(Expr part, SmallVectorImpl<Expr> &queries, SmallVectorImpl<Expr> &keys) {
    Expr inner = stripCasts(part);
    if (inner->is<arith::AddFOp>() && !e.getHome(inner).first)
      return splitSum(inner->args[0], queries, keys) && splitSum(inner->args[1], queries, keys);
    if (!inner->dependsOn(form.key)) {
      queries.push_back(part);
      return true;
    }
    if (inner->is<arith::AddFOp>() && queries.empty() && keys.empty())
      return splitSum(inner->args[0], queries, keys) && splitSum(inner->args[1], queries, keys);
    keys.push_back(part);
    return true;
  }

  /// w[d] * tanh(q + k).
  bool readAdditive() {
    for (Expr factor : factors) {
      Expr tanh = stripCasts(factor);
      if (!tanh->is<math::TanhOp>() || !tanh->dependsOn(form.key))
        continue;
      Expr sum = stripCasts(tanh->args[0]);
      SmallVector<Expr> queries, keys, others;
      if (!sum->is<arith::AddFOp>() || !splitSum(sum->args[0], queries, keys) ||
          !splitSum(sum->args[1], queries, keys) || queries.size() != 1 || keys.size() != 1)
        continue;
      for (Expr other : factors)
        if (other != factor)
          others.push_back(other);
      if (others.size() != 1 || others[0]->dependsOn(form.key))
        continue;
      double one = 1, scale = 1;
      std::optional<Operand> q = getOperand(e, queries[0], one), k = getOperand(e, keys[0], one);
      std::optional<Operand> w = getOperand(e, others[0], scale);
      if (!q || !k || !w || one != 1)
        continue;
      if (llvm::any_of(rootDims, [&](unsigned dim) { return w->dependsOn(dim); }))
        return false;
      form.additive = *w;
      accept(*q, *k, scale);
      return true;
    }
    return false;
  }

  bool readDot() {
    // The product's two sides, as they stand there.
    double scale = 1;
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
    // Queries and keys meet in the depth, and each has a length of its own.
    if (!q || !k ||
        llvm::any_of(depth, [&](unsigned dim) { return !q->dependsOn(dim) || !k->dependsOn(dim); }))
      return false;
    accept(*q, *k, scale);
    return true;
  }

  Expressions &e;
  AttentionForm &form;
  Expr node, product = nullptr;
  ArrayRef<unsigned> rootDims;
  SmallVector<unsigned> depth;
  SmallVector<Expr> factors;
};
} // namespace

/// Whether some place along the root belongs to queries alone: not to keys, nor to values. Queries
/// that are weights have none.
static bool hasOwnQueries(const AttentionForm &form, ArrayRef<unsigned> rootDims) {
  return !form.query.tensor.getDefiningOp<WeightRefOp>() &&
         llvm::any_of(rootDims, [&](unsigned dim) {
           return form.query.dependsOn(dim) && !form.keys.dependsOn(dim) &&
                  !form.values.dependsOn(dim);
         });
}

bool raise::findQueryKeyProduct(Expressions &e, AttentionForm &form, ArrayRef<unsigned> rootDims) {
  std::optional<AttentionForm> best;
  for (Expr part : collect(form.score, [&](Expr part) { return part->dependsOn(form.key); })) {
    if (part->kind != Node::Kind::Element && part->kind != Node::Kind::Reduce)
      continue;
    AttentionForm trial = form;
    if (ProductReader(e, trial, part, rootDims).run() &&
        (!best || (!hasOwnQueries(*best, rootDims) && hasOwnQueries(trial, rootDims))))
      best = std::move(trial);
  }
  if (best)
    form = std::move(*best);
  return best.has_value();
}
