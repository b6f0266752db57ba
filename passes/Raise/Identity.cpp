// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cuts are dominators: what lies on every path from an expression to its leaves. After Cooper,
// Harvey and Kennedy 2001, on a graph without cycles.
#include "passes/Raise/Identity.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::raise;

/// More than the longest spelling of a norm or activation; what lies deeper counts as a leaf.
static constexpr unsigned kMaxParts = 256;

bool raise::isLeaf(Expr expr) {
  return expr->kind == Node::Kind::Element || expr->kind == Node::Kind::Index;
}

SmallVector<Expr> raise::getParts(Expr root, unsigned limit) {
  unsigned seen = 0;
  return collect(root, [&](Expr part) { return seen++ < limit && !isLeaf(part); });
}

SmallVector<Expr> raise::getCuts(Expr root, llvm::function_ref<bool(Expr)> matters) {
  // The first parts are looked into, the others are leaves.
  SmallVector<Expr> parts = getParts(root, kMaxParts);
  llvm::DenseSet<Expr> inner;
  for (Expr part : ArrayRef(parts).take_front(kMaxParts))
    if (!isLeaf(part))
      inner.insert(part);
  // Depth first, so that each part comes behind all that use it.
  SmallVector<Expr> order; // reversed
  llvm::DenseMap<Expr, unsigned> number;
  llvm::DenseSet<Expr> visited;
  SmallVector<std::pair<Expr, unsigned>> stack{{root, 0}};
  visited.insert(root);
  while (!stack.empty()) {
    auto &[expr, next] = stack.back();
    if (inner.contains(expr) && next < expr->args.size()) {
      Expr arg = expr->args[next++];
      if (visited.insert(arg).second)
        stack.push_back({arg, 0});
      continue;
    }
    number[expr] = order.size();
    order.push_back(expr);
    stack.pop_back();
  }
  // The nearest part that all ways to a part pass; a greater number is nearer to the root.
  llvm::DenseMap<Expr, Expr> above;
  above[root] = root;
  auto meet = [&](Expr a, Expr b) {
    while (a != b) {
      Expr &lower = number[a] < number[b] ? a : b;
      lower = above[lower];
    }
    return a;
  };
  Expr cut = nullptr;
  for (Expr expr : llvm::reverse(order)) {
    bool isInner = inner.contains(expr);
    if (!isInner && !expr->isConstant() && (!isLeaf(expr) || matters(expr)))
      cut = cut ? meet(cut, expr) : expr;
    if (isInner)
      for (Expr arg : expr->args) {
        auto [known, isNew] = above.insert({arg, expr});
        if (!isNew)
          known->second = meet(known->second, expr);
      }
  }
  SmallVector<Expr> cuts;
  for (; cut; cut = cut == root ? nullptr : above[cut])
    cuts.push_back(cut);
  return cuts;
}

double raise::getTolerance(Expr root) {
  double tolerance = 1e-6;
  for (Expr part : getParts(root, kMaxParts)) {
    if (part->type.isBF16())
      return 1e-2;
    if (part->type.isF16())
      tolerance = 2e-3;
  }
  return tolerance;
}

SmallVector<Expr> raise::makeIndices(Expressions &e, Value tensor) {
  SmallVector<Expr> indices;
  auto type = cast<RankedTensorType>(tensor.getType());
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    unsigned dim = e.addDim(e.getSize(tensor, axis));
    indices.push_back(type.getDimSize(axis) == 1
                          ? e.constant(int64_t(0), IndexType::get(e.getContext()))
                          : e.dim(dim));
  }
  return indices;
}

SmallVector<Axis> raise::makeAxes(ArrayRef<int64_t> shape) {
  SmallVector<Axis> axes;
  for (auto [axis, size] : llvm::enumerate(shape))
    axes.push_back(size == 1 ? Axis() : Axis{static_cast<unsigned>(axis)});
  return axes;
}

bool raise::isElementwise(Operation *op) {
  if (op->getNumResults() != 1 || !isa<RankedTensorType>(op->getResult(0).getType()) ||
      !isa<FloatType>(getElementTypeOrSelf(op->getResult(0).getType())))
    return false;
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return generic.getNumLoops() == generic.getNumParallelLoops();
  return isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) &&
         OpTrait::hasElementwiseMappableTraits(op);
}

void raise::raiseLastFirst(Operation *root, ArrayRef<Operation *> ops,
                           llvm::function_ref<bool(Operation *)> raise) {
  bool changed = false;
  IRRewriter rewriter(root->getContext());
  for (Operation *op : llvm::reverse(ops)) {
    if (isOpTriviallyDead(op)) {
      rewriter.eraseOp(op);
      continue;
    }
    changed |= raise(op);
  }
  if (changed)
    (void)runRegionDCE(rewriter, root->getRegions());
}

Value raise::getTensor(Expressions &e, OpBuilder &builder, Expr part, Value like) {
  auto [home, indices] = e.getHome(part);
  if (!home)
    return {};
  auto type = cast<RankedTensorType>(like.getType());
  Location loc = like.getLoc();
  // Without a slice if the home's sizes are known to be the dims' extents.
  Value value = layOut(e, builder, loc, home, indices, makeAxes(type.getShape()));
  auto found = value ? cast<RankedTensorType>(value.getType()) : RankedTensorType();
  if (!found || found.getElementType() != type.getElementType() ||
      found.getRank() != type.getRank())
    return {};
  return found == type ? value : tensor::CastOp::create(builder, loc, type, value);
}
