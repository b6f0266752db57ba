// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Places in the memory that a GPU block's threads share. The pass's text says what it refuses.
#include "dialects/Fovea/FoveaDialect.h"
#include "lowering/GPU/GPU.h"
#include "lowering/GPU/SharedPlan.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::fovea {
#define GEN_PASS_DEF_PLANSHAREDPASS
#include "lowering/GPU/Passes.h.inc"
} // namespace mlir::fovea

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::tile;

namespace {
/// From the first op that uses a piece of memory to the last, counted in the order of the text.
struct Piece {
  SharedOp op;
  int64_t first = 0, last = -1;
  int64_t bytes = 0, alignment = 1, at = 0;

  bool meets(const Piece &other) const { return first <= other.last && other.first <= last; }
};
} // namespace

/// The outermost loop between `op` and `scope`, or `op` where there is none: what a loop reads, an
/// earlier round may have written.
static Operation *getOutermostLoop(Operation *op, Operation *scope) {
  Operation *outermost = op;
  for (Operation *parent = op->getParentOp(); parent != scope; parent = parent->getParentOp())
    if (isa<LoopLikeOpInterface>(parent))
      outermost = parent;
  return outermost;
}

/// All that uses a piece, of a ring its slots too.
static SmallVector<Operation *> getUsers(SharedOp op) {
  SmallVector<Operation *> users(op->getUsers());
  for (size_t i = 0; i < users.size(); ++i)
    if (isa<StageOp>(users[i]))
      llvm::append_range(users, users[i]->getUsers());
  return users;
}

/// Whether a product's threads meet in the piece, which they write first.
static bool isScratch(SharedOp op, Operation *user) {
  auto product = dyn_cast<MmaOp>(user);
  return product && product.getScratch() == op.getMemory();
}

/// The innermost loop whose every round writes the piece before it reads it, if it does either; or
/// the kernel. No round needs what an earlier one has left.
static Operation *getScope(SharedOp op, ArrayRef<Operation *> users, KernelOp kernel) {
  Operation *first = users.front();
  Region *region = first->getParentRegion();
  auto hasAll = [&] {
    return llvm::all_of(
        users, [&](Operation *user) { return region->isAncestor(user->getParentRegion()); });
  };
  if (op.getStages())
    while (!hasAll()) // what a ring holds is its own loop's
      region = region->getParentRegion();
  else if (!hasAll() || !(isa<CopyOp, LocalStoreOp, ReduceOp>(first) || isScratch(op, first)))
    return kernel;
  Operation *parent = region->getParentOp();
  auto loop = dyn_cast<LoopLikeOpInterface>(parent);
  if (!loop)
    loop = parent->getParentOfType<LoopLikeOpInterface>();
  return loop && kernel->isAncestor(loop) ? loop.getOperation() : kernel.getOperation();
}

SharedPlan::SharedPlan(KernelOp kernel) {
  llvm::DenseMap<Operation *, std::pair<int64_t, int64_t>> spans; // of an op and all that it holds
  int64_t count = 0;
  kernel->walk([&](Operation *op, const WalkStage &stage) {
    if (stage.isBeforeAllRegions())
      spans[op].first = count++;
    if (stage.isAfterAllRegions())
      spans[op].second = count - 1;
  });
  SmallVector<Piece> pieces;
  kernel->walk([&](SharedOp op) {
    Piece &piece = pieces.emplace_back(Piece{op});
    piece.first = count;
    piece.alignment = op.getMemory().getType().getAlignment();
    piece.bytes = llvm::alignTo(op.getBytes(), piece.alignment);
    if (op.getGuarded()) { // its producer may be anywhere
      piece.first = 0;
      piece.last = count;
      return;
    }
    SmallVector<Operation *> users = getUsers(op);
    if (users.empty())
      return;
    llvm::sort(users, [&](Operation *a, Operation *b) { return spans[a].first < spans[b].first; });
    Operation *scope = getScope(op, users, kernel);
    for (Operation *user : users) {
      auto [first, last] = spans.lookup(getOutermostLoop(user, scope));
      piece.first = std::min(piece.first, first);
      piece.last = std::max(piece.last, last);
    }
  });
  // The largest first: small ones fit into what is left.
  SmallVector<Piece *> order = llvm::map_to_vector(pieces, [&](Piece &piece) { return &piece; });
  llvm::sort(order, [](Piece *a, Piece *b) {
    return std::make_pair(-a->bytes, a) < std::make_pair(-b->bytes, b); // of one size, the earlier
  });
  for (size_t i = 0; i < order.size(); ++i) {
    Piece &piece = *order[i];
    SmallVector<Piece *> neighbours;
    for (size_t j = 0; j < i; ++j)
      if (order[j]->meets(piece))
        neighbours.push_back(order[j]);
    llvm::sort(neighbours, [](Piece *a, Piece *b) { return a->at < b->at; });
    for (Piece *other : neighbours)
      if (piece.at < other->at + other->bytes && other->at < piece.at + piece.bytes)
        piece.at = llvm::alignTo(other->at + other->bytes, piece.alignment);
    places.emplace_back(piece.op, piece.at);
    bytes = std::max(bytes, piece.at + piece.bytes);
  }
}

namespace {
struct PlanSharedPass : fovea::impl::PlanSharedPassBase<PlanSharedPass> {
  using PlanSharedPassBase::PlanSharedPassBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    for (auto kernel : function.getOps<KernelOp>()) {
      SharedPlan plan(kernel);
      for (auto [op, at] : plan.places)
        op.setAt(at);
      int64_t bytes = plan.bytes;
      if (bytes > limit) {
        kernel.emitOpError("expects to need at most ")
            << static_cast<int64_t>(limit) << " bytes of shared memory, needs " << bytes;
        return signalPassFailure();
      }
      if (bytes)
        function->setAttr(FoveaDialect::kSharedBytesAttr,
                          Builder(&getContext()).getI64IntegerAttr(bytes));
    }
  }
};
} // namespace
