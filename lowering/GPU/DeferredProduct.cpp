// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lowering/GPU/DeferredProduct.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::tile;

/// Whether an op, or one within it, reads a value of `values`.
static bool readsAny(Operation *op, const llvm::SmallDenseSet<Value> &values) {
  return op
      ->walk([&](Operation *inner) {
        bool reads =
            llvm::any_of(inner->getOperands(), [&](Value value) { return values.contains(value); });
        return reads ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

SmallVector<Operation *> mlir::fovea::getDependents(scf::ForOp loop, Value value) {
  llvm::SmallDenseSet<Value> values{value};
  SmallVector<Operation *> found;
  for (Operation &op : loop.getBody()->without_terminator())
    if (readsAny(&op, values)) {
      values.insert(op.getResults().begin(), op.getResults().end());
      found.push_back(&op);
    }
  return found;
}

std::optional<DeferredProduct> DeferredProduct::find(scf::ForOp loop) {
  SmallVector<MmaOp> products;
  loop->walk([&](MmaOp op) { products.push_back(op); });
  auto isAsynchronous = [&](MmaOp op) {
    return op.getAtom() == Atom::M64K16 && !op.getAsync() && op->getBlock() == loop.getBody();
  };
  if (products.size() != 2 || !llvm::all_of(products, isAsynchronous))
    return std::nullopt;
  DeferredProduct late{products[0], products[1], 0, {}};
  Value result = late.product.getResult(), left = late.product.getA();
  if (!result.hasOneUse() || *result.user_begin() != loop.getBody()->getTerminator() ||
      !isa<TileType>(left.getType()))
    return std::nullopt;
  late.number = result.use_begin()->getOperandNumber();
  // The sum goes nowhere but to the product, by ops that may as well come last.
  late.ofSum = getDependents(loop, loop.getRegionIterArg(late.number));
  if (late.ofSum.empty() || late.ofSum.back() != late.product)
    return std::nullopt;
  late.ofSum.pop_back();
  llvm::SmallDenseSet<Value> ofSum{loop.getRegionIterArg(late.number)};
  for (Operation *op : late.ofSum) {
    if (!isMemoryEffectFree(op))
      return std::nullopt;
    ofSum.insert(op->getResults().begin(), op->getResults().end());
  }
  auto isOfSum = [&](Value value) { return ofSum.contains(value); };
  if (isOfSum(left) || isOfSum(late.product.getB()) ||
      llvm::any_of(loop.getBody()->getTerminator()->getOperands(), isOfSum))
    return std::nullopt;
  // Otherwise both could run side by side as they are.
  if (!llvm::is_contained(getDependents(loop, late.first.getResult()), left.getDefiningOp()))
    return std::nullopt;
  return late;
}
