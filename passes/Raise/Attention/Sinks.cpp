// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sinks: elements and numbers that stand in a denominator beside the exponentials of the scores.
#include "passes/Raise/Attention/Sinks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::raise;

/// `expr` without summands, the outermost `most` of them, that `keep` is false for.
static Expr dropSummands(Expressions &e, Expr expr, unsigned &most,
                         llvm::function_ref<bool(Expr)> keep) {
  Expr inner = stripCasts(expr);
  auto drop = [&](Expr part) {
    bool drops = most > 0 && !keep(part);
    most -= drops;
    return drops;
  };
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

Expr raise::dropIndependent(Expressions &e, Expr expr, unsigned dim, unsigned most) {
  return dropSummands(e, expr, most, [&](Expr part) { return part->dependsOn(dim); });
}

Expr raise::toNatural(Expressions &e, Expr exp, Expr exponent) {
  if (!exp->is<math::Exp2Op>())
    return exponent;
  FloatType wide = Float64Type::get(e.getContext());
  return e.compute<arith::MulFOp>(wide,
                                  {e.convert(exponent, wide), e.constant(std::log(2.0), wide)});
}

namespace {
/// Logits that only a denominator sees: what stands in it for a place beside the keys, and what
/// exponentials are taken of that no key is in.
class SinkFinder {
public:
  SinkFinder(Expressions &e, const AttentionForm &form, Expr whole)
      : e(e), form(form), whole(whole), inScore(collect(form.score)) {}

  SmallVector<Expr> run() {
    addPlacesBesideKeys();
    for (Expr node : collect(whole))
      if (isExp(node) && !node->dependsOn(form.key)) {
        addElements(node);
        // Multiplied by the logarithm that the type has of it: without what all is compared with.
        unsigned most = ~0u;
        Expr logit = dropSummands(e, node->args[0], most, isOfTensor);
        if (logit->kind == Node::Kind::Compute && isOfTensor(logit) && fits(logit) &&
            llvm::none_of(collect(logit),
                          [](Expr part) { return part->kind == Node::Kind::Reduce; }))
          sinks.push_back(toNatural(e, node, logit));
      }
    addConstants();
    if (sinks.size() > kMost)
      sinks.resize(kMost);
    sinks.push_back(e.constant(0.0, cast<FloatType>(Float32Type::get(e.getContext()))));
    return sinks;
  }

private:
  static constexpr size_t kMost = 6;

  static bool isOfTensor(Expr root) {
    return llvm::any_of(collect(root, [](Expr part) { return part->kind != Node::Kind::Reduce; }),
                        [](Expr part) { return part->kind == Node::Kind::Element; });
  }

  bool fits(Expr node) {
    return llvm::all_of(node->dims.set_bits(), [&](unsigned dim) {
      return llvm::any_of(form.axes,
                          [&](const Axis &axis) { return llvm::is_contained(axis, dim); });
    });
  }

  void addElements(Expr root) {
    for (Expr node : collect(root, [](Expr node) { return node->kind != Node::Kind::Reduce; }))
      if (node->kind == Node::Kind::Element && isa<FloatType>(node->type) &&
          !llvm::is_contained(inScore, node) && !llvm::is_contained(sinks, node) && fits(node))
        sinks.push_back(node);
  }

  /// A positive number that is added to a sum of exponentials is the exponential of its logarithm.
  void addConstants() {
    FloatType type = Float64Type::get(e.getContext());
    for (Expr node : collect(whole))
      if (node->is<arith::AddFOp>())
        for (unsigned i : {0, 1})
          if (node->args[i]->isConstant() && node->args[i]->getNumber() > 0 &&
              node->args[i]->getNumber() != 1)
            sinks.push_back(e.constant(std::log(node->args[i]->getNumber()), type));
  }

  /// A place before or behind the keys.
  void addPlacesBesideKeys() {
    for (Expr node : collect(whole)) {
      if (node->kind != Node::Kind::Reduce || node->combiner != Combiner::Add)
        continue;
      AffineExpr more = e.simplify(e.getExtent(node->dim) - e.getExtent(form.key));
      if (more != getAffineConstantExpr(1, e.getContext()))
        continue;
      for (AffineExpr place : {getAffineConstantExpr(0, e.getContext()), e.getExtent(form.key)}) {
        llvm::DenseMap<unsigned, Expr> last;
        last[node->dim] = e.index(place);
        addElements(e.substitute(node->args[0], last));
      }
    }
  }

  Expressions &e;
  const AttentionForm &form;
  Expr whole;
  SmallVector<Expr> inScore, sinks;
};
} // namespace

SmallVector<Expr> raise::findSinks(Expressions &e, const AttentionForm &form, Expr whole) {
  return SinkFinder(e, form, whole).run();
}
