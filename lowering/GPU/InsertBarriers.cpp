// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Barriers between accesses to shared memory. The pass's text says what it refuses.
#include "dialects/Tile/TileDialect.h"
#include "lowering/GPU/GPU.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::fovea {
#define GEN_PASS_DEF_INSERTBARRIERSPASS
#include "lowering/GPU/Passes.h.inc"
} // namespace mlir::fovea

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::tile;

namespace {

/// Bytes from `first` to before `end`; of which ring they are a slot, if of any.
struct Bytes {
  int64_t first, end;
  Operation *ring;

  bool meets(const Bytes &other) const { return first < other.end && other.first < end; }
  bool operator==(const Bytes &other) const {
    return first == other.first && end == other.end && ring == other.ring;
  }
};

/// What may have been read and written since the last barrier, and copies that may not be done.
struct Pending {
  SmallVector<Bytes> reads, writes, copies;

  static void add(SmallVector<Bytes> &ranges, const SmallVector<Bytes> &more) {
    for (const Bytes &range : more)
      if (!llvm::is_contained(ranges, range))
        ranges.push_back(range);
  }
  void add(const Pending &other) {
    add(reads, other.reads);
    add(writes, other.writes);
    add(copies, other.copies);
  }
  /// By a barrier, which waits for no copies.
  void clear() {
    reads.clear();
    writes.clear();
  }
};

/// What an op itself reads and writes.
struct Access {
  SmallVector<Bytes> reads, writes;
  /// What is written by a copy that is only begun.
  bool begins = false;
  /// A barrier stands within the op, between its writes and its reads.
  bool barrier = false;
  /// What is read in front of that barrier.
  SmallVector<Bytes> readsBefore;
};

class Barriers {
public:
  /// Walks the block from what is pending at its start to what is at its end; inserts barriers
  /// unless `dry`. Fails after an error.
  LogicalResult walk(Block &block, Pending &pending, bool dry);

private:
  LogicalResult walk(Operation &op, Pending &pending, bool dry);
  static Access getAccess(Operation &op);
  static bool beginsCopies(Operation &op, const Pending &pending);
};

} // namespace

static Bytes getBytes(Value memory) {
  auto slot = memory.getDefiningOp<StageOp>();
  auto op = (slot ? slot.getRing() : memory).getDefiningOp<SharedOp>();
  int64_t first = static_cast<int64_t>(*op.getAt());
  return {first, first + op.getBytes(), slot ? op : nullptr};
}

Access Barriers::getAccess(Operation &op) {
  Access access;
  if (auto copy = dyn_cast<CopyOp>(op)) {
    if (copy.getMemory().getDefiningOp<ProducerAcquireOp>()) // its mbarriers keep it in order
      return access;
    access.writes = {getBytes(copy.getMemory())};
    access.begins = copy.getAsync();
  } else if (auto put = dyn_cast<LocalStoreOp>(op)) {
    access.writes = {getBytes(put.getMemory())};
  } else if (auto reduce = dyn_cast<ReduceOp>(op); reduce && reduce.getScratch()) {
    access.writes = access.reads = {getBytes(reduce.getScratch())};
    access.barrier = true;
  } else if (auto product = dyn_cast<MmaOp>(op); product && product.getScratch()) {
    access.writes = access.reads = {getBytes(product.getScratch())};
    access.barrier = true;
    for (Value operand : {product.getA(), product.getB()})
      if (isa<SharedType>(operand.getType()))
        access.readsBefore.push_back(getBytes(operand));
  } else if (!isa<StageOp, ProducerAcquireOp, ProducerCommitOp, ConsumerWaitOp, ConsumerReleaseOp>(
                 op)) {
    for (Value operand : op.getOperands())
      if (isa<SharedType>(operand.getType()) && !operand.getDefiningOp<ConsumerWaitOp>())
        access.reads.push_back(getBytes(operand));
  }
  return access;
}

static bool anyMeets(ArrayRef<Bytes> ranges, ArrayRef<Bytes> others) {
  return llvm::any_of(ranges, [&](const Bytes &range) {
    return llvm::any_of(others, [&](const Bytes &other) { return range.meets(other); });
  });
}

/// Whether an access must not come before a barrier.
static bool needsBarrier(const Access &access, const Pending &pending) {
  return anyMeets(access.writes, pending.writes) || anyMeets(access.writes, pending.reads) ||
         anyMeets(access.readsBefore, pending.writes) ||
         (!access.barrier && anyMeets(access.reads, pending.writes));
}

/// Other slots of a ring may be used while copies to it are under way.
static LogicalResult checkCopies(Operation &op, const Access &access, const Pending &pending) {
  for (const SmallVector<Bytes> &ranges : {access.reads, access.writes, access.readsBefore})
    for (const Bytes &range : ranges)
      for (const Bytes &copy : pending.copies)
        if (range.meets(copy) && !(range.ring && range.ring == copy.ring))
          return op.emitOpError("expects copies to bytes ")
                 << copy.first << " to " << copy.end
                 << " to be waited for by tile.async_wait pending(0)";
  return success();
}

/// Whether an op's regions begin a copy to pending bytes before they come to a barrier of their
/// own.
bool Barriers::beginsCopies(Operation &op, const Pending &pending) {
  for (Region &region : op.getRegions())
    for (Operation &inner : region.getOps()) {
      if (isa<BarrierOp>(inner))
        break;
      bool begins = inner
                        .walk([&](CopyOp copy) {
                          bool waits = copy.getAsync() && needsBarrier(getAccess(*copy), pending);
                          return waits ? WalkResult::interrupt() : WalkResult::advance();
                        })
                        .wasInterrupted();
      if (begins)
        return true;
    }
  return false;
}

LogicalResult Barriers::walk(Operation &op, Pending &pending, bool dry) {
  if (isa<BarrierOp>(op)) {
    pending.clear();
    return success();
  }
  if (auto wait = dyn_cast<AsyncWaitOp>(op)) {
    // What this thread has copied is there; a barrier tells the others.
    Pending::add(pending.writes, pending.copies);
    if (wait.getPending() == 0)
      pending.copies.clear();
    return success();
  }
  auto insert = [&] {
    if (!dry) {
      OpBuilder builder(&op);
      BarrierOp::create(builder, op.getLoc());
    }
    pending.clear();
  };
  // Copies that are begun once or not at all: one barrier before that, and none behind it.
  if (isa<scf::ForOp, scf::IfOp>(op) && beginsCopies(op, pending))
    insert();
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    // A round may begin with what the round before has left; a dry one finds out what that is.
    Pending around = pending;
    if (failed(walk(*loop.getBody(), around, /*dry=*/true)))
      return failure();
    pending.add(around);
    Pending before = pending; // there may be no round at all
    if (failed(walk(*loop.getBody(), pending, dry)))
      return failure();
    pending.add(before);
    return success();
  }
  if (auto roles = dyn_cast<WarpSpecializeOp>(op)) {
    // A block that does several points of the grid begins each with what the one before has left.
    Pending around = pending;
    if (failed(walk(roles.getConsumer().front(), around, /*dry=*/true)))
      return failure();
    pending.add(around);
    return walk(roles.getConsumer().front(), pending, dry);
  }
  if (op.getNumRegions() > 0 && !isa<MapOp>(op)) {
    Pending before = pending;
    bool mayPass = !isa<scf::IfOp>(op) || cast<scf::IfOp>(op).getElseRegion().empty();
    Pending after = mayPass ? before : Pending();
    for (Region &region : op.getRegions())
      for (Block &block : region) {
        Pending inside = before;
        if (failed(walk(block, inside, dry)))
          return failure();
        after.add(inside);
      }
    pending = after;
    return success();
  }
  Access access = getAccess(op);
  if (failed(checkCopies(op, access, pending)))
    return failure();
  if (needsBarrier(access, pending))
    insert();
  if (access.barrier) {
    pending.clear();
    access.writes.clear();
  }
  Pending::add(pending.reads, access.reads);
  Pending::add(access.begins ? pending.copies : pending.writes, access.writes);
  return success();
}

LogicalResult Barriers::walk(Block &block, Pending &pending, bool dry) {
  for (Operation &op : llvm::make_early_inc_range(block))
    if (failed(walk(op, pending, dry)))
      return failure();
  return success();
}

namespace {
struct InsertBarriersPass : fovea::impl::InsertBarriersPassBase<InsertBarriersPass> {
  using InsertBarriersPassBase::InsertBarriersPassBase;

  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<KernelOp>()) {
      WalkResult placed = kernel->walk([](SharedOp op) {
        if (op.getAt())
          return WalkResult::advance();
        op.emitOpError("expects a place: fovea-plan-shared comes before");
        return WalkResult::interrupt();
      });
      if (placed.wasInterrupted())
        return signalPassFailure();
      Pending pending;
      if (failed(Barriers().walk(kernel.getBody().front(), pending, /*dry=*/false)))
        return signalPassFailure();
    }
  }
};
} // namespace
