// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lowering/GPU/RingCopies.h"
#include "lowering/GPU/Vectors.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::tile;

bool mlir::fovea::writesNothing(Operation *op) {
  return !op->walk([](Operation *op) {
              if (isa<StoreOp>(op))
                return WalkResult::interrupt();
              bool harmless = isa<TileDialect>(op->getDialect()) || op->getNumRegions() > 0 ||
                              !hasEffect<MemoryEffects::Write>(op);
              bool known = isa<MemoryEffectOpInterface>(op) || op->getNumRegions() > 0 ||
                           op->hasTrait<OpTrait::IsTerminator>() || isMemoryEffectFree(op);
              return harmless && known ? WalkResult::advance() : WalkResult::interrupt();
            }).wasInterrupted();
}

/// Adds what `value` is made of in the loop's body. False if that is not the number of the round
/// and what is outside alone.
static bool addSlice(scf::ForOp loop, Value value, SmallVectorImpl<Operation *> &slice) {
  if (value == loop.getInductionVar() || loop.isDefinedOutsideOfLoop(value))
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != loop.getBody() || op->getNumRegions() > 0 || !isMemoryEffectFree(op))
    return false;
  if (llvm::is_contained(slice, op))
    return true;
  for (Value operand : op->getOperands())
    if (!addSlice(loop, operand, slice))
      return false;
  slice.push_back(op);
  return true;
}

/// Whether every piece of the copy is one that cp.async copies.
static bool isAsynchronous(CopyOp copy) {
  // What is emitted here says of places what the code that threads run will say, and goes again.
  struct Emitted : OpBuilder::Listener {
    void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override {
      ops.push_back(op);
    }
    SmallVector<Operation *> ops;
  } emitted;
  Emitter b(copy.getLoc(), OpBuilder(copy, &emitted));
  ViewMemory view = describeView(b, copy.getView().getDefiningOp());
  CopyOrder order(view, copy.getRow(), copy.getColumn(), copy.getMemory().getType(),
                  /*asynchronous=*/true);
  CopyOrder elements(view, copy.getMemory().getType());
  bool asynchronous =
      order.isAsynchronous() && (order.endsWithVectors || elements.isAsynchronous());
  for (Operation *op : llvm::reverse(emitted.ops))
    op->erase();
  return asynchronous;
}

/// Nothing if the copy has to stay where it is.
static std::optional<RingCopy> inspect(scf::ForOp loop, CopyOp copy) {
  auto memory = copy.getMemory().getDefiningOp<SharedOp>();
  Operation *view = copy.getView().getDefiningOp();
  if (copy.getAsync() || !memory || memory.getStages() || !isa_and_nonnull<ViewOp, PackedOp>(view))
    return std::nullopt;
  // Nobody else writes there, and all who read come behind it in its round.
  for (Operation *user : memory->getUsers()) {
    if (user == copy)
      continue;
    Operation *inBody = loop.getBody()->findAncestorOpInBlock(*user);
    if (isa<CopyOp, LocalStoreOp, ReduceOp>(user) || !inBody || !copy->isBeforeInBlock(inBody))
      return std::nullopt;
  }
  RingCopy found{copy, memory, {}};
  SmallVector<Value> needed{copy.getView(), copy.getRow(), copy.getColumn()};
  if (copy.getScales())
    needed.push_back(copy.getScales());
  for (Value value : needed)
    if (!addSlice(loop, value, found.slice))
      return std::nullopt;
  // What is converted passes through registers anyway, as early as the others.
  if (!copy.converts() && !isAsynchronous(copy))
    return std::nullopt;
  return found;
}

SmallVector<RingCopy> mlir::fovea::findRingCopies(scf::ForOp loop) {
  SmallVector<RingCopy> copies;
  std::optional<int64_t> step = getConstant(loop.getStep());
  std::optional<int64_t> from = getConstant(loop.getLowerBound());
  std::optional<int64_t> to = getConstant(loop.getUpperBound());
  bool several = step && *step > 0 && (!from || !to || *to - *from > *step);
  if (!several || loop.getUnsignedCmp() || !writesNothing(loop))
    return copies;
  for (auto copy : loop.getBody()->getOps<CopyOp>())
    if (std::optional<RingCopy> found = inspect(loop, copy))
      copies.push_back(std::move(*found));
  return copies;
}
