// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel of fovea.attention: its schedule, cost and name, and the code of its regions. The tile
// program is in TileAttention.cpp.
#include "dialects/ElementTypes.h"
#include "lowering/Kernels/Cost.h"
#include "lowering/Kernels/KernelBuilder.h"
#include "lowering/Kernels/KernelInterface.h"
#include "lowering/Kernels/TileAttention.h"
#include "lowering/Targets/Table.h"

using namespace mlir;
using namespace mlir::fovea;

Value mlir::fovea::emitElementRegion(KernelBuilder &k, const ElementRegion &of, Value number,
                                     const MaskPoint &point,
                                     const llvm::DenseMap<Value, Value> &loaded,
                                     function_ref<void(Operation *)> adjust) {
  Block &block = of.getBlock();
  IRMapping mapping;
  auto argument = block.args_begin();
  mapping.map(*argument++, number);
  SmallVector<Value> places{point.batch, point.head, point.query, point.key};
  for (auto [n, operand] : llvm::enumerate(of.operands)) {
    Value element = loaded.lookup(*argument);
    if (of.isWhole(n)) {
      element = k.cloneIn(operand);
    } else if (!element) {
      SmallVector<Value> at;
      AffineMap map = of.getMap(n);
      for (unsigned result = 0; result < map.getNumResults(); ++result)
        at.push_back(places[map.getDimPosition(result)]);
      element = k.load(k.buffer(operand), at);
    }
    mapping.map(*argument++, element);
  }
  for (Value last : {point.batch, point.head, point.queryPosition, point.keyPosition})
    mapping.map(*argument++, last);
  for (Operation &inner : block.without_terminator()) {
    Operation *copy = k.clone(inner, mapping);
    adjust(copy);
  }
  return mapping.lookup(of.getResult());
}

//===-- The schedule -------------------------------------------------------------------------===//

/// Whether there may be two parts of `least` keys: by the keys' type, or else by how long the
/// sequences are of the model that this is part of, if it says so.
static bool mayHaveTwoParts(AttentionOp op, int64_t least) {
  auto key = dyn_cast<RankedTensorType>(op.getKey().getType());
  if (key && !key.isDynamicDim(1))
    return key.getDimSize(1) >= 2 * least;
  auto module = op->getParentOfType<ModuleOp>();
  return !module || llvm::all_of(module.getOps<ModelOp>(), [&](ModelOp model) {
    return static_cast<int64_t>(model.getMaxPositions().value_or(2 * least)) >= 2 * least;
  });
}

/// Of a tensor or a cache.
static Type getHeldType(Value value) {
  if (auto cache = dyn_cast<CacheType>(value.getType()))
    return cache.getElementType();
  return cast<ShapedType>(value.getType()).getElementType();
}

/// Of instructions that multiply f16 or bf16: that type, if all that is multiplied has it, or
/// integers of eight bits, which it holds; their scales make weights too small for f16.
static Type getOperands(AttentionOp op, const Level &level) {
  Type type = getHeldType(op.getQuery());
  auto isHeld = [&](Value value) {
    Type element = getHeldType(value);
    return element == type || (type.isBF16() && element.isInteger(8));
  };
  bool alike = !op.getAdditive() && isHeld(op.getKey()) && isHeld(op.getValue());
  bool fits = level.multipliesHalves ? isHalf(type) : level.multipliesPairs && type.isBF16();
  return alike && fits ? type : Type();
}

/// Whether scores are read at each place, by a region or a mask that is a tensor: their tiles take
/// registers of their own.
static bool readsPlaces(AttentionOp op) {
  return op.hasScore() || op.hasProbability() ||
         llvm::any_of(*op->getBlock(), llvm::IsaPred<MaskDenseOp, MaskSegmentOp>);
}

/// Queries of a tile of attention that multiplies halves.
static int64_t getQueries(AttentionOp op, const Level &level) {
  int64_t least = level.manyQueries.queries, count = op.getQuery().getType().getDimSize(1);
  int64_t keys = level.manyQueries.keys, headSize = op.getHeadSize(), valueSize = op.getValueSize();
  if (!tile::fitsWarpgroups(least, keys, headSize) || !tile::fitsWarpgroups(least, valueSize, keys))
    return least;
  for (const Level::HeadQueries &head : level.headQueries)
    if (std::max(headSize, valueSize) <= head.size) {
      int64_t most = readsPlaces(op) ? head.reading : head.queries;
      return ShapedType::isDynamic(count) ? most
                                          : std::min<int64_t>(most, llvm::alignTo(count, least));
    }
  return least;
}

/// Whether pairs of one query's products are made as keys and values are read: of few heads that
/// share them, and of whole vectors. Integers are not to become bf16 first.
static bool makesPairs(AttentionOp op) {
  constexpr int64_t kHeads = 16, kPairs = 32;
  return getHeldType(op.getKey()).isBF16() && getHeldType(op.getValue()).isBF16() &&
         op.getQueryHeads() <= kHeads * op.getKeyHeads() && op.getHeadSize() % kPairs == 0 &&
         op.getValueSize() % kPairs == 0;
}

/// Queries that fit into one tile leave few blocks of work, so their keys are split; not where
/// probabilities must be known, which no part by itself does.
static Attribute makeAttention(AttentionOp op, const Level &level, int64_t queries) {
  bool one = queries == 1, few = !ShapedType::isDynamic(queries) && queries <= level.few;
  const AttentionSizes &sizes = one ? level.oneQuery : few ? level.fewQueries : level.manyQueries;
  Type operands = getOperands(op, level);
  if (one && level.multipliesPairs && !makesPairs(op))
    operands = {};
  int64_t rows = level.multipliesHalves && operands && !one ? getQueries(op, level) : sizes.queries;
  // Words of a place of the sequence, or of a score.
  int64_t bits = (operands ? operands : op.getAccumulationType()).getIntOrFloatBitWidth();
  auto words = [&](int64_t elements) { return elements * bits / 32; };
  int64_t both = op.getHeadSize() + op.getValueSize();
  rows = fitRows(rows, words(both + sizes.keys), level.attentionWords);
  int64_t keys = fitRows(sizes.keys, words(both), level.attentionWords);
  bool split = !op.hasProbability() && !op.getWeights() && !ShapedType::isDynamic(queries) &&
               queries <= rows && mayHaveTwoParts(op, level.split[0]);
  return AttentionScheduleAttr::get(
      op.getContext(), rows, keys, one ? AttentionAxis::Heads : AttentionAxis::Queries,
      sizes.scores, sizes.values, split ? ArrayRef<int64_t>(level.split) : ArrayRef<int64_t>(),
      operands);
}

/// Of an open number of queries, one has a schedule of its own, by which a cache's first few are
/// computed, too, and so have few.
static Attribute makeAttention(AttentionOp op, const Level &level) {
  int64_t queries = op.getQuery().getType().getDimSize(1);
  Attribute schedule = makeAttention(op, level, queries);
  if (!ShapedType::isDynamic(queries))
    return schedule;
  if (level.few)
    schedule = ByRowsScheduleAttr::get(op.getContext(), level.few,
                                       makeAttention(op, level, level.few), schedule);
  int64_t apart = isa<CacheType>(op.getKey().getType()) ? level.apart : 1;
  return ByRowsScheduleAttr::get(op.getContext(), apart, makeAttention(op, level, 1), schedule);
}

//===-- The interface ------------------------------------------------------------------------===//

namespace {
struct AttentionKernel : KernelOpInterface::ExternalModel<AttentionKernel, AttentionOp> {
  bool hasOwnTiles(Operation *) const { return true; }
  LogicalResult emitOwnTiles(Operation *op, KernelBuilder &k, Attribute schedule) const {
    auto tiles = dyn_cast<AttentionScheduleAttr>(schedule);
    if (!tiles)
      return op->emitOpError("expects the schedule of an attention, got ") << schedule;
    return buildTileAttention(k, cast<AttentionOp>(op), tiles);
  }
  Value countRows(Operation *op, KernelBuilder &k) const {
    return k.size(k.buffer(cast<AttentionOp>(op).getQuery()), 1);
  }
  Attribute chooseSchedule(Operation *op, const Level &level) const {
    return makeAttention(cast<AttentionOp>(op), level);
  }
  Value buildFlops(Operation *operation, CostBuilder &cost) const {
    auto op = cast<AttentionOp>(operation);
    Value query = op.getQuery();
    Value all = countPairs(cost, op.getMask(), bool(op.getQueryPositions()), cost.size(query, 1),
                           cost.keyLength(op.getKey()));
    // A probability is known when all scores are: these are computed once more.
    int64_t scores = op.hasProbability() ? 2 : 1;
    int64_t each = 2 * op.getQueryHeads() * (scores * op.getHeadSize() + op.getValueSize());
    return cost.mul(cost.mul(cost.size(query, 0), all), cost.constant(each));
  }
  Value countElements(Operation *op, CostBuilder &cost, OpOperand &operand) const {
    auto cache = dyn_cast<CacheType>(operand.get().getType());
    if (!cache)
      return {};
    Value rows =
        cost.mul(cost.size(cast<AttentionOp>(op).getQuery(), 0), cost.keyLength(operand.get()));
    return cost.mul(rows, cost.constant(cache.getHeads() * cache.getSize()));
  }
  void describe(Operation *operation, raw_ostream &out) const {
    auto op = cast<AttentionOp>(operation);
    out << " " << op.getQueryHeads() << "/" << op.getKeyHeads() << " x " << op.getHeadSize();
  }
  unsigned getNameRank(Operation *) const { return 2; }
};
} // namespace

void mlir::fovea::attachAttentionKernel(MLIRContext &context) {
  AttentionOp::attachInterface<AttentionKernel>(context);
}
