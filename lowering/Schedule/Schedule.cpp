// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses a schedule for each group and a layout for each weight. It changes no computation.
#include "lowering/Schedule/Schedule.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::fovea {
#define GEN_PASS_DEF_SCHEDULEPASS
#include "lowering/Schedule/Passes.h.inc"
} // namespace mlir::fovea

using namespace mlir;
using namespace mlir::fovea;

namespace {

/// Which of the result's axes are loops that threads may share.
enum class Shared {
  All,     ///< Each element on its own.
  Rows,    ///< All but the last axis, over which the op sums.
  Leading, ///< The leading parallel iterators of a structured op.
};

struct Entry {
  StringLiteral op;
  Shared shared;
};

/// By the kind of the op that a group computes. What is not listed computes its elements one by
/// one.
constexpr Entry kTable[] = {
    {"fovea.attention", Shared::Rows}, // batch, query, head; one thread has a head's row of scores
    {"fovea.layer_norm", Shared::Rows},
    {"fovea.rms_norm", Shared::Rows},
    {"fovea.l2_norm", Shared::Rows},
    {"fovea.embedding", Shared::Rows}, // a row is one copy
    {"fovea.position_learned", Shared::Rows},
    {"fovea.rope", Shared::Rows}, // a head's elements rotate in pairs
    {"fovea.cache_append", Shared::Rows},
};

} // namespace

/// The op that computes the group's first result, or null.
static Operation *getRoot(GroupOp group) {
  auto yield = cast<YieldOp>(group.getBody().front().getTerminator());
  return yield.getValues().empty() ? nullptr : yield.getValues().front().getDefiningOp();
}

/// Axes of the first result; a cache has those of `[B, S, heads, size]`.
static int64_t getRank(Operation *root) {
  Type type = root->getResult(0).getType();
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return tensor.getRank();
  return isa<CacheType>(type) ? 4 : 0;
}

static int64_t getParallelLoops(Operation *root) {
  Shared shared = isa<linalg::LinalgOp>(root) ? Shared::Leading : Shared::All;
  for (const Entry &entry : kTable)
    if (entry.op == root->getName().getStringRef())
      shared = entry.shared;
  switch (shared) {
  case Shared::All:
    return getRank(root);
  case Shared::Rows:
    return std::max<int64_t>(getRank(root) - 1, 0);
  case Shared::Leading:
    auto iterators = cast<linalg::LinalgOp>(root).getIteratorTypesArray();
    return llvm::find(iterators, utils::IteratorType::reduction) - iterators.begin();
  }
  llvm_unreachable("all cases return");
}

namespace {
struct SchedulePass : fovea::impl::SchedulePassBase<SchedulePass> {
  using SchedulePassBase::SchedulePassBase;

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    for (auto weight : getOperation().getOps<WeightOp>()) {
      if (isa<PackAttr>(weight.getRecipe()))
        continue;
      weight.setRecipeAttr(PackAttr::get(context, weight.getRecipe(), PanelsAttr()));
      ++numPacked;
    }
    WalkResult result = getOperation()->walk([&](GroupOp group) {
      if (group.getSchedule())
        return WalkResult::advance();
      Operation *root = getRoot(group);
      if (!root) {
        group.emitOpError("expects an op that computes its first result, to choose a schedule by");
        return WalkResult::interrupt();
      }
      group.setScheduleAttr(LoopScheduleAttr::get(context, getParallelLoops(root)));
      ++numScheduled;
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
