// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies to shared memory some rounds ahead of what reads them. The pass's text says what it leaves
// as it is.
#include "lowering/Entries/Entries.h"
#include "lowering/GPU/DeferredProduct.h"
#include "lowering/GPU/GPU.h"
#include "lowering/GPU/RingCopies.h"
#include "lowering/GPU/SharedPlan.h"
#include "lowering/Tile/Emitter.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::fovea {
#define GEN_PASS_DEF_PIPELINECOPIESPASS
#include "lowering/GPU/Passes.h.inc"
} // namespace mlir::fovea

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::tile;

namespace {

/// One loop and its copies.
class Pipeline {
public:
  explicit Pipeline(scf::ForOp loop);
  bool isEmpty() const { return copies.empty(); }
  /// Begins every copy `stages - 1` rounds ahead.
  void rewrite(int64_t stages);

private:
  /// Begins the copies of the round `index` into the slots `slot`, if there is such a round, and
  /// ends their group.
  void begin(ImplicitLocOpBuilder &b, Value index, Value slot);

  scf::ForOp loop;
  SmallVector<RingCopy> copies;
  SmallVector<SharedOp> rings; ///< of the copies
  /// How many rounds later than its own one a product may still read its slot.
  int64_t kept = 0;
};

} // namespace

Pipeline::Pipeline(scf::ForOp loop) : loop(loop), copies(findRingCopies(loop)) {
  if (std::optional<DeferredProduct> late = DeferredProduct::find(loop))
    kept = llvm::any_of(
        copies, [&](RingCopy &copy) { return copy.memory.getMemory() == late->product.getB(); });
}

void Pipeline::begin(ImplicitLocOpBuilder &b, Value index, Value slot) {
  SmallVector<Value> slots;
  for (SharedOp ring : rings)
    slots.push_back(StageOp::create(b, ring.getMemory().getType(), ring, slot));
  auto beginAll = [&] {
    IRMapping mapping;
    mapping.map(loop.getInductionVar(), index);
    for (auto [ring, to] : llvm::zip(copies, slots)) {
      for (Operation *op : ring.slice)
        if (!mapping.contains(op->getResult(0)))
          b.clone(*op, mapping);
      CopyOp copy = ring.copy;
      CopyOp::create(b, mapping.lookupOrDefault(copy.getView()),
                     mapping.lookupOrDefault(copy.getRow()),
                     mapping.lookupOrDefault(copy.getColumn()), to,
                     copy.getScales() ? mapping.lookupOrDefault(Value(copy.getScales())) : Value(),
                     /*async=*/true);
    }
  };
  Value exists =
      b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::slt, index, loop.getUpperBound());
  if (getConstant(exists).value_or(0) != 0) {
    beginAll();
  } else {
    auto branch = scf::IfOp::create(b, exists, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(branch.thenBlock()->getTerminator());
    beginAll();
  }
  AsyncCommitOp::create(b);
}

void Pipeline::rewrite(int64_t stages) {
  ImplicitLocOpBuilder b(loop.getLoc(), loop);
  for (RingCopy &copy : copies) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(copy.memory);
    rings.push_back(SharedOp::create(b, copy.memory.getMemory().getType(), IntegerAttr(),
                                     b.getI64IntegerAttr(stages + kept),
                                     kept ? b.getI64IntegerAttr(kept) : IntegerAttr(),
                                     /*guarded=*/UnitAttr()));
  }
  auto constant = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(b, value); };
  int64_t step = *getConstant(loop.getStep()), before = stages - 1;
  Value zero = constant(0), one = constant(1), last = constant(before + kept);
  auto add = [&](Value l, int64_t r) { return b.createOrFold<arith::AddIOp>(l, constant(r)); };
  // The first rounds.
  if (before == 1) {
    begin(b, loop.getLowerBound(), zero);
  } else {
    auto rounds = scf::ForOp::create(b, zero, constant(before), one);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(rounds.getBody());
    Value offset = arith::MulIOp::create(b, rounds.getInductionVar(), constant(step));
    begin(b, arith::AddIOp::create(b, loop.getLowerBound(), offset), rounds.getInductionVar());
  }
  // The loop, which carries the number of the slot that its round reads.
  IRRewriter rewriter(b.getContext());
  auto makeYields = [&](OpBuilder &yields, Location loc, ArrayRef<BlockArgument> slot) {
    Value isLast = arith::CmpIOp::create(yields, loc, arith::CmpIPredicate::eq, slot.front(), last);
    Value next = arith::AddIOp::create(yields, loc, slot.front(), one);
    return SmallVector<Value>{arith::SelectOp::create(yields, loc, isLast, zero, next)};
  };
  rewriter.setInsertionPoint(loop);
  loop = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
      rewriter, zero, /*replaceInitOperandUsesInLoop=*/false, makeYields));
  Value slot = loop.getRegionIterArgs().back();
  b.setInsertionPointToStart(loop.getBody());
  AsyncWaitOp::create(b, stages - 2);
  BarrierOp::create(b);
  // Behind the barrier nobody reads the slot of the round before any more, or that of the one
  // before it where the former is kept.
  Value back = constant(1 + kept);
  Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, slot, back);
  Value previous = arith::SubIOp::create(b, slot, back), wrapped = add(slot, before);
  Value free = arith::SelectOp::create(b, isFirst, wrapped, previous);
  begin(b, add(loop.getInductionVar(), before * step), free);
  for (auto [copy, op] : llvm::zip(copies, rings)) {
    Value ring = op.getMemory(), memory = StageOp::create(b, ring.getType(), ring, slot);
    copy.memory.getMemory().replaceAllUsesWith(memory);
    copy.memory.erase();
  }
  for (RingCopy &copy : copies)
    copy.copy.erase();
  b.setInsertionPointAfter(loop);
  AsyncWaitOp::create(b, 0);
}

/// Rewrites all loops of a kernel whose copies can begin before their round. How many.
static int64_t rewrite(KernelOp kernel, int64_t stages) {
  SmallVector<scf::ForOp> loops;
  kernel.walk([&](scf::ForOp loop) { loops.push_back(loop); });
  int64_t count = 0;
  for (scf::ForOp loop : loops) {
    Pipeline pipeline(loop);
    if (pipeline.isEmpty())
      continue;
    pipeline.rewrite(stages);
    ++count;
  }
  return count;
}

namespace {
struct PipelineCopiesPass : fovea::impl::PipelineCopiesPassBase<PipelineCopiesPass> {
  using PipelineCopiesPassBase::PipelineCopiesPassBase;

  /// The most stages that fit.
  void runOn(KernelOp kernel) {
    // Two blocks on a multiprocessor hide each other's waits: not to be given up for stages. Those
    // of several warpgroups have all of its registers and hide their own.
    int64_t bytes = SharedPlan(kernel).bytes;
    bool alone = bytes > limit / 2 || getThreads(getOperation()) > kDefaultThreads;
    int64_t room = alone ? limit : limit / 2;
    for (int64_t count = stages; count >= 2; --count) {
      OpBuilder builder(kernel);
      auto copy = cast<KernelOp>(builder.clone(*kernel));
      int64_t rewritten = rewrite(copy, count);
      if (rewritten && SharedPlan(copy).bytes <= room) {
        kernel.erase();
        loops += rewritten;
        return;
      }
      copy.erase();
      if (!rewritten)
        return;
    }
  }

  void runOnOperation() override {
    if (stages < 1) {
      getOperation().emitOpError("expects at least one stage, got ")
          << static_cast<int64_t>(stages);
      return signalPassFailure();
    }
    for (auto kernel : llvm::make_early_inc_range(getOperation().getOps<KernelOp>()))
      runOn(kernel);
  }
};
} // namespace
