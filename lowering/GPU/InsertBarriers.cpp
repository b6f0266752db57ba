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

/// Bytes from `first` to before `end`.
struct Bytes {
  int64_t first, end;

  bool meets(const Bytes &other) const { return first < other.end && other.first < end; }
  bool operator==(const Bytes &other) const { return first == other.first && end == other.end; }
};

/// What may have been read and written since the last barrier.
struct Pending {
  SmallVector<Bytes> reads, writes;

  static void add(SmallVector<Bytes> &ranges, const SmallVector<Bytes> &more) {
    for (const Bytes &range : more)
      if (!llvm::is_contained(ranges, range))
        ranges.push_back(range);
  }
  void add(const Pending &other) {
    add(reads, other.reads);
    add(writes, other.writes);
  }
  void clear() {
    reads.clear();
    writes.clear();
  }
};

/// What an op itself reads and writes.
struct Access {
  SmallVector<Bytes> reads, writes;
  /// A barrier stands within the op, between its writes and its reads.
  bool barrier = false;
};

class Barriers {
public:
  /// Walks the block from what is pending at its start to what is at its end; inserts barriers
  /// unless `dry`.
  void walk(Block &block, Pending &pending, bool dry);

private:
  void walk(Operation &op, Pending &pending, bool dry);
  static Access getAccess(Operation &op);
};

} // namespace

static Bytes getBytes(Value memory) {
  auto op = memory.getDefiningOp<SharedOp>();
  int64_t first = static_cast<int64_t>(*op.getAt());
  return {first, first + op.getMemory().getType().getBytes()};
}

Access Barriers::getAccess(Operation &op) {
  Access access;
  if (auto copy = dyn_cast<CopyOp>(op)) {
    access.writes = {getBytes(copy.getMemory())};
  } else if (auto put = dyn_cast<PutOp>(op)) {
    access.writes = {getBytes(put.getMemory())};
  } else if (auto reduce = dyn_cast<ReduceOp>(op); reduce && reduce.getScratch()) {
    access.writes = access.reads = {getBytes(reduce.getScratch())};
    access.barrier = true;
  } else {
    for (Value operand : op.getOperands())
      if (isa<SharedType>(operand.getType()))
        access.reads.push_back(getBytes(operand));
  }
  return access;
}

static bool anyMeets(ArrayRef<Bytes> ranges, ArrayRef<Bytes> others) {
  return llvm::any_of(ranges, [&](const Bytes &range) {
    return llvm::any_of(others, [&](const Bytes &other) { return range.meets(other); });
  });
}

void Barriers::walk(Operation &op, Pending &pending, bool dry) {
  if (isa<BarrierOp>(op))
    return pending.clear();
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    // A round may begin with what the round before has left; a dry one finds out what that is.
    Pending around = pending;
    walk(*loop.getBody(), around, /*dry=*/true);
    pending.add(around);
    Pending before = pending; // there may be no round at all
    walk(*loop.getBody(), pending, dry);
    return pending.add(before);
  }
  if (op.getNumRegions() > 0 && !isa<MapOp>(op)) {
    Pending before = pending;
    bool mayPass = !isa<scf::IfOp>(op) || cast<scf::IfOp>(op).getElseRegion().empty();
    Pending after = mayPass ? before : Pending();
    for (Region &region : op.getRegions())
      for (Block &block : region) {
        Pending inside = before;
        walk(block, inside, dry);
        after.add(inside);
      }
    pending = after;
    return;
  }
  Access access = getAccess(op);
  if (anyMeets(access.writes, pending.writes) || anyMeets(access.writes, pending.reads) ||
      (!access.barrier && anyMeets(access.reads, pending.writes))) {
    if (!dry) {
      OpBuilder builder(&op);
      BarrierOp::create(builder, op.getLoc());
    }
    pending.clear();
  }
  if (access.barrier) {
    pending.clear();
    access.writes.clear();
  }
  Pending::add(pending.reads, access.reads);
  Pending::add(pending.writes, access.writes);
}

void Barriers::walk(Block &block, Pending &pending, bool dry) {
  for (Operation &op : llvm::make_early_inc_range(block))
    walk(op, pending, dry);
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
      Barriers().walk(kernel.getBody().front(), pending, /*dry=*/false);
    }
  }
};
} // namespace
