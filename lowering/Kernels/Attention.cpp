// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention as plain loops: for each batch row, head and query one pass over the keys that the
// mask's intervals cover, with a running maximum and sum (Milakov and Gimelshein 2018). No score is
// stored but where probabilities themselves are asked for. Honours every clause of
// `fovea.attention`.
#include "dialects/ElementTypes.h"
#include "lowering/Kernels/Cost.h"
#include "lowering/Kernels/KernelBuilder.h"
#include "lowering/Kernels/KernelInterface.h"
#include "lowering/Kernels/TileAttention.h"
#include "lowering/Targets/Table.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::fovea;

namespace {

/// Keys or values, whether a tensor or a cache.
struct KeySequence {
  Value memory, length;
  bool cached;
  int64_t size;

  Value load(KernelBuilder &k, Type type, Value b, Value head, Value j, Value d) const {
    if (cached)
      return k.loadAs(type, memory, {b, head, j, d});
    return k.loadAs(type, memory, {b, j, head, d});
  }
};

/// One query row: everything its key loops share.
class AttentionRow {
public:
  AttentionRow(KernelBuilder &k, AttentionOp op, Value scratch);
  void emit(Value b, Value h, Value i);

private:
  KeySequence sequence(Value value, int64_t size);
  void findScores();
  Value score(Value j);
  MaskPoint pointOf(Value j);
  Value predicate(Value j);
  /// Streams the allowed keys of [begin, end) into (maximum, sum, any); the weighted values go to
  /// `scratch`.
  SmallVector<Value> stream(Value begin, Value end, ValueRange state, bool masked);
  SmallVector<Value> initialState();
  void clearScratch();
  void meanOfValues();
  Value isSeen(Value j, Value any, bool fillsByKeys);
  Value probability(Value j, Value maximum, Value sum, Value any);
  void weighValues(Value maximum, Value sum, Value any);
  void storeWeights(Value maximum, Value sum, Value any);
  void forEachCover(function_ref<void(Value, Value)> body);

  KernelBuilder &k;
  AttentionOp op;
  Type type;
  Value scratch, query, output, lse, weights, keyLength, queryPosition, mask;
  Value scores; ///< `[B,Hq,Sq,Sk]`: a row's until its probabilities are known; may be null
  KeySequence key, value;
  Value b, h, g, i;
};

} // namespace

AttentionRow::AttentionRow(KernelBuilder &k, AttentionOp op, Value scratch)
    : k(k), op(op), type(op.getAccumulationType()), scratch(scratch),
      query(k.buffer(op.getQuery())), key(sequence(op.getKey(), op.getHeadSize())),
      value(sequence(op.getValue(), op.getValueSize())) {
  unsigned next = 0;
  output = k.outputs[next++];
  if (op.getLse())
    lse = k.outputs[next++];
  if (op.getWeights())
    weights = k.outputs[next++];
  keyLength = key.length;
  findScores();
  if (op.getMask())
    mask = k.cloneIn(op.getMask());
}

KeySequence AttentionRow::sequence(Value tensor, int64_t size) {
  if (isa<CacheType>(tensor.getType())) {
    CacheBuffer cache = k.cache(tensor);
    return {cache.memory, cache.length, true, size};
  }
  Value memory = k.buffer(tensor);
  return {memory, k.size(memory, 1), false, size};
}

/// A score that is computed anew may round to another number than was summed: great ones to one
/// that is far off. So what asks for probabilities keeps them, where the weights go if that can
/// hold them.
void AttentionRow::findScores() {
  if (weights && cast<MemRefType>(weights.getType()).getElementType() == type) {
    scores = weights;
  } else if (op.hasProbability()) {
    auto of = cast<MemRefType>(query.getType());
    SmallVector<int64_t> shape{of.getDimSize(0), op.getQueryHeads(), of.getDimSize(1),
                               ShapedType::kDynamic};
    SmallVector<Value> sizes;
    for (int64_t axis : {0, 1})
      if (of.isDynamicDim(axis))
        sizes.push_back(k.size(query, axis));
    sizes.push_back(keyLength);
    scores = k.temporary(k.addTemporary(MemRefType::get(shape, type), sizes));
  }
}

/// scale * q k (or the additive form), then the score region.
Value AttentionRow::score(Value j) {
  Value weight = k.buffer(op.getAdditive());
  Value x = k.sum(type, k.index(op.getHeadSize()), [&](Value d) {
    Value left = k.loadAs(type, query, {b, i, h, d});
    Value right = key.load(k, type, b, g, j, d);
    if (!weight)
      return k.mul(left, right);
    return k.mul(k.loadAs(type, weight, d), math::TanhOp::create(k, k.add(left, right)));
  });
  double scale = op.getScale().convertToDouble();
  if (scale != 1.0)
    x = k.mul(x, k.real(type, scale));
  return op.hasScore() ? emitElementRegion(k, op.getScoreRegion(), x, pointOf(j)) : x;
}

MaskPoint AttentionRow::pointOf(Value j) {
  return {b, h, i, j, queryPosition, loadPosition(k, k.buffer(op.getKeyPositions()), b, j)};
}

Value AttentionRow::predicate(Value j) { return buildPredicate(k, k.getLoc(), mask, pointOf(j)); }

SmallVector<Value> AttentionRow::initialState() {
  Value none = k.integer(k.getI1Type(), 0);
  if (Value sinks = k.buffer(op.getSinks()))
    return {k.loadAs(type, sinks, h), k.real(type, 1.0), none};
  return {k.real(type, -std::numeric_limits<double>::infinity()), k.real(type, 0), none};
}

SmallVector<Value> AttentionRow::stream(Value begin, Value end, ValueRange state, bool masked) {
  Value infinity = k.real(type, -std::numeric_limits<double>::infinity());
  Value some = k.integer(k.getI1Type(), 1);
  return k.loopCarried(begin, end, state, [&](Value j, ValueRange carried) -> SmallVector<Value> {
    Value maximum = carried[0], sum = carried[1];
    auto accept = [&]() -> SmallVector<Value> {
      Value x = score(j);
      if (scores)
        k.storeTo(scores, {b, h, i, j}, x);
      Value raised = k.maximum(maximum, x);
      // A score of minus infinity adds nothing; without this test it would make NaN of an equally
      // low maximum.
      Value nothing = arith::CmpFOp::create(k, arith::CmpFPredicate::OEQ, raised, infinity);
      Value keep =
          k.select(nothing, k.real(type, 1), math::ExpOp::create(k, k.sub(maximum, raised)));
      Value p = k.select(nothing, k.real(type, 0), math::ExpOp::create(k, k.sub(x, raised)));
      k.loop(k.index(0), k.index(value.size), [&](Value d) {
        Value term = k.mul(p, value.load(k, type, b, g, j, d));
        k.storeTo(scratch, d, k.add(k.mul(k.load(scratch, d), keep), term));
      });
      return {raised, k.add(k.mul(sum, keep), p), some};
    };
    if (!masked)
      return accept();
    return k.branch(predicate(j), TypeRange{type, type, k.getI1Type()}, accept,
                    [&] { return SmallVector<Value>(carried); });
  });
}

void AttentionRow::clearScratch() {
  k.loop(k.index(0), k.index(value.size), [&](Value d) { k.storeTo(scratch, d, k.real(type, 0)); });
}

/// Calls `body` for each range of keys that the mask may allow. Intervals speak of positions:
/// without key positions these are the keys' own indices, else nothing is known of where they lie.
void AttentionRow::forEachCover(function_ref<void(Value, Value)> body) {
  if (!mask || op.getKeyPositions())
    return body(k.index(0), keyLength);
  Value position = k.toIndex(queryPosition);
  QueryTile tile{b, h, i, k.add(i, k.index(1)), position, position, keyLength, op.getQueryHeads()};
  for (KeyInterval interval : buildKeyIntervals(k, k.getLoc(), mask, tile).cover) {
    Value begin = arith::MaxSIOp::create(k, interval.begin, k.index(0));
    Value end = arith::MinSIOp::create(k, interval.end, keyLength);
    body(begin, end);
  }
}

void AttentionRow::meanOfValues() {
  clearScratch();
  k.loop(k.index(0), keyLength, [&](Value j) {
    k.loop(k.index(0), k.index(value.size), [&](Value d) {
      k.storeTo(scratch, d, k.add(k.load(scratch, d), value.load(k, type, b, g, j, d)));
    });
  });
}

/// Whether a key is looked at: where the mask allows it or, if `fillsByKeys`, in an empty row.
Value AttentionRow::isSeen(Value j, Value any, bool fillsByKeys) {
  Type i1 = k.getI1Type();
  Value allowed = mask ? predicate(j) : k.integer(i1, 1);
  if (fillsByKeys && !op.getSinks())
    allowed = k.select(any, allowed, k.integer(i1, 1));
  return allowed;
}

/// exp(score - maximum) / sum where allowed; what the fill says in an empty row, of which `maximum`
/// and `sum` are those of all keys if the fill is raw.
Value AttentionRow::probability(Value j, Value maximum, Value sum, Value any) {
  Value zero = k.real(type, 0);
  auto ofScore = [&]() -> SmallVector<Value> {
    Value x = scores ? k.load(scores, {b, h, i, j}) : score(j);
    Value below = arith::MinimumFOp::create(k, k.sub(x, maximum), zero);
    return {k.div(math::ExpOp::create(k, below), sum)};
  };
  Value allowed = isSeen(j, any, op.getFill() == Fill::Raw);
  Value p = k.branch(allowed, type, ofScore, [&] { return SmallVector<Value>{zero}; }).front();
  if (!op.getSinks() && op.getFill() == Fill::Mean) {
    Value count =
        arith::UIToFPOp::create(k, type, arith::IndexCastOp::create(k, k.getI64Type(), keyLength));
    p = k.select(any, p, k.div(k.real(type, 1), count));
  }
  if (!op.getSinks() && op.getFill() == Fill::Nan)
    p = k.select(any, p, k.real(type, std::nan("")));
  return p;
}

/// The values times what the probability region makes of their finished probabilities, in
/// `scratch`.
void AttentionRow::weighValues(Value maximum, Value sum, Value any) {
  bool fillsByKeys = op.getFill() == Fill::Raw || op.getFill() == Fill::Mean;
  clearScratch();
  auto add = [&](Value begin, Value end) {
    k.loop(begin, end, [&](Value j) {
      auto weigh = [&]() -> SmallVector<Value> {
        Value p = probability(j, maximum, sum, any);
        Value weight = emitElementRegion(k, op.getProbabilityRegion(), p, pointOf(j));
        k.loop(k.index(0), k.index(value.size), [&](Value d) {
          Value term = k.mul(weight, value.load(k, type, b, g, j, d));
          k.storeTo(scratch, d, k.add(k.load(scratch, d), term));
        });
        return {};
      };
      Value seen = isSeen(j, any, fillsByKeys);
      k.branch(seen, TypeRange(), weigh, [] { return SmallVector<Value>(); });
    });
  };
  if (fillsByKeys)
    add(k.index(0), keyLength);
  else
    forEachCover(add);
}

void AttentionRow::storeWeights(Value maximum, Value sum, Value any) {
  k.loop(k.index(0), keyLength,
         [&](Value j) { k.storeTo(weights, {b, h, i, j}, probability(j, maximum, sum, any)); });
}

void AttentionRow::emit(Value batch, Value head, Value place) {
  b = batch;
  h = head;
  i = place;
  g = k.div(h, k.index(op.getQueryHeads() / op.getKeyHeads()));
  queryPosition = loadPosition(k, k.buffer(op.getQueryPositions()), b, i);

  clearScratch();
  SmallVector<Value> state = initialState();
  forEachCover([&](Value begin, Value end) { state = stream(begin, end, state, bool(mask)); });
  Value any = state[2];
  if (lse) {
    Value total = k.add(state[0], math::LogOp::create(k, state[1]));
    Value nothing = arith::CmpFOp::create(k, arith::CmpFPredicate::OEQ, state[1], k.real(type, 0));
    k.storeTo(lse, {b, h, i},
              k.select(nothing, k.real(type, -std::numeric_limits<double>::infinity()), total));
  }

  // Rows without an allowed key. Sinks take all of their probability; then 0 / 1 is right as it is.
  Value zero = k.index(0);
  Value noKeys = arith::CmpIOp::create(k, arith::CmpIPredicate::eq, keyLength, zero);
  Value maximum = state[0], sum = state[1];
  if (!op.getSinks()) {
    auto keep = [&] { return SmallVector<Value>{maximum, sum}; };
    auto fill = [&]() -> SmallVector<Value> {
      switch (op.getFill()) {
      case Fill::Zero:
        return {maximum, k.real(type, 1)};
      case Fill::Nan:
        return {maximum, k.select(noKeys, k.real(type, 1), k.real(type, std::nan("")))};
      case Fill::Mean: {
        meanOfValues();
        Value count = arith::UIToFPOp::create(
            k, type, arith::IndexCastOp::create(k, k.getI64Type(), keyLength));
        return {maximum, k.select(noKeys, k.real(type, 1), count)};
      }
      case Fill::Raw: {
        clearScratch();
        SmallVector<Value> raw = stream(zero, keyLength, initialState(), /*masked=*/false);
        return {raw[0], k.select(noKeys, k.real(type, 1), raw[1])};
      }
      }
      llvm_unreachable("all fills are handled");
    };
    SmallVector<Value> filled = k.branch(any, TypeRange{type, type}, keep, fill);
    maximum = filled[0];
    sum = filled[1];
  }
  Value divisor = sum;
  if (op.hasProbability()) {
    weighValues(maximum, sum, any);
    // Not a number where that fills the row.
    divisor = k.real(type, 1);
    if (op.getFill() == Fill::Nan && !op.getSinks())
      divisor = k.select(any, divisor, sum);
  }
  k.loop(zero, k.index(value.size),
         [&](Value d) { k.storeTo(output, {b, i, h, d}, k.div(k.load(scratch, d), divisor)); });
  if (weights)
    storeWeights(maximum, sum, any);
}

static LogicalResult buildAttention(KernelBuilder &k, AttentionOp op) {
  // One row of weighted values; each part of a kernel has its own.
  Value scratch =
      memref::AllocaOp::create(k, MemRefType::get({op.getValueSize()}, op.getAccumulationType()));
  AttentionRow row(k, op, scratch);
  Value query = k.buffer(op.getQuery());
  k.parallelNest({k.size(query, 0), k.index(op.getQueryHeads()), k.size(query, 1)},
                 [&](ValueRange at) { row.emit(at[0], at[1], at[2]); });
  return success();
}

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
    if (adjust)
      adjust(copy);
  }
  return mapping.lookup(of.getResult());
}

//===-- The schedule -------------------------------------------------------------------------===//

/// Whether sequences of the model that this is part of, if it says how long they are, may have two
/// parts of `least` keys.
static bool mayHaveTwoParts(Operation *op, int64_t least) {
  auto module = op->getParentOfType<ModuleOp>();
  return !module || llvm::all_of(module.getOps<ModelOp>(), [&](ModelOp model) {
    return static_cast<int64_t>(model.getMaxPositions().value_or(2 * least)) >= 2 * least;
  });
}

/// Of instructions that multiply f16 or bf16: that type, if all that is multiplied has it.
static Type getOperands(AttentionOp op, const Level &level) {
  auto getElement = [](Value value) -> Type {
    if (auto cache = dyn_cast<CacheType>(value.getType()))
      return cache.getElementType();
    return cast<ShapedType>(value.getType()).getElementType();
  };
  Type type = getElement(op.getQuery());
  bool alike = type == getElement(op.getKey()) && type == getElement(op.getValue());
  return level.multipliesHalves && alike && isHalf(type) ? type : Type();
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

/// Queries that fit into one tile leave few blocks of work, so their keys are split; not where
/// probabilities must be known, which no part by itself does.
static Attribute makeAttention(AttentionOp op, const Level &level, int64_t queries) {
  bool one = queries == 1, few = !ShapedType::isDynamic(queries) && queries <= level.few;
  const AttentionSizes &sizes = one ? level.oneQuery : few ? level.fewQueries : level.manyQueries;
  Type operands = getOperands(op, level);
  int64_t rows = operands && !one ? getQueries(op, level) : sizes.queries;
  bool split = !op.hasProbability() && !ShapedType::isDynamic(queries) && queries <= rows &&
               mayHaveTwoParts(op, level.split[0]);
  return AttentionScheduleAttr::get(
      op.getContext(), rows, sizes.keys, one ? AttentionAxis::Heads : AttentionAxis::Queries,
      sizes.scores, sizes.values, split ? ArrayRef<int64_t>(level.split) : ArrayRef<int64_t>(),
      operands);
}

/// Of an open number of queries, one has a schedule of its own, and so have few.
static Attribute makeAttention(AttentionOp op, const Level &level) {
  int64_t queries = op.getQuery().getType().getDimSize(1);
  Attribute schedule = makeAttention(op, level, queries);
  if (!ShapedType::isDynamic(queries))
    return schedule;
  if (level.few)
    schedule = ByRowsScheduleAttr::get(op.getContext(), level.few,
                                       makeAttention(op, level, level.few), schedule);
  return ByRowsScheduleAttr::get(op.getContext(), 1, makeAttention(op, level, 1), schedule);
}

//===-- The interface ------------------------------------------------------------------------===//

namespace {
struct AttentionKernel : KernelOpInterface::ExternalModel<AttentionKernel, AttentionOp> {
  LogicalResult emitLoops(Operation *op, KernelBuilder &k) const {
    return buildAttention(k, cast<AttentionOp>(op));
  }
  /// Batch, query and head; one thread has a head's row of scores.
  int64_t getParallelLoops(Operation *op) const { return getResultAxes(op) - 1; }
  bool hasOwnTiles(Operation *op) const { return isTileAttention(cast<AttentionOp>(op)); }
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
  Value countCacheElements(Operation *op, CostBuilder &cost, OpOperand &operand) const {
    auto cache = cast<CacheType>(operand.get().getType());
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
