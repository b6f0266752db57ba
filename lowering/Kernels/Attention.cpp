// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention as plain loops: for each batch row, head and query one pass over the keys that the
// mask's intervals cover, with a running maximum and sum (Milakov and Gimelshein 2018). No score is
// stored but where probabilities themselves are asked for. Honours every clause of
// `fovea.attention`.
#include "lowering/Kernels/Cost.h"
#include "lowering/Kernels/KernelBuilder.h"
#include "lowering/Kernels/KernelInterface.h"
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

static LogicalResult buildMaskMaterialize(KernelBuilder &k, MaskMaterializeOp op) {
  Value mask = k.cloneIn(op.getMask());
  Value queryPositions = k.buffer(op.getQueryPositions()),
        keyPositions = k.buffer(op.getKeyPositions());
  k.parallelNest(k.sizes(k.outputs[0]), [&](ValueRange at) {
    MaskPoint point{at[0],
                    at[1],
                    at[2],
                    at[3],
                    loadPosition(k, queryPositions, at[0], at[2]),
                    loadPosition(k, keyPositions, at[0], at[3])};
    k.storeTo(k.outputs[0], at, buildPredicate(k, k.getLoc(), mask, point));
  });
  return success();
}

static LogicalResult buildAlibiSlopes(KernelBuilder &k, AlibiSlopesOp op) {
  int64_t heads = op.getSlopes().getType().getDimSize(0);
  int64_t power = int64_t(1) << llvm::Log2_64(heads);
  k.parallelNest(k.index(1), [&](ValueRange) {
    for (int64_t h = 0; h < heads; ++h) {
      // Past the power of two: the odd slopes of twice as many heads.
      double exponent =
          h < power ? -8.0 * (h + 1) / power : -8.0 * (2 * (h - power) + 1) / (2 * power);
      k.storeTo(k.outputs[0], k.index(h),
                k.real(getAccumulationType(op.getSlopes().getType().getElementType()),
                       std::exp2(exponent)));
    }
  });
  return success();
}

Value mlir::fovea::emitRelativeBias(OpBuilder &builder, RelativeBiasOp op) {
  KernelBuilder k(op.getLoc(), builder, 0);
  Type i32 = k.getI32Type(), f64 = k.getF64Type();
  int64_t buckets = op.getBuckets();
  Value zero = k.integer(i32, 0);
  Value distance = k.sub(op.getKeyPosition(), op.getQueryPosition());
  Value base = zero;
  if (op.getBidirectional()) {
    buckets /= 2;
    base = k.select(k.less(zero, distance), k.integer(i32, buckets), zero);
    distance = k.select(k.less(distance, zero), k.sub(zero, distance), distance);
  } else {
    distance = k.select(k.less(distance, zero), k.sub(zero, distance), zero);
  }
  int64_t exact = buckets / 2;
  // Past `exact`, buckets grow with the logarithm up to max_distance.
  Value safe = arith::MaxSIOp::create(k, distance, k.integer(i32, 1));
  Value ratio = k.div(arith::SIToFPOp::create(k, f64, safe), k.real(f64, exact));
  double perLog = (buckets - exact) / std::log(static_cast<double>(op.getMaxDistance()) / exact);
  // Where the exact number is whole, the computed one may lie a rounding error below it.
  Value far = k.add(k.mul(math::LogOp::create(k, ratio), k.real(f64, perLog)), k.real(f64, 1e-12));
  Value farBucket = k.add(arith::FPToSIOp::create(k, i32, far), k.integer(i32, exact));
  farBucket = arith::MinSIOp::create(k, farBucket, k.integer(i32, buckets - 1));
  Value bucket = k.select(k.less(distance, k.integer(i32, exact)), distance, farBucket);
  bucket = k.toIndex(k.add(base, bucket));
  Value element = tensor::ExtractOp::create(k, op.getTable(), ValueRange{bucket, op.getHead()});
  return k.convert(element, op.getBias().getType());
}

//===-- The interface ------------------------------------------------------------------------===//

namespace {
/// What a mask leaves of all pairs, as far as it does not depend on data.
struct MaskShape {
  bool causal = false;
  std::optional<int64_t> width; ///< keys that a query sees at most
};
} // namespace

/// Masks joined by "and"; of "or" and "not" nothing is concluded.
static void readMask(Value mask, MaskShape &shape) {
  Operation *op = mask ? mask.getDefiningOp() : nullptr;
  if (isa_and_nonnull<MaskCausalOp>(op)) {
    shape.causal = true;
  } else if (auto window = dyn_cast_or_null<MaskWindowOp>(op)) {
    std::optional<int64_t> left = window.getLeft(), right = window.getRight();
    if (right && *right == 0)
      shape.causal = true;
    if (left && (right || shape.causal))
      shape.width = std::min(*left + right.value_or(0) + 1, shape.width.value_or(INT64_MAX));
  } else if (auto both = dyn_cast_or_null<MaskAndOp>(op)) {
    // Twice: a window's open side may be closed by a later causal mask.
    for (int round = 0; round < 2; ++round)
      for (Value inner : both.getMasks())
        readMask(inner, shape);
  }
}

/// Pairs of queries and keys that masks leave.
static Value countPairs(CostBuilder &cost, AttentionOp op, Value queries, Value keys) {
  ImplicitLocOpBuilder &b = cost.b;
  MaskShape shape;
  readMask(op.getMask(), shape);
  Value count = cost.mul(queries, keys);
  if (shape.causal) {
    // Query i sees i + 1 keys, or, behind a cache, those of the cache too.
    Value fewer = arith::MinUIOp::create(b, queries, keys);
    Value triangle = arith::ShRUIOp::create(b, cost.mul(fewer, cost.sum(fewer, cost.constant(1))),
                                            cost.constant(1));
    Value others = op.getQueryPositions()
                       ? cost.mul(fewer, arith::SubIOp::create(b, keys, fewer).getResult())
                       : cost.mul(arith::SubIOp::create(b, queries, fewer), keys);
    count = cost.sum(triangle, others);
  }
  if (shape.width && *shape.width > 0)
    count = arith::MinUIOp::create(b, count, cost.mul(queries, cost.constant(*shape.width)));
  return count;
}

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
  Value buildFlops(Operation *operation, CostBuilder &cost) const {
    auto op = cast<AttentionOp>(operation);
    Value query = op.getQuery();
    Value all = countPairs(cost, op, cost.size(query, 1), cost.keyLength(op.getKey()));
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

struct MaskMaterializeKernel
    : KernelOpInterface::ExternalModel<MaskMaterializeKernel, MaskMaterializeOp> {
  LogicalResult emitLoops(Operation *op, KernelBuilder &k) const {
    return buildMaskMaterialize(k, cast<MaskMaterializeOp>(op));
  }
};

struct AlibiSlopesKernel : KernelOpInterface::ExternalModel<AlibiSlopesKernel, AlibiSlopesOp> {
  LogicalResult emitLoops(Operation *op, KernelBuilder &k) const {
    return buildAlibiSlopes(k, cast<AlibiSlopesOp>(op));
  }
};
} // namespace

void mlir::fovea::attachAttentionKernels(MLIRContext &context) {
  AttentionOp::attachInterface<AttentionKernel>(context);
  MaskMaterializeOp::attachInterface<MaskMaterializeKernel>(context);
  AlibiSlopesOp::attachInterface<AlibiSlopesKernel>(context);
}
