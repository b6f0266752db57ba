// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies to shared memory some rounds ahead of what reads them. The pass's text says what it leaves
// as it is.
#include "lowering/GPU/GPU.h"
#include "lowering/GPU/LateProduct.h"
#include "lowering/GPU/SharedPlan.h"
#include "lowering/GPU/Vectors.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::fovea {
#define GEN_PASS_DEF_PIPELINECOPIESPASS
#include "lowering/GPU/Passes.h.inc"
} // namespace mlir::fovea

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::tile;

namespace {

/// A copy that may begin before its round.
struct Ahead {
  CopyOp copy;
  SharedOp memory;
  /// What its place is computed by, in the loop's body, in order.
  SmallVector<Operation *> slice;
  SharedOp ring;
};

/// One loop and its copies.
class Pipeline {
public:
  explicit Pipeline(scf::ForOp loop);
  bool isEmpty() const { return copies.empty(); }
  /// Begins every copy `stages - 1` rounds ahead.
  void rewrite(int64_t stages);

private:
  /// Nothing if the copy has to stay where it is.
  std::optional<Ahead> inspect(CopyOp copy);
  /// Adds what `value` is made of in the loop's body. False if that is not the number of the round
  /// and what is outside alone.
  bool addSlice(Value value, SmallVectorImpl<Operation *> &slice);
  /// Begins the copies of the round `index` into the slots `slot`, if there is such a round, and
  /// ends their group.
  void begin(ImplicitLocOpBuilder &b, Value index, Value slot);

  scf::ForOp loop;
  SmallVector<Ahead> copies;
  /// How many rounds later than its own one a product may still read its slot.
  int64_t kept = 0;
};

} // namespace

/// Whether the loop only reads the memory that its copies may read.
static bool writesNothing(scf::ForOp loop) {
  return !loop.walk([](Operation *op) {
                if (isa<StoreOp>(op))
                  return WalkResult::interrupt();
                bool harmless = isa<TileDialect>(op->getDialect()) || op->getNumRegions() > 0 ||
                                !hasEffect<MemoryEffects::Write>(op);
                bool known = isa<MemoryEffectOpInterface>(op) || op->getNumRegions() > 0 ||
                             op->hasTrait<OpTrait::IsTerminator>() || isMemoryEffectFree(op);
                return harmless && known ? WalkResult::advance() : WalkResult::interrupt();
              })
              .wasInterrupted();
}

Pipeline::Pipeline(scf::ForOp loop) : loop(loop) {
  std::optional<int64_t> step = getConstant(loop.getStep());
  std::optional<int64_t> from = getConstant(loop.getLowerBound());
  std::optional<int64_t> to = getConstant(loop.getUpperBound());
  bool several = step && *step > 0 && (!from || !to || *to - *from > *step);
  if (!several || loop.getUnsignedCmp() || !writesNothing(loop))
    return;
  for (auto copy : loop.getBody()->getOps<CopyOp>())
    if (std::optional<Ahead> found = inspect(copy))
      copies.push_back(std::move(*found));
  if (std::optional<LateProduct> late = LateProduct::find(loop))
    kept = llvm::any_of(
        copies, [&](Ahead &ahead) { return ahead.memory.getMemory() == late->product.getB(); });
}

bool Pipeline::addSlice(Value value, SmallVectorImpl<Operation *> &slice) {
  if (value == loop.getInductionVar() || loop.isDefinedOutsideOfLoop(value))
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != loop.getBody() || op->getNumRegions() > 0 || !isMemoryEffectFree(op))
    return false;
  if (llvm::is_contained(slice, op))
    return true;
  for (Value operand : op->getOperands())
    if (!addSlice(operand, slice))
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

std::optional<Ahead> Pipeline::inspect(CopyOp copy) {
  auto memory = copy.getMemory().getDefiningOp<SharedOp>();
  Operation *view = copy.getView().getDefiningOp();
  if (copy.getAsync() || !memory || memory.getStages() || !isa_and_nonnull<ViewOp, PackedOp>(view))
    return std::nullopt;
  // Nobody else writes there, and all who read come behind it in its round.
  for (Operation *user : memory->getUsers()) {
    if (user == copy)
      continue;
    Operation *inBody = loop.getBody()->findAncestorOpInBlock(*user);
    if (isa<CopyOp, PutOp, ReduceOp>(user) || !inBody || !copy->isBeforeInBlock(inBody))
      return std::nullopt;
  }
  Ahead ahead{copy, memory, {}, {}};
  for (Value value : {Value(copy.getView()), Value(copy.getRow()), Value(copy.getColumn())})
    if (!addSlice(value, ahead.slice))
      return std::nullopt;
  if (!isAsynchronous(copy))
    return std::nullopt;
  return ahead;
}

void Pipeline::begin(ImplicitLocOpBuilder &b, Value index, Value slot) {
  SmallVector<Value> slots;
  for (Ahead &ahead : copies) {
    Value ring = ahead.ring.getMemory();
    slots.push_back(SlotOp::create(b, ring.getType(), ring, slot));
  }
  auto beginAll = [&] {
    IRMapping mapping;
    mapping.map(loop.getInductionVar(), index);
    for (auto [ahead, to] : llvm::zip(copies, slots)) {
      for (Operation *op : ahead.slice)
        if (!mapping.contains(op->getResult(0)))
          b.clone(*op, mapping);
      CopyOp copy = ahead.copy;
      CopyOp::create(b, mapping.lookupOrDefault(copy.getView()),
                     mapping.lookupOrDefault(copy.getRow()),
                     mapping.lookupOrDefault(copy.getColumn()), to, /*async=*/true);
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
  CommitOp::create(b);
}

void Pipeline::rewrite(int64_t stages) {
  ImplicitLocOpBuilder b(loop.getLoc(), loop);
  for (Ahead &ahead : copies) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(ahead.memory);
    ahead.ring = SharedOp::create(b, ahead.memory.getMemory().getType(), IntegerAttr(),
                                  b.getI64IntegerAttr(stages + kept),
                                  kept ? b.getI64IntegerAttr(kept) : IntegerAttr());
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
  WaitOp::create(b, stages - 2);
  BarrierOp::create(b);
  // Behind the barrier nobody reads the slot of the round before any more, or that of the one
  // before it where the former is kept.
  Value back = constant(1 + kept);
  Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, slot, back);
  Value previous = arith::SubIOp::create(b, slot, back), wrapped = add(slot, before);
  Value free = arith::SelectOp::create(b, isFirst, wrapped, previous);
  begin(b, add(loop.getInductionVar(), before * step), free);
  for (Ahead &ahead : copies) {
    Value ring = ahead.ring.getMemory(), memory = SlotOp::create(b, ring.getType(), ring, slot);
    ahead.memory.getMemory().replaceAllUsesWith(memory);
    ahead.memory.erase();
  }
  for (Ahead &ahead : copies)
    ahead.copy.erase();
  b.setInsertionPointAfter(loop);
  WaitOp::create(b, 0);
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
