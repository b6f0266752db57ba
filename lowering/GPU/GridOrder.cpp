// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lowering/GPU/GridOrder.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::tile;

GridOrder::GridOrder(unsigned rank)
    : axes(llvm::to_vector(llvm::seq(0u, rank))), isBackwards(rank) {}

/// The axes of the grid that the value is computed from.
static void markAxes(Value value, KernelOp kernel, llvm::SmallBitVector &axes) {
  Block *body = &kernel.getBody().front();
  auto mark = [&](Value operand) {
    auto argument = dyn_cast<BlockArgument>(operand);
    if (argument && argument.getOwner() == body)
      axes.set(argument.getArgNumber());
  };
  SetVector<Operation *> slice;
  BackwardSliceOptions options;
  options.inclusive = true;
  options.filter = [&](Operation *op) { return kernel->isProperAncestor(op); };
  (void)getBackwardSlice(value, &slice, options);
  mark(value);
  for (Operation *op : slice)
    llvm::for_each(op->getOperands(), mark);
}

GridOrder::GridOrder(KernelOp kernel) : GridOrder(kernel.getBody().getNumArguments()) {
  kernel.walk([&](scf::ForOp loop) {
    markAxes(loop.getLowerBound(), kernel, isBackwards);
    markAxes(loop.getUpperBound(), kernel, isBackwards);
  });
  unsigned rank = axes.size();
  axes.clear();
  for (bool backwards : {true, false})
    for (unsigned axis = 0; axis < rank; ++axis)
      if (isBackwards[axis] == backwards)
        axes.push_back(axis);
}
