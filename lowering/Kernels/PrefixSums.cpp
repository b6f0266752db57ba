// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cumulative sums and products: a reduction over all r <= p (or <, >=, >) for each p is one pass
// that carries what it has so far. Each sum has the same terms in the same order as the reduction
// has them, or from behind where it runs backwards. Left to loops over all terms is what compares
// anything but the two places, and sums that do not begin alike.
#include "lowering/Kernels/Elements.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::fovea;

namespace {
/// sum over r of (r relation p ? term(r) : nothing).
struct PrefixSum {
  unsigned place = 0, term = 0; ///< the loops p and r
  bool isInclusive = false, isReversed = false;
};
} // namespace

/// Whether adding the constant, or multiplying by it, changes nothing.
static bool isNeutral(Operation *combiner, Value value) {
  if (isa<arith::AddFOp>(combiner))
    return matchPattern(value, m_AnyZeroFloat());
  if (isa<arith::MulFOp>(combiner))
    return matchPattern(value, m_OneFloat());
  return matchPattern(value, isa<arith::AddIOp>(combiner) ? m_Zero() : m_One());
}

/// The relation of r to p that a comparison of their places states, if it does.
static std::optional<arith::CmpIPredicate> getRelation(arith::CmpIOp compare, linalg::GenericOp op,
                                                       PrefixSum &sum) {
  auto left = compare.getLhs().getDefiningOp<linalg::IndexOp>(),
       right = compare.getRhs().getDefiningOp<linalg::IndexOp>();
  if (!left || !right || !left->hasOneUse() || !right->hasOneUse())
    return std::nullopt;
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  bool isTurned = kinds[left.getDim()] == utils::IteratorType::parallel;
  sum.term = isTurned ? right.getDim() : left.getDim();
  sum.place = isTurned ? left.getDim() : right.getDim();
  if (kinds[sum.term] != utils::IteratorType::reduction ||
      kinds[sum.place] != utils::IteratorType::parallel)
    return std::nullopt;
  if (!isTurned)
    return compare.getPredicate();
  switch (compare.getPredicate()) {
  case arith::CmpIPredicate::sle:
    return arith::CmpIPredicate::sge;
  case arith::CmpIPredicate::slt:
    return arith::CmpIPredicate::sgt;
  case arith::CmpIPredicate::sge:
    return arith::CmpIPredicate::sle;
  case arith::CmpIPredicate::sgt:
    return arith::CmpIPredicate::slt;
  default:
    return std::nullopt;
  }
}

/// Reads the body: carried + (r relation p ? x : 0).
static bool matchBody(linalg::GenericOp op, PrefixSum &sum) {
  Value carried = op.getBlock()->getArguments().back();
  Operation *combiner = op.getBlock()->getTerminator()->getOperand(0).getDefiningOp();
  if (!isa_and_nonnull<arith::AddFOp, arith::MulFOp, arith::AddIOp, arith::MulIOp>(combiner) ||
      !carried.hasOneUse() || !llvm::is_contained(combiner->getOperands(), carried))
    return false;
  Value other = combiner->getOperand(combiner->getOperand(0) == carried ? 1 : 0);
  auto select = other.getDefiningOp<arith::SelectOp>();
  auto compare = select ? select.getCondition().getDefiningOp<arith::CmpIOp>() : arith::CmpIOp();
  if (!compare || !compare->hasOneUse() || !isNeutral(combiner, select.getFalseValue()))
    return false;
  std::optional<arith::CmpIPredicate> relation = getRelation(compare, op, sum);
  if (!relation)
    return false;
  sum.isInclusive =
      *relation == arith::CmpIPredicate::sle || *relation == arith::CmpIPredicate::sge;
  sum.isReversed = *relation == arith::CmpIPredicate::sge || *relation == arith::CmpIPredicate::sgt;
  return sum.isInclusive || sum.isReversed || *relation == arith::CmpIPredicate::slt;
}

static std::optional<PrefixSum> findPrefixSum(Operation *operation) {
  auto op = dyn_cast<linalg::GenericOp>(operation);
  PrefixSum sum;
  if (!op || op.getNumDpsInits() != 1 || op.getNumReductionLoops() != 1 ||
      !op.hasPureTensorSemantics() || !matchBody(op, sum))
    return std::nullopt;
  OpOperand *init = op.getDpsInitOperand(0);
  AffineMap map = op.getMatchingIndexingMap(init);
  // Each sum begins with the same.
  if (!map.isProjectedPermutation() || map.getNumResults() != op.getNumParallelLoops() ||
      !(matchPattern(init->get(), m_Constant()) || init->get().getDefiningOp<tensor::SplatOp>()))
    return std::nullopt;
  DenseElementsAttr constant;
  if (matchPattern(init->get(), m_Constant(&constant)) && !constant.isSplat())
    return std::nullopt;
  for (OpOperand *input : op.getDpsInputOperands())
    if (op.getMatchingIndexingMap(input).isFunctionOfDim(sum.place))
      return std::nullopt;
  return sum;
}

bool mlir::fovea::isPrefixSum(Operation *op) { return findPrefixSum(op).has_value(); }

namespace {
class PrefixSumBuilder {
public:
  PrefixSumBuilder(KernelBuilder &k, linalg::GenericOp op)
      : k(k), op(op), sum(*findPrefixSum(op)), reader(k, op), extents(reader.loopExtents(op)),
        map(op.getMatchingIndexingMap(op.getDpsInitOperand(0))) {
    for (AffineExpr expression : map.getResults())
      if (unsigned loop = cast<AffineDimExpr>(expression).getPosition(); loop != sum.place)
        others.push_back(loop);
  }
  LogicalResult build();

private:
  /// Places that are walked through in order: whose terms are added, whose sums are stored.
  struct Walk {
    Value first, end;
    bool adds, stores;
  };
  /// Sums beside each other: so many that one addition need not wait for the other, and where they
  /// lie beside each other in memory, vectors of them.
  static constexpr int64_t kRows = 8, kLanes = 256;

  SmallVector<Walk> getWalks();
  void emitRows(SmallVector<Value> loops, Value first);
  void emitLanes(SmallVector<Value> loops, Value first);
  Value begin(SmallVector<Value> loops);
  Value addTerm(SmallVector<Value> loops, Value carried, Value place);
  Value step(const SmallVector<Value> &loops, Value carried, const Walk &walk, Value number);

  KernelBuilder &k;
  linalg::GenericOp op;
  PrefixSum sum;
  ElementReader reader;
  SmallVector<Value> extents;
  AffineMap map;
  SmallVector<unsigned> others; ///< in the order of the result's axes
  Value sums;                   ///< of lanes
};
} // namespace

/// Places and terms, of which either may be more. Places behind the last term have the whole sum,
/// and none where it runs backwards; terms behind the last place are part of every sum then.
SmallVector<PrefixSumBuilder::Walk> PrefixSumBuilder::getWalks() {
  Value places = extents[sum.place], terms = extents[sum.term];
  Value both = arith::MinUIOp::create(k, places, terms);
  Walk common{k.index(0), both, true, true}, more{both, places, false, true};
  if (!sum.isReversed)
    return {common, more};
  return {more, {both, terms, true, false}, common};
}

Value PrefixSumBuilder::begin(SmallVector<Value> loops) {
  loops[sum.place] = loops[sum.term] = k.index(0);
  return reader.read(op.getDpsInits()[0], reader.apply(map, loops));
}

Value PrefixSumBuilder::addTerm(SmallVector<Value> loops, Value carried, Value place) {
  loops[sum.place] = loops[sum.term] = place;
  // Seen from the next place, of whose sum it is part.
  if (!sum.isInclusive)
    loops[sum.place] = sum.isReversed ? k.sub(place, k.index(1)) : k.add(place, k.index(1));
  SmallVector<Value> arguments = reader.readInputs(op, loops);
  arguments.push_back(carried);
  return reader.emitBody(op, arguments, loops).front();
}

/// The sum with the term of one step of a walk; it is stored without where that is not part of it.
Value PrefixSumBuilder::step(const SmallVector<Value> &loops, Value carried, const Walk &walk,
                             Value number) {
  Value place =
      sum.isReversed ? k.sub(k.sub(walk.end, k.index(1)), number) : k.add(walk.first, number);
  Value next = walk.adds ? addTerm(loops, carried, place) : carried;
  SmallVector<Value> at(loops);
  at[sum.place] = at[sum.term] = place;
  if (walk.stores)
    memref::StoreOp::create(k, sum.isInclusive ? next : carried, k.outputs[0],
                            reader.apply(map, at));
  return next;
}

/// Eight sums in registers. Those past the last are the last once more.
void PrefixSumBuilder::emitRows(SmallVector<Value> loops, Value first) {
  SmallVector<SmallVector<Value>> rows;
  SmallVector<Value> carried;
  for (int64_t row = 0; row < (others.empty() ? 1 : kRows); ++row) {
    rows.push_back(loops);
    if (!others.empty())
      rows.back()[others.back()] = arith::MinUIOp::create(
          k, k.add(first, k.index(row)), k.sub(extents[others.back()], k.index(1)));
    carried.push_back(begin(rows.back()));
  }
  for (const Walk &walk : getWalks())
    carried = k.loopCarried(k.index(0), k.sub(walk.end, walk.first), carried,
                            [&](Value number, ValueRange values) {
                              SmallVector<Value> next;
                              for (auto [row, value] : llvm::zip(rows, values))
                                next.push_back(step(row, value, walk, number));
                              return next;
                            });
}

/// Sums along the result's last axis, in the first cache until they are done.
void PrefixSumBuilder::emitLanes(SmallVector<Value> loops, Value first) {
  Value count = arith::MinUIOp::create(k, k.sub(extents[others.back()], first), k.index(kLanes));
  auto each = [&](function_ref<Value(Value)> body) {
    k.loop(k.index(0), count, [&](Value lane) {
      loops[others.back()] = k.add(first, lane);
      memref::StoreOp::create(k, body(lane), sums, lane);
    });
  };
  each([&](Value) { return begin(loops); });
  for (const Walk &walk : getWalks())
    k.loop(k.index(0), k.sub(walk.end, walk.first), [&](Value number) {
      each([&](Value lane) { return step(loops, k.load(sums, lane), walk, number); });
    });
}

LogicalResult PrefixSumBuilder::build() {
  if (reader.failed())
    return failure();
  bool isLast =
      others.empty() || map.getResults().back() == getAffineDimExpr(sum.place, op.getContext());
  SmallVector<Value> sizes =
      llvm::map_to_vector(others, [&](unsigned loop) { return extents[loop]; });
  int64_t width = isLast ? kRows : kLanes;
  if (sizes.empty())
    sizes.push_back(k.index(1));
  else
    sizes.back() = arith::CeilDivUIOp::create(k, sizes.back(), k.index(width));
  if (!isLast)
    sums = memref::AllocaOp::create(
        k, MemRefType::get({kLanes}, cast<MemRefType>(k.outputs[0].getType()).getElementType()));
  k.parallelNest(reader.guarded(sizes), [&](ValueRange at) {
    SmallVector<Value> loops(extents.size());
    for (auto [loop, index] : llvm::zip(others, at))
      loops[loop] = index;
    Value first = k.mul(at.back(), k.index(width));
    isLast ? emitRows(loops, first) : emitLanes(loops, first);
  });
  return reader.result();
}

LogicalResult mlir::fovea::buildPrefixSum(KernelBuilder &k, Operation *op) {
  return PrefixSumBuilder(k, cast<linalg::GenericOp>(op)).build();
}
