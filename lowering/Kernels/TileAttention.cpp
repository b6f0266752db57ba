// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention as a tile program: a tile of queries meets one tile of keys after the other, with a
// running maximum and sum (Milakov and Gimelshein 2018; Dao et al. 2022). The mask's intervals say
// which keys are visited at all and where the predicate need not be asked. Where the schedule
// splits keys, blocks walk parts of them and a second phase merges what they found; every form of
// attention may be split. What it does not cover (`isTileAttention`) is left to the plain loops of
// Attention.cpp.
#include "dialects/Tile/TileDialect.h"
#include "lowering/Kernels/KernelBuilder.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include <array>
#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::fovea;
using tile::TileType;
using tile::ViewType;

namespace {

/// How a step treats its keys.
enum class Keys {
  All,     ///< every key is allowed for every query
  Allowed, ///< the mask and the end of the sequence are asked
  Raw,     ///< the mask is left out, the end of the sequence is asked
  Equal,   ///< as Raw, with one score for all keys
};

/// What is carried from step to step, by row: the greatest score so far, the sum of the weights
/// relative to it and the sum of weighted values.
struct State {
  Value maximum, sum, values;
  SmallVector<Value> asRange() const { return {maximum, sum, values}; }
  static State of(ValueRange range) { return {range[0], range[1], range[2]}; }
};

/// Keys [begin, end) that the mask covers and the part [fullBegin, fullEnd) of whole steps in which
/// it is full, which may be empty. The first step begins at `headBegin`.
struct Cover {
  Value begin, end, headBegin, fullBegin, fullEnd;
  bool mayBeFull = false;
};

/// Keys or values of one batch row and head.
struct Sequence {
  Value memory, length; ///< the length of a cache
};

/// Temporaries that hold the states of parts: `[batch, part, heads, queries]` the first two,
/// `[batch, part, queries, heads, size]` the values. Without parts, where keys are not split, they
/// are empty.
struct Parts {
  unsigned maximum, sum, values;
};

class TileAttention {
public:
  TileAttention(KernelBuilder &k, AttentionOp op, AttentionScheduleAttr schedule);
  void emit();

private:
  // The kernel.
  void bind();
  void addParts();
  void cloneReads();
  void emitGrid(ArrayRef<Value> last, function_ref<void(ValueRange)> body);
  Value tilesOfRows();

  // One block of work.
  void locate(ValueRange at);
  void findPart(Value number, Value count);
  void prepare();
  Value loadQueries();
  void findPositions();
  State nothingSeen();
  State initialState();
  State walkKeys(State state);
  State stream(Value begin, Value end, State state, Keys keys, const Cover *cover);
  State step(Value begin, State state, Keys keys, const Cover *cover);
  State join(State l, State r);
  State mergeParts();
  bool fillsByKeys();
  State fillEmptyRows(State state);
  void finish(State state);
  SmallVector<Cover> findCovers();

  // One tile of scores.
  Value scores(Value begin, Value product, Keys keys, const Cover *cover);
  bool isWhole(unsigned operand);
  Value loadOperand(unsigned operand, Value begin);
  Value applyScore(Value x, ArrayRef<Value> elements, const MaskPoint &point, Value allowed);

  // Tiles.
  TileType type(int64_t rows, int64_t columns, Type element = {});
  Value map(Type element, ValueRange inputs, function_ref<Value(ValueRange)> body);
  Value broadcast(Value tile, int64_t columns);
  Value view(Value memory, ValueRange at, ArrayRef<int64_t> axes, Value length = {});
  Value view(const Sequence &sequence);
  Value viewOfRows(Value memory, Value part = {});
  void storeRows(Value tile, Value memory, Value part = {});
  Value loadRows(Value memory, int64_t size, Value part = {});
  Value viewOfColumn(Value memory, Value part = {});
  void storeColumn(Value tile, Value memory, Value part = {});
  Value loadColumn(Value memory, Value part);
  Value higher(Value l, Value r);
  Value weigh(Value score, Value maximum);
  Value exp2(Value x);
  Value alignDown(Value key);
  Value alignUp(Value key);

  KernelBuilder &k;
  AttentionOp op;
  AttentionScheduleAttr schedule;
  FloatType f32;
  bool byHead;        ///< rows are the heads of one key head, not queries of one head
  int64_t rows, keys; ///< of a tile of scores
  int64_t group;      ///< query heads that share a key head
  bool baseTwo;       ///< scores carry log2(e) from the start, so that exp is exp2
  bool readsByIndex;  ///< the score region reads tensors at places that it computes
  Sequence key, value;
  Value mask, queryLength, keyLength, zero;
  Value output, lse;
  std::optional<Parts> parts;

  // Of the block.
  Value b, h, g, firstRow, endRow;
  Value part;                     ///< its number
  Value firstKey, lastKey;        ///< the block's keys; the first is the first of a step
  Value rowIndex;                 ///< tile of the rows' numbers, those past the end clamped
  Value position, positions;      ///< one for all rows, or a tile
  Value positionMin, positionMax; ///< `index`
  Value queries, keyView, valueView;
};

} // namespace

/// Lower than every finite score, or as low.
static constexpr double kLowest = -std::numeric_limits<float>::max();
static constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();
static constexpr double kLog2E = 1.44269504088896340736, kLn2 = 0.69314718055994530942;

TileAttention::TileAttention(KernelBuilder &k, AttentionOp op, AttentionScheduleAttr schedule)
    : k(k), op(op), schedule(schedule), f32(k.getF32Type()),
      byHead(schedule.getAxis() == AttentionAxis::Heads), rows(schedule.getQueries()),
      keys(schedule.getKeys()), group(op.getQueryHeads() / op.getKeyHeads()),
      baseTwo(!op.hasScore()), readsByIndex(false) {
  if (op.hasScore())
    op.getScore().walk([&](tensor::ExtractOp) { readsByIndex = true; });
}

/// What all blocks of a phase share.
void TileAttention::bind() {
  auto sequence = [&](Value value) -> Sequence {
    if (!isa<CacheType>(value.getType()))
      return {k.buffer(value), {}};
    CacheBuffer cache = k.cache(value);
    return {cache.memory, cache.length};
  };
  key = sequence(op.getKey());
  value = sequence(op.getValue());
  zero = k.index(0);
  queryLength = k.size(k.buffer(op.getQuery()), 1);
  keyLength = key.length ? key.length : k.size(key.memory, 1);
  firstKey = zero;
  lastKey = keyLength;
  part = {};
  output = k.outputs[0];
  lse = op.getLse() ? k.outputs[1] : Value();
}

//===-- Tiles --------------------------------------------------------------------------------===//

/// A tile with a row for each row of scores, these in the lanes that the schedule wants.
TileType TileAttention::type(int64_t rows, int64_t columns, Type element) {
  return TileType::get(rows, columns, element ? element : f32, byHead ? 1 : 0);
}

/// Moves what is the same for all elements to before the map, and drops what nothing uses.
static void tidy(tile::MapOp map) {
  Block &block = map.getBody().front();
  auto isOutside = [](Operation *op, Region &region) {
    return llvm::none_of(op->getOperands(), [&](Value operand) {
      return region.isAncestor(operand.getParentRegion());
    });
  };
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator())) {
    if (!isOutside(&op, map.getBody()))
      continue;
    // A read happens only where the map stands: there may be nothing to read if it is not reached.
    Operation *place = map;
    if (isPure(&op) && !isa<tensor::ExtractOp>(op))
      while (isa<scf::ForOp, scf::IfOp>(place->getParentOp()) &&
             isOutside(&op, *place->getParentRegion()))
        place = place->getParentOp();
    op.moveBefore(place);
  }
  for (unsigned i = block.getNumArguments(); i-- > 0;)
    if (block.getArgument(i).use_empty()) {
      block.eraseArgument(i);
      map->eraseOperand(i);
    }
}

/// A tile of the first input's shape and of elements of `element`, f32 by default.
Value TileAttention::map(Type element, ValueRange inputs, function_ref<Value(ValueRange)> body) {
  TileType result =
      cast<TileType>(inputs.front().getType()).withElementType(element ? element : f32);
  auto op = tile::MapOp::create(k, result, inputs, [&](OpBuilder &, Location, ValueRange elements) {
    return body(elements);
  });
  tidy(op);
  return op;
}

Value TileAttention::broadcast(Value tile, int64_t columns) {
  TileType from = cast<TileType>(tile.getType());
  return tile::BroadcastOp::create(k, type(rows, columns, from.getElementType()), tile);
}

Value TileAttention::view(Value memory, ValueRange at, ArrayRef<int64_t> axes, Value length) {
  auto from = cast<MemRefType>(memory.getType());
  int64_t count = axes.size() == 1 ? 1 : from.getDimSize(axes.front());
  auto result = ViewType::get(length ? ShapedType::kDynamic : count, from.getDimSize(axes.back()),
                              from.getElementType());
  return tile::ViewOp::create(k, result, memory, at, length, axes);
}

Value TileAttention::view(const Sequence &sequence) {
  if (sequence.length)
    return view(sequence.memory, {b, g}, {2, 3}, sequence.length);
  return view(sequence.memory, {b, g}, {1, 3});
}

/// Of `[B, Sq, Hq, size]`, or `[B, parts, Sq, Hq, size]`, what lies by the block's rows.
Value TileAttention::viewOfRows(Value memory, Value part) {
  SmallVector<Value> at{b};
  if (part)
    at.push_back(part);
  int64_t axis = at.size();
  at.push_back(byHead ? zero : h);
  if (byHead)
    return view(memory, at, {axis + 1, axis + 2}, endRow);
  return view(memory, at, {axis, axis + 2});
}

void TileAttention::storeRows(Value tile, Value memory, Value part) {
  auto type = cast<TileType>(tile.getType());
  TileType wanted =
      TileType::get(rows, type.getColumns(), cast<MemRefType>(memory.getType()).getElementType());
  if (type != wanted)
    tile = tile::CastOp::create(k, wanted, tile);
  tile::StoreOp::create(k, tile, viewOfRows(memory, part), firstRow, zero);
}

/// The rows as they lie, by the memory's elements.
Value TileAttention::loadRows(Value memory, int64_t size, Value part) {
  Type element = cast<MemRefType>(memory.getType()).getElementType();
  return tile::LoadOp::create(k, TileType::get(rows, size, element), viewOfRows(memory, part),
                              firstRow, zero);
}

/// Of `[B, Hq, Sq]`, or `[B, parts, Hq, Sq]`, what lies by the block's rows.
Value TileAttention::viewOfColumn(Value memory, Value part) {
  SmallVector<Value> at{b};
  if (part)
    at.push_back(part);
  int64_t axis = at.size();
  return byHead ? view(memory, at, {axis, axis + 1}, endRow) : view(memory, at, {axis + 1, axis});
}

void TileAttention::storeColumn(Value tile, Value memory, Value part) {
  tile::StoreOp::create(k, tile, viewOfColumn(memory, part), firstRow, byHead ? zero : h);
}

Value TileAttention::loadColumn(Value memory, Value part) {
  return tile::LoadOp::create(k, type(rows, 1), viewOfColumn(memory, part), firstRow,
                              byHead ? zero : h);
}

Value TileAttention::exp2(Value x) {
  if (!baseTwo)
    x = k.mul(x, k.real(f32, kLog2E));
  return math::Exp2Op::create(k, x);
}

/// The greater one; compared so that it is one instruction.
static Value greater(KernelBuilder &k, Value l, Value r) {
  return k.select(arith::CmpFOp::create(k, arith::CmpFPredicate::OGT, l, r), l, r);
}

/// By row, the greater one.
Value TileAttention::higher(Value l, Value r) {
  return map({}, {l, r}, [&](ValueRange x) { return greater(k, x[0], x[1]); });
}

/// By row, the weight of a score where `maximum` has weight one.
Value TileAttention::weigh(Value score, Value maximum) {
  return map({}, {score, maximum}, [&](ValueRange x) { return exp2(k.sub(x[0], x[1])); });
}

//===-- One tile of scores -------------------------------------------------------------------===//

bool TileAttention::isWhole(unsigned operand) {
  Block &block = op.getScore().front();
  return isa<RankedTensorType>(block.getArgument(AttentionOp::kScoreArgs + operand).getType());
}

/// The elements of an operand that has an axis for keys, for the keys from `begin`; null if they
/// are better read one by one.
Value TileAttention::loadOperand(unsigned operand, Value begin) {
  Value memory = k.buffer(op.getScoreOperands()[operand]);
  auto memoryType = cast<MemRefType>(memory.getType());
  // Elements outside of the operand could make the region read outside of another.
  if (isWhole(operand) || readsByIndex || !isa<FloatType>(memoryType.getElementType()))
    return {};
  AffineMap map = op.getScoreMap(operand);
  int64_t rowAxis = -1, keyAxis = -1, rowDimension = byHead ? 1 : 2;
  SmallVector<Value> at, places{b, h, byHead ? zero : Value(), Value()};
  for (int64_t axis = 0; axis < map.getNumResults(); ++axis) {
    int64_t dimension = map.getDimPosition(axis);
    if (dimension == 3)
      keyAxis = axis;
    else if (dimension == rowDimension)
      rowAxis = axis;
    else
      at.push_back(places[dimension]);
  }
  Type element = memoryType.getElementType();
  if (keyAxis < 0)
    return {};
  if (rowAxis >= 0)
    return tile::LoadOp::create(k, type(rows, keys, element), view(memory, at, {rowAxis, keyAxis}),
                                firstRow, begin);
  Value row =
      tile::LoadOp::create(k, type(1, keys, element), view(memory, at, keyAxis), zero, begin);
  return broadcast(row, keys);
}

/// The score region for one element. Where `allowed` is given and false, the region would not have
/// been run: its reads are turned to a place that exists, its divisors to one.
Value TileAttention::applyScore(Value x, ArrayRef<Value> elements, const MaskPoint &point,
                                Value allowed) {
  Block &block = op.getScore().front();
  IRMapping mapping;
  unsigned argument = 0;
  mapping.map(block.getArgument(argument++), x);
  SmallVector<Value> places{point.batch, point.head, point.query, point.key};
  for (auto [n, operand] : llvm::enumerate(op.getScoreOperands())) {
    Value element = elements[n];
    if (isWhole(n)) {
      element = k.cloneIn(operand);
    } else if (!element) {
      SmallVector<Value> at;
      AffineMap map = op.getScoreMap(n);
      for (unsigned result = 0; result < map.getNumResults(); ++result)
        at.push_back(places[map.getDimPosition(result)]);
      element = k.load(k.buffer(operand), at);
    }
    mapping.map(block.getArgument(argument++), element);
  }
  for (Value last : {point.batch, point.head, point.queryPosition, point.keyPosition})
    mapping.map(block.getArgument(argument++), last);
  for (Operation &inner : block.without_terminator()) {
    Operation *copy = k.clone(inner, mapping);
    bool divides = isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
                       arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp>(copy);
    if (!allowed || !(divides || isa<tensor::ExtractOp>(copy)))
      continue;
    OpBuilder::InsertionGuard guard(k);
    k.setInsertionPoint(copy);
    for (OpOperand &operand : copy->getOpOperands().drop_front()) {
      Type type = operand.get().getType();
      if (matchPattern(operand.get(), m_Constant()))
        continue;
      Value harmless = arith::ConstantOp::create(k, divides ? TypedAttr(k.getIntegerAttr(type, 1))
                                                            : k.getIndexAttr(0));
      operand.set(k.select(allowed, operand.get(), harmless));
    }
  }
  return mapping.lookup(block.getTerminator()->getOperand(0));
}

/// The products with the score region applied, and minus infinity where no key is allowed.
Value TileAttention::scores(Value begin, Value product, Keys kind, const Cover *cover) {
  if (kind == Keys::All && !op.hasScore())
    return product;
  Type i32 = k.getI32Type();
  Value keyPositions = k.buffer(op.getKeyPositions());
  SmallVector<Value> inputs{product, tile::IotaOp::create(k, type(rows, keys, i32), begin, 1),
                            broadcast(rowIndex, keys)};
  Value lastKey = k.toI32(k.sub(keyLength, k.index(1)));
  if (positions)
    inputs.push_back(broadcast(positions, keys));
  if (keyPositions) {
    Value numbers = tile::IotaOp::create(k, type(1, keys, i32), begin, 1);
    Value at = map(i32, numbers, [&](ValueRange number) {
      Value clamped = arith::MinSIOp::create(k, number[0], lastKey);
      return loadPosition(k, keyPositions, b, k.toIndex(clamped));
    });
    inputs.push_back(broadcast(at, keys));
  }
  SmallVector<int> operandInput(op.getScoreOperands().size(), -1);
  for (unsigned n = 0; n < operandInput.size(); ++n)
    if (Value loaded = loadOperand(n, begin)) {
      operandInput[n] = inputs.size();
      inputs.push_back(loaded);
    }
  Value bound = cover ? cover->end : keyLength;
  Value end = k.toI32(bound), first = cover ? k.toI32(cover->begin) : Value();
  return map({}, inputs, [&](ValueRange element) {
    Value x = element[0], number = element[1];
    unsigned next = 3;
    MaskPoint point{b,        h,     zero, k.toIndex(arith::MinSIOp::create(k, number, lastKey)),
                    position, number};
    (byHead ? point.head : point.query) = k.toIndex(element[2]);
    if (positions)
      point.queryPosition = element[next++];
    if (keyPositions)
      point.keyPosition = element[next++];
    Value allowed;
    if (kind != Keys::All) {
      allowed = k.less(number, end);
      if (first)
        allowed = arith::AndIOp::create(
            k, allowed, arith::CmpIOp::create(k, arith::CmpIPredicate::sge, number, first));
      if (mask && kind == Keys::Allowed)
        allowed = arith::AndIOp::create(k, allowed, buildPredicate(k, k.getLoc(), mask, point));
    }
    if (kind == Keys::Equal) {
      x = k.real(f32, 0);
    } else if (op.hasScore()) {
      SmallVector<Value> elements;
      for (int input : operandInput)
        elements.push_back(input < 0 ? Value() : element[input]);
      x = applyScore(x, elements, point, allowed);
    }
    return allowed ? k.select(allowed, x, k.real(f32, kMinusInfinity)) : x;
  });
}

//===-- Over the keys ------------------------------------------------------------------------===//

/// The keys from `begin`, at most as many as a tile has.
State TileAttention::step(Value begin, State state, Keys kind, const Cover *cover) {
  Type keyElement = cast<ViewType>(keyView.getType()).getElementType();
  Type valueElement = cast<ViewType>(valueView.getType()).getElementType();
  TileType square = type(rows, keys), column = type(rows, 1);
  int64_t size = op.getHeadSize(), valueSize = op.getValueSize();
  Value product;
  if (kind == Keys::Equal) {
    product = tile::SplatOp::create(k, square, k.real(f32, 0));
  } else {
    Value key =
        tile::LoadOp::create(k, TileType::get(keys, size, keyElement), keyView, begin, zero);
    product = tile::DotOp::create(k, square, queries, key, Value(), /*transpose_b=*/true,
                                  k.getDenseI64ArrayAttr(schedule.getScores()));
  }
  Value score = scores(begin, product, kind, cover);
  Value highest = tile::ReduceOp::create(k, column, tile::ReduceKind::Maximum, score, 1);
  Value maximum = higher(state.maximum, highest);
  Value weights = weigh(score, broadcast(maximum, keys));
  Value kept = weigh(state.maximum, maximum);
  Value added = tile::ReduceOp::create(k, column, tile::ReduceKind::Sum, weights, 1);
  Value sum = map({}, {state.sum, kept, added},
                  [&](ValueRange x) { return k.add(k.mul(x[0], x[1]), x[2]); });
  Value values = map({}, {state.values, broadcast(kept, valueSize)},
                     [&](ValueRange x) { return k.mul(x[0], x[1]); });
  Value value =
      tile::LoadOp::create(k, TileType::get(keys, valueSize, valueElement), valueView, begin, zero);
  values = tile::DotOp::create(k, values.getType(), weights, value, values, /*transpose_b=*/false,
                               k.getDenseI64ArrayAttr(schedule.getValues()));
  return {maximum, sum, values};
}

/// The first key of the step that has `key`.
Value TileAttention::alignDown(Value key) {
  return k.sub(key, arith::RemUIOp::create(k, key, k.index(keys)));
}

/// The first key of a step at or after `key`.
Value TileAttention::alignUp(Value key) { return alignDown(k.add(key, k.index(keys - 1))); }

/// Steps over the keys from `begin`, a multiple of the tile's keys, up to `end`.
State TileAttention::stream(Value begin, Value end, State state, Keys kind, const Cover *cover) {
  auto loop = scf::ForOp::create(k, begin, end, k.index(keys), state.asRange());
  OpBuilder::InsertionGuard guard(k);
  k.setInsertionPointToStart(loop.getBody());
  State next = step(loop.getInductionVar(), State::of(loop.getRegionIterArgs()), kind, cover);
  scf::YieldOp::create(k, next.asRange());
  return State::of(loop.getResults());
}

/// The mask's intervals speak of positions: without key positions these are the keys' own indices,
/// else nothing is known of where they lie.
SmallVector<Cover> TileAttention::findCovers() {
  KeyIntervals intervals;
  if (op.getKeyPositions()) {
    intervals.cover.push_back({firstKey, lastKey});
  } else {
    Value begin = byHead ? zero : firstRow;
    Value end = byHead ? k.index(1)
                       : Value(arith::MinSIOp::create(k, k.add(firstRow, k.index(rows)), endRow));
    QueryTile tile{b, h, begin, end, positionMin, positionMax, keyLength, byHead ? rows : 1};
    intervals = buildKeyIntervals(k, k.getLoc(), mask, tile);
  }
  auto min = [&](Value l, Value r) -> Value { return arith::MinSIOp::create(k, l, r); };
  auto max = [&](Value l, Value r) -> Value { return arith::MaxSIOp::create(k, l, r); };
  SmallVector<Cover> covers;
  for (KeyInterval interval : intervals.cover) {
    Cover cover;
    cover.begin = min(max(interval.begin, firstKey), lastKey);
    cover.end = max(min(interval.end, lastKey), cover.begin);
    cover.fullBegin = cover.fullEnd = cover.end;
    // Of the full intervals, the one that gives most whole steps.
    Value most = zero;
    cover.mayBeFull = !intervals.full.empty();
    for (KeyInterval full : intervals.full) {
      Value begin = alignUp(min(max(full.begin, cover.begin), cover.end));
      Value end = alignDown(max(min(full.end, cover.end), cover.begin));
      Value more = k.less(most, k.sub(end, begin));
      most = k.select(more, k.sub(end, begin), most);
      cover.fullBegin = k.select(more, begin, cover.fullBegin);
      cover.fullEnd = k.select(more, end, cover.fullEnd);
    }
    cover.headBegin = k.select(k.less(cover.begin, cover.end), alignDown(cover.begin), cover.end);
    covers.push_back(cover);
  }
  return covers;
}

/// Head and tail of each cover with the predicate, what is full between them without. Each body
/// stands in the kernel once.
State TileAttention::walkKeys(State state) {
  if (!mask) {
    Value whole = alignDown(lastKey);
    state = stream(firstKey, whole, state, Keys::All, nullptr);
    return stream(whole, lastKey, state, Keys::Allowed, nullptr);
  }
  SmallVector<Cover> covers = findCovers();
  // One row of numbers for each pass: where to ask, where not to, and the cover.
  using Pass = std::array<Value, 6>;
  bool anyFull = false;
  SmallVector<Pass> passes;
  for (const Cover &c : covers) {
    passes.push_back({c.headBegin, c.fullBegin, c.fullBegin, c.fullEnd, c.begin, c.end});
    if (!c.mayBeFull)
      continue;
    anyFull = true;
    passes.push_back({c.fullEnd, c.end, zero, zero, c.begin, c.end});
  }
  auto run = [&](const Pass &pass, State from) {
    // Covers may meet within a step. Outside of a single one the mask allows nothing.
    Cover cover;
    cover.begin = pass[4];
    cover.end = pass[5];
    from = stream(pass[0], pass[1], from, Keys::Allowed, covers.size() > 1 ? &cover : nullptr);
    return anyFull ? stream(pass[2], pass[3], from, Keys::All, nullptr) : from;
  };
  if (passes.empty())
    return state;
  if (passes.size() == 1)
    return run(passes.front(), state);
  auto loop = scf::ForOp::create(k, zero, k.index(passes.size()), k.index(1), state.asRange());
  OpBuilder::InsertionGuard guard(k);
  k.setInsertionPointToStart(loop.getBody());
  Pass now = passes.front();
  for (auto [n, pass] : llvm::drop_begin(llvm::enumerate(passes))) {
    Value isThis =
        arith::CmpIOp::create(k, arith::CmpIPredicate::eq, loop.getInductionVar(), k.index(n));
    for (auto [number, other] : llvm::zip(now, pass))
      if (number != other)
        number = k.select(isThis, other, number);
  }
  scf::YieldOp::create(k, run(now, State::of(loop.getRegionIterArgs())).asRange());
  return State::of(loop.getResults());
}

//===-- One block ----------------------------------------------------------------------------===//

/// The rows' queries in f32, times the scale and, where a score is nothing but the product,
/// log2(e).
Value TileAttention::loadQueries() {
  Value result = loadRows(k.buffer(op.getQuery()), op.getHeadSize());
  double factor = op.getScale().convertToDouble() * (baseTwo ? kLog2E : 1);
  result = map({}, result,
               [&](ValueRange x) { return k.mul(k.convert(x[0], f32), k.real(f32, factor)); });
  TileType wanted = type(rows, op.getHeadSize());
  return result.getType() == wanted ? result : tile::CastOp::create(k, wanted, result);
}

/// The rows' numbers and positions. Rows past the end are as the last one.
void TileAttention::findPositions() {
  Type i32 = k.getI32Type();
  TileType column = type(rows, 1, i32);
  Value last = k.toI32(k.sub(endRow, k.index(1)));
  Value numbers = tile::IotaOp::create(k, column, firstRow, 0);
  rowIndex = map(i32, numbers,
                 [&](ValueRange number) { return arith::MinSIOp::create(k, number[0], last); });
  Value given = k.buffer(op.getQueryPositions());
  if (byHead) {
    position = loadPosition(k, given, b, zero);
    positionMin = positionMax = k.toIndex(position);
    return;
  }
  Value end = arith::MinSIOp::create(k, k.add(firstRow, k.index(rows)), endRow);
  if (!given) {
    positions = rowIndex;
    positionMin = firstRow;
    positionMax = k.sub(end, k.index(1));
    return;
  }
  positions = map(i32, rowIndex, [&](ValueRange number) {
    return loadPosition(k, given, b, k.toIndex(number[0]));
  });
  Value first = loadPosition(k, given, b, firstRow);
  SmallVector<Value> range =
      k.loopCarried(firstRow, end, {first, first}, [&](Value i, ValueRange carried) {
        Value next = loadPosition(k, given, b, i);
        return SmallVector<Value>{arith::MinSIOp::create(k, carried[0], next),
                                  arith::MaxSIOp::create(k, carried[1], next)};
      });
  positionMin = k.toIndex(range[0]);
  positionMax = k.toIndex(range[1]);
}

/// The maximum starts at a finite number, so that no difference of maxima is NaN.
State TileAttention::nothingSeen() {
  TileType column = type(rows, 1);
  return {tile::SplatOp::create(k, column, k.real(f32, kLowest)),
          tile::SplatOp::create(k, column, k.real(f32, 0)),
          tile::SplatOp::create(k, type(rows, op.getValueSize()), k.real(f32, 0))};
}

/// Nothing seen yet; or, in the first part, the sink, as a key of weight one and without a value.
State TileAttention::initialState() {
  State state = nothingSeen();
  Value sinks = k.buffer(op.getSinks());
  if (!sinks)
    return state;
  Value lowest = k.real(f32, kLowest);
  Value isFirst = part ? k.less(part, k.index(1)) : Value();
  Value sink = map({}, rowIndex, [&](ValueRange row) {
    Value x = k.loadAs(f32, sinks, byHead ? k.toIndex(row[0]) : h);
    if (isFirst)
      x = k.select(isFirst, x, k.real(f32, kMinusInfinity));
    return baseTwo ? k.mul(x, k.real(f32, kLog2E)) : x;
  });
  state.maximum = map({}, sink, [&](ValueRange x) { return greater(k, lowest, x[0]); });
  state.sum = map({}, sink, [&](ValueRange x) {
    return k.select(k.less(x[0], lowest), k.real(f32, 0), k.real(f32, 1));
  });
  return state;
}

/// What a walk over the keys of both would have found.
State TileAttention::join(State l, State r) {
  Value maximum = higher(l.maximum, r.maximum);
  Value ofL = weigh(l.maximum, maximum), ofR = weigh(r.maximum, maximum);
  auto add = [&](Value l, Value ofL, Value r, Value ofR) {
    return map({}, {l, ofL, r, ofR},
               [&](ValueRange x) { return k.add(k.mul(x[0], x[1]), k.mul(x[2], x[3])); });
  };
  int64_t size = op.getValueSize();
  return {maximum, add(l.sum, ofL, r.sum, ofR),
          add(l.values, broadcast(ofL, size), r.values, broadcast(ofR, size))};
}

/// The state after all keys of the block's rows. A part in which no key was allowed has no weight.
State TileAttention::mergeParts() {
  Value count = k.size(k.temporary(parts->maximum), 1);
  auto loop = scf::ForOp::create(k, zero, count, k.index(1), nothingSeen().asRange());
  OpBuilder::InsertionGuard guard(k);
  k.setInsertionPointToStart(loop.getBody());
  Value now = loop.getInductionVar();
  Value values = loadRows(k.temporary(parts->values), op.getValueSize(), now);
  TileType wanted = type(rows, op.getValueSize());
  if (values.getType() != wanted)
    values = tile::CastOp::create(k, wanted, values);
  State next{loadColumn(k.temporary(parts->maximum), now), loadColumn(k.temporary(parts->sum), now),
             values};
  next = join(State::of(loop.getRegionIterArgs()), next);
  scf::YieldOp::create(k, next.asRange());
  return State::of(loop.getResults());
}

/// Half of the weight that a row's greatest score has.
static constexpr double kEmpty = 0.5;

/// Whether rows in which no key is allowed get a result from a second pass over all keys.
bool TileAttention::fillsByKeys() {
  return op.getMask() && !op.getSinks() &&
         (op.getFill() == Fill::Mean || op.getFill() == Fill::Raw);
}

/// Rows in which no key is allowed, if there are any, from a second pass over all keys.
State TileAttention::fillEmptyRows(State state) {
  if (!fillsByKeys())
    return state;
  Value isEmpty = map({}, state.sum, [&](ValueRange x) {
    return k.select(k.less(x[0], k.real(f32, kEmpty)), k.real(f32, 1), k.real(f32, 0));
  });
  Value any = tile::ExtractOp::create(
      k, tile::ReduceOp::create(k, type(1, 1), tile::ReduceKind::Maximum, isEmpty, 0));
  SmallVector<Value> filled = k.branch(
      k.less(k.real(f32, kEmpty), any), {state.sum.getType(), state.values.getType()},
      [&]() -> SmallVector<Value> {
        Keys kind = op.getFill() == Fill::Mean ? Keys::Equal : Keys::Raw;
        State other = stream(zero, keyLength, nothingSeen(), kind, nullptr);
        auto choose = [&](Value tile, Value filling) {
          Value flags =
              tile.getType() == isEmpty.getType() ? isEmpty : broadcast(isEmpty, op.getValueSize());
          return map({}, {tile, filling, flags}, [&](ValueRange x) {
            return k.select(k.less(k.real(f32, kEmpty), x[2]), x[1], x[0]);
          });
        };
        return {choose(state.sum, other.sum), choose(state.values, other.values)};
      },
      [&]() -> SmallVector<Value> { return {state.sum, state.values}; });
  return {state.maximum, filled[0], filled[1]};
}

void TileAttention::finish(State state) {
  Value nan = k.real(f32, std::nan(""));
  if (lse) {
    Value result = map({}, {state.maximum, state.sum}, [&](ValueRange x) {
      Value highest = baseTwo ? k.mul(x[0], k.real(f32, kLn2)) : x[0];
      return k.select(k.less(x[1], k.real(f32, kEmpty)), k.real(f32, kMinusInfinity),
                      k.add(highest, math::LogOp::create(k, x[1])));
    });
    storeColumn(result, lse);
  }
  state = fillEmptyRows(state);
  // Without a mask a row has no weight only if all scores are minus infinity.
  bool isZero = op.getSinks() || (op.getMask() && op.getFill() == Fill::Zero);
  Value none = k.real(f32, 0);
  if (!isZero)
    none = k.select(arith::CmpIOp::create(k, arith::CmpIPredicate::eq, keyLength, zero), none, nan);
  Value factors = map({}, state.sum, [&](ValueRange x) {
    return k.select(k.less(x[0], k.real(f32, kEmpty)), none, k.div(k.real(f32, 1), x[0]));
  });
  int64_t size = op.getValueSize();
  Value result = map({}, {state.values, broadcast(factors, size)},
                     [&](ValueRange x) { return k.mul(x[0], x[1]); });
  storeRows(result, output);
}

/// The block's rows.
void TileAttention::locate(ValueRange at) {
  b = at[0];
  Value tile = k.mul(at[2], k.index(rows));
  if (byHead) {
    g = at[1];
    Value first = k.mul(g, k.index(group));
    h = firstRow = k.add(first, tile);
    endRow = k.add(first, k.index(group));
  } else {
    h = at[1];
    g = k.div(h, k.index(group));
    firstRow = tile;
    endRow = queryLength;
  }
}

/// Of `count` parts of whole steps, as equal as can be, the keys of one.
void TileAttention::findPart(Value number, Value count) {
  part = number;
  Value steps = arith::CeilDivUIOp::create(k, keyLength, k.index(keys));
  auto bound = [&](Value number) {
    return k.mul(k.div(k.mul(number, steps), count), k.index(keys));
  };
  firstKey = bound(number);
  lastKey = arith::MinSIOp::create(k, bound(k.add(number, k.index(1))), keyLength);
}

/// What a walk over keys reads.
void TileAttention::prepare() {
  findPositions();
  queries = loadQueries();
  keyView = view(key);
  valueView = view(value);
}

/// What the mask and the score region read whole is made known before any block of work.
void TileAttention::cloneReads() {
  mask = op.getMask() ? k.cloneIn(op.getMask()) : Value();
  if (op.hasScore())
    for (auto [n, operand] : llvm::enumerate(op.getScoreOperands()))
      if (isWhole(n))
        k.cloneIn(operand);
}

Value TileAttention::tilesOfRows() {
  return byHead ? k.index(llvm::divideCeil(group, rows))
                : Value(arith::CeilDivUIOp::create(k, queryLength, k.index(rows)));
}

/// How many parts there are is the temporaries' own size. Keys are split where each of two parts
/// has enough, and no further than there is enough work.
void TileAttention::addParts() {
  Value query = k.buffer(op.getQuery());
  auto type = cast<MemRefType>(query.getType());
  Value batch = k.size(query, 0), one = k.index(1);
  int64_t least = schedule.getSplit()[0], enough = schedule.getSplit()[1];
  Value blocks = k.mul(batch, k.index(byHead ? op.getKeyHeads() : op.getQueryHeads()));
  blocks = arith::MaxSIOp::create(k, k.mul(blocks, tilesOfRows()), one);
  Value wanted = arith::CeilDivUIOp::create(k, k.index(enough), blocks);
  Value count = arith::MinSIOp::create(k, wanted, k.div(keyLength, k.index(least)));
  count = k.select(k.less(one, count), count, zero);

  int64_t heads = op.getQueryHeads();
  SmallVector<int64_t> shape{type.getDimSize(0), ShapedType::kDynamic, heads, type.getDimSize(1)};
  SmallVector<Value> sizes;
  if (type.isDynamicDim(0))
    sizes.push_back(batch);
  sizes.push_back(count);
  if (type.isDynamicDim(1))
    sizes.push_back(queryLength);
  MemRefType column = MemRefType::get(shape, f32);
  MemRefType values =
      MemRefType::get({shape[0], shape[1], shape[3], heads, op.getValueSize()}, f32);
  unsigned maximum = k.addTemporary(column, sizes), sum = k.addTemporary(column, sizes);
  parts = Parts{maximum, sum, k.addTemporary(values, sizes)};
}

/// Blocks of work over batch rows, heads and tiles of rows, and `last`.
void TileAttention::emitGrid(ArrayRef<Value> last, function_ref<void(ValueRange)> body) {
  SmallVector<Value> extents{k.size(k.buffer(op.getQuery()), 0),
                             k.index(byHead ? op.getKeyHeads() : op.getQueryHeads()),
                             tilesOfRows()};
  llvm::append_range(extents, last);
  auto kernel = tile::KernelOp::create(k, extents, [](OpBuilder &, Location, ValueRange) {});
  OpBuilder::InsertionGuard guard(k);
  k.setInsertionPointToStart(&kernel.getBody().front());
  body(kernel.getBody().getArguments());
}

/// Without a split a block walks all keys and finishes. With it there may still be one part only,
/// and then it does the same; the merge has no work.
void TileAttention::emit() {
  bind();
  cloneReads();
  if (schedule.getSplit().empty())
    return emitGrid({}, [&](ValueRange at) {
      locate(at);
      prepare();
      finish(walkKeys(initialState()));
    });
  addParts();
  Value known = k.size(k.temporary(parts->maximum), 1), one = k.index(1);
  Value count = arith::MaxSIOp::create(k, known, one);
  emitGrid(count, [&](ValueRange at) {
    locate(at);
    findPart(at[3], count);
    prepare();
    State state = walkKeys(initialState());
    auto keep = [&]() -> SmallVector<Value> {
      storeColumn(state.maximum, k.temporary(parts->maximum), part);
      storeColumn(state.sum, k.temporary(parts->sum), part);
      storeRows(state.values, k.temporary(parts->values), part);
      return {};
    };
    auto finishAtOnce = [&]() -> SmallVector<Value> {
      finish(state);
      return {};
    };
    k.branch(k.less(one, count), {}, keep, finishAtOnce);
  });

  k.finishingPhase("attention_merge");
  bind();
  if (fillsByKeys())
    cloneReads();
  Value isSplit = arith::MinSIOp::create(k, k.size(k.temporary(parts->maximum), 1), k.index(1));
  emitGrid(isSplit, [&](ValueRange at) {
    locate(at);
    State state = mergeParts();
    if (fillsByKeys())
      prepare();
    finish(state);
  });
}

LogicalResult mlir::fovea::buildTileAttention(KernelBuilder &k, AttentionOp op,
                                              AttentionScheduleAttr schedule) {
  if (!isTileAttention(op))
    return op.emitOpError("expects a schedule of plain loops: no tile program computes this form");
  if (schedule.getAxis() == AttentionAxis::Heads && op.getQuery().getType().getDimSize(1) != 1)
    return op.emitOpError("expects one query for a schedule of heads, got ")
           << op.getQuery().getType();
  TileAttention(k, op, schedule).emit();
  return success();
}

bool mlir::fovea::isTileAttention(AttentionOp op) {
  auto isNarrow = [](Value value) {
    Type type = value.getType();
    auto cache = dyn_cast<CacheType>(type);
    Type element = cache ? cache.getElementType() : cast<ShapedType>(type).getElementType();
    return element.isF32() || element.isF16() || element.isBF16();
  };
  // 64 rows of queries and weighted values then fit into 256 KiB, which caches beyond the nearest
  // hold.
  constexpr int64_t kLargestRow = 1024;
  return !op.getAdditive() && !op.getWeights() &&
         op.getHeadSize() + op.getValueSize() <= kLargestRow &&
         llvm::all_of(ValueRange{op.getQuery(), op.getKey(), op.getValue()}, isNarrow);
}
