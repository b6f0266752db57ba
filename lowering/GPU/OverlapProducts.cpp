// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products that run while the block computes something else (FlashAttention-3, section 3.2, "intra-
// warpgroup overlap"). The pass's text says what it leaves as it is.
#include "lowering/GPU/DeferredProduct.h"
#include "lowering/GPU/GPU.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::fovea {
#define GEN_PASS_DEF_OVERLAPPRODUCTSPASS
#include "lowering/GPU/Passes.h.inc"
} // namespace mlir::fovea

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::tile;

namespace {

/// One loop, whose last product is done at the start of the next round.
class Overlap {
public:
  /// None if the loop stays as it is.
  static std::optional<Overlap> find(scf::ForOp loop);
  void rewrite();

private:
  Overlap(scf::ForOp loop, DeferredProduct late)
      : loop(loop), late(late), transposed(late.product.getTransposeBAttr()),
        atom(late.product.getAtomAttr()) {}
  /// All of the first round but its late product: what it yields, then `getNeeds()` of it.
  SmallVector<Value> emitFirstRound(ImplicitLocOpBuilder &b);
  /// What the late product of a round needs that later ones change.
  SmallVector<Value> getNeeds() { return {late.product.getA(), index}; }
  /// Whether the op is the late product or part of its ring's hand-over.
  bool isLate(Operation *op) const { return op == late.product || op == await || op == release; }
  /// The late product of a round that needed such, which the loop may no longer have; `emitRelease`
  /// says that its right operand is read.
  MmaOp emitLate(ImplicitLocOpBuilder &b, Value a, Value index, Value sum, bool async);
  void emitRelease(ImplicitLocOpBuilder &b, Value index);
  /// Makes of the loop the rounds from the second one on.
  void rewriteRounds(ImplicitLocOpBuilder &b);
  /// The columns that are carried, such as sums of rows, but for those that others depend on.
  SmallVector<Value> findAfter();

  scf::ForOp loop;
  DeferredProduct late;
  /// How the late product multiplies.
  UnitAttr transposed;
  AtomAttr atom;
  /// The ring of the late product's right operand: one whose slots are kept, or a guarded one with
  /// what hands over the slot.
  Value ring, index;
  ConsumerWaitOp await;
  ConsumerReleaseOp release;
  bool guarded = false;
};

} // namespace

std::optional<Overlap> Overlap::find(scf::ForOp loop) {
  std::optional<DeferredProduct> late = DeferredProduct::find(loop);
  if (!late || loop.getUnsignedCmp())
    return std::nullopt;
  Overlap overlap(loop, *late);
  Operation *source = late->product.getB().getDefiningOp();
  if (!source || source->getBlock() != loop.getBody())
    return std::nullopt;
  if (auto slot = dyn_cast<StageOp>(source)) {
    overlap.ring = slot.getRing();
    overlap.index = slot.getIndex();
    return overlap.ring.getDefiningOp<SharedOp>().getKept() ? std::optional(overlap) : std::nullopt;
  }
  overlap.await = dyn_cast<ConsumerWaitOp>(source);
  if (!overlap.await || !overlap.await->hasOneUse())
    return std::nullopt;
  overlap.ring = overlap.await.getRing();
  overlap.index = overlap.await.getRound();
  overlap.guarded = true;
  for (auto release : loop.getBody()->getOps<ConsumerReleaseOp>())
    if (release.getRing() == overlap.ring)
      overlap.release = release;
  return overlap.release ? std::optional(overlap) : std::nullopt;
}

SmallVector<Value> Overlap::emitFirstRound(ImplicitLocOpBuilder &b) {
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), loop.getLowerBound());
  mapping.map(loop.getRegionIterArgs(), loop.getInitArgs());
  for (Operation &op : loop.getBody()->without_terminator())
    if (!isLate(&op))
      b.clone(op, mapping);
  SmallVector<Value> values(loop.getBody()->getTerminator()->getOperands());
  values[late.number] = late.product.getAcc();
  llvm::append_range(values, getNeeds());
  for (Value &value : values)
    value = mapping.lookupOrDefault(value);
  return values;
}

MmaOp Overlap::emitLate(ImplicitLocOpBuilder &b, Value a, Value index, Value sum, bool async) {
  Value memory = guarded ? ConsumerWaitOp::create(b, ring.getType(), ring, index).getMemory()
                         : StageOp::create(b, ring.getType(), ring, index).getMemory();
  return MmaOp::create(b, sum.getType(), a, memory, sum, transposed, atom,
                       async ? b.getUnitAttr() : UnitAttr());
}

void Overlap::emitRelease(ImplicitLocOpBuilder &b, Value index) {
  if (guarded)
    ConsumerReleaseOp::create(b, ring, index);
}

SmallVector<Value> Overlap::findAfter() {
  SmallVector<Value> found;
  for (Value value : loop.getBody()->getTerminator()->getOperands()) {
    auto type = dyn_cast<TileType>(value.getType());
    Operation *op = value.getDefiningOp();
    if (type && type.getColumns() == 1 && type.getElementType().isF32() && op &&
        op->getBlock() == loop.getBody())
      found.push_back(value);
  }
  // What another one is computed of is done before it anyway.
  SmallVector<Value> last;
  for (Value value : found) {
    SmallVector<Operation *> dependents = getDependents(loop, value);
    if (llvm::none_of(found, [&](Value other) {
          return llvm::is_contained(dependents, other.getDefiningOp());
        }))
      last.push_back(value);
  }
  return last;
}

void Overlap::rewriteRounds(ImplicitLocOpBuilder &b) {
  Value a = loop.getRegionIterArgs().drop_back().back(), index = loop.getRegionIterArgs().back();
  Value sum = loop.getRegionIterArg(late.number);
  // The first product of this round and the late one of the round before, begun together.
  late.first.setAsync(true);
  b.setInsertionPointAfter(late.first);
  MmaOp begun = emitLate(b, a, index, sum, /*async=*/true);
  auto first = MmaWaitOp::create(b, late.first.getType(), late.first.getResult(), /*pending=*/1,
                                 ValueRange());
  late.first.getResult().replaceAllUsesExcept(first.getResult(), first);
  // What is left of the round before comes last.
  Operation *yield = loop.getBody()->getTerminator();
  yield->setOperand(late.number, late.product.getAcc());
  Operation *weights = late.product.getA().getDefiningOp();
  late.product.erase();
  if (guarded) {
    await.erase();
    release.erase();
  }
  b.setInsertionPoint(yield);
  auto settled =
      MmaWaitOp::create(b, begun.getType(), begun.getResult(), /*pending=*/0, findAfter());
  sum.replaceAllUsesExcept(settled.getResult(), begun);
  emitRelease(b, index);
  for (Operation *op : late.ofSum)
    op->moveBefore(yield);
  // The next round's weights are rounded when this round's registers are free.
  if (isa<CastOp>(weights) && weights->hasOneUse())
    weights->moveBefore(yield);
}

void Overlap::rewrite() {
  ImplicitLocOpBuilder b(loop.getLoc(), loop);
  // There may be no round at all.
  Value any = b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::slt, loop.getLowerBound(),
                                            loop.getUpperBound());
  scf::IfOp branch;
  if (getConstantIntValue(any).value_or(0) == 0) {
    branch = scf::IfOp::create(b, loop.getResultTypes(), any, /*withElseRegion=*/true);
    loop.replaceAllUsesWith(branch.getResults());
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, loop.getInitArgs());
    loop->moveBefore(branch.thenBlock(), branch.thenBlock()->end());
  }
  b.setInsertionPoint(loop);
  SmallVector<Value> values = emitFirstRound(b);
  size_t carried = loop.getNumResults();
  IRRewriter rewriter(b.getContext());
  rewriter.setInsertionPoint(loop);
  SmallVector<Value> needs = getNeeds();
  auto yieldNeeds = [&](OpBuilder &, Location, ArrayRef<BlockArgument>) { return needs; };
  loop = cast<scf::ForOp>(
      *loop.replaceWithAdditionalYields(rewriter, ArrayRef(values).drop_front(carried),
                                        /*replaceInitOperandUsesInLoop=*/false, yieldNeeds));
  b.setInsertionPoint(loop);
  loop.setLowerBound(b.createOrFold<arith::AddIOp>(loop.getLowerBound(), loop.getStep()));
  loop.getInitArgsMutable().assign(values);
  rewriteRounds(b);
  // The last round's product.
  b.setInsertionPointAfter(loop);
  ValueRange results = loop.getResults();
  MmaOp last = emitLate(b, results[carried], results[carried + 1], results[late.number],
                        /*async=*/false);
  emitRelease(b, results[carried + 1]);
  results[late.number].replaceAllUsesExcept(last.getResult(), last);
  if (!branch)
    return;
  SmallVector<Value> yields(results.take_front(carried));
  yields[late.number] = last.getResult();
  scf::YieldOp::create(b, yields);
}

namespace {
struct OverlapProductsPass : fovea::impl::OverlapProductsPassBase<OverlapProductsPass> {
  using OverlapProductsPassBase::OverlapProductsPassBase;

  void runOnOperation() override {
    SmallVector<scf::ForOp> found;
    getOperation()->walk([&](scf::ForOp loop) { found.push_back(loop); });
    for (scf::ForOp loop : found)
      if (std::optional<Overlap> overlap = Overlap::find(loop)) {
        overlap->rewrite();
        ++loops;
      }
  }
};
} // namespace
