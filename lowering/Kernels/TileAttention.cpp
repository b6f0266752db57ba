// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention as a tile program: a tile of queries meets one tile of keys after the other, with a
// running maximum and sum (Milakov and Gimelshein 2018; Dao et al. 2022). The mask's intervals say
// which keys are visited at all and where the predicate need not be asked. Where the schedule
// splits keys, blocks walk parts of them and a second phase merges what they found. A probability
// region needs finished probabilities: a first walk finds maximum and sum alone, a second computes
// the scores once more and multiplies; so does a walk that stores the weights where they are asked
// for. Keys are not split then.
#include "lowering/Kernels/TileAttention.h"
#include "dialects/ElementTypes.h"
#include "lowering/Kernels/TileBuilder.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fovea;
using tile::TileType;

static constexpr double kLn2 = 0.69314718055994530942;

TileAttention::TileAttention(KernelBuilder &k, AttentionOp op, AttentionScheduleAttr schedule)
    : k(k), op(op), schedule(schedule), wide(op.getAccumulationType()),
      byHead(schedule.getAxis() == AttentionAxis::Heads),
      hasQueries(byHead && op.getQuery().getType().getDimSize(1) != 1 && k.mostRows != 1),
      rows(schedule.getQueries()), keys(schedule.getKeys()),
      group(op.getQueryHeads() / op.getKeyHeads()), baseTwo(!op.hasScore()),
      factor(op.getScale().convertToDouble() * (baseTwo ? kLog2E : 1)),
      scalesWeights(schedule.getOperands() && baseTwo && factor > 0), readsByIndex(false) {
  for (Region *region : {&op.getScore(), &op.getProbability()})
    region->walk([&](tensor::ExtractOp) { readsByIndex = true; });
}

/// What all blocks of a phase share.
void TileAttention::bind() {
  auto sequence = [&](Value value, Value scales) -> Sequence {
    if (!isa<CacheType>(value.getType()))
      return {k.buffer(value), {}, {}};
    CacheBuffer cache = k.cache(value);
    return {cache.memory, cache.length, scales ? k.cache(scales).memory : Value()};
  };
  key = sequence(op.getKey(), op.getKeyScales());
  value = sequence(op.getValue(), op.getValueScales());
  zero = k.index(0);
  queryLength = k.size(k.buffer(op.getQuery()), 1);
  keyLength = key.length ? key.length : k.size(key.memory, 1);
  firstKey = zero;
  lastKey = keyLength;
  part = {};
  output = k.outputs[0];
  lse = op.getLse() ? k.outputs[1] : Value();
  weights = op.getWeights() ? k.outputs.back() : Value();
}

//===-- Tiles --------------------------------------------------------------------------------===//

/// A tile with a row for each row of scores, these in the lanes that the schedule wants.
TileType TileAttention::type(int64_t rows, int64_t columns, Type element) {
  return TileType::get(rows, columns, element ? element : wide, byHead ? 1 : 0);
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

/// A tile of the first input's shape and of elements of `element`, `wide` by default.
Value TileAttention::map(Type element, ValueRange inputs, function_ref<Value(ValueRange)> body) {
  TileType result =
      cast<TileType>(inputs.front().getType()).withElementType(element ? element : wide);
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

Value TileAttention::castTo(Value tile, TileType type) {
  return tile.getType() == type ? tile : tile::CastOp::create(k, type, tile).getResult();
}

Value TileAttention::view(Value memory, ValueRange at, ArrayRef<int64_t> axes, Value length) {
  return createView(k, memory, at, axes, length);
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
  at.push_back(byHead ? q : h);
  if (byHead)
    return view(memory, at, {axis + 1, axis + 2}, endRow);
  return view(memory, at, {axis, axis + 2});
}

void TileAttention::storeRows(Value tile, Value memory, Value part) {
  auto type = cast<TileType>(tile.getType());
  TileType wanted =
      TileType::get(rows, type.getColumns(), cast<MemRefType>(memory.getType()).getElementType());
  tile::StoreOp::create(k, castTo(tile, wanted), viewOfRows(memory, part), firstRow, zero);
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
  tile::StoreOp::create(k, tile, viewOfColumn(memory, part), firstRow, byHead ? q : h);
}

Value TileAttention::loadColumn(Value memory, Value part) {
  return tile::LoadOp::create(k, type(rows, 1), viewOfColumn(memory, part), firstRow,
                              byHead ? q : h);
}

Value TileAttention::exp2(Value x) {
  if (!baseTwo)
    x = k.mul(x, k.real(wide, kLog2E));
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

/// The weight of a score of the keys' walk where `maximum` has weight one.
Value TileAttention::weighScore(Value score, Value maximum) {
  if (!scalesWeights)
    return exp2(k.sub(score, maximum));
  return exp2(
      math::FmaOp::create(k, score, k.real(wide, factor), arith::NegFOp::create(k, maximum)));
}

/// By row, the weight of a score where `maximum` has weight one.
Value TileAttention::weigh(Value score, Value maximum) {
  return map({}, {score, maximum}, [&](ValueRange x) { return exp2(k.sub(x[0], x[1])); });
}

//===-- One block ----------------------------------------------------------------------------===//

/// The rows' queries in the type of scores, times the scale and, where a score is nothing but the
/// product, log2(e); or as the products' operands, without a factor.
Value TileAttention::loadQueries() {
  if (op.getAdditive()) // read column by column
    return {};
  Value result = loadRows(k.buffer(op.getQuery()), op.getHeadSize());
  Type operands = schedule.getOperands();
  if (!operands)
    result = map({}, result,
                 [&](ValueRange x) { return k.mul(k.convert(x[0], wide), k.real(wide, factor)); });
  return castTo(result, type(rows, op.getHeadSize(), operands));
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
    position = loadPosition(k, given, b, q);
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

/// Lower than every finite score, or as low.
Value TileAttention::lowest() {
  APFloat number = APFloat::getLargest(wide.getFloatSemantics(), /*Negative=*/true);
  return arith::ConstantOp::create(k, k.getFloatAttr(wide, number));
}

/// The maximum starts at a finite number, so that no difference of maxima is NaN.
TileAttention::State TileAttention::nothingSeen() {
  TileType column = type(rows, 1);
  return {tile::SplatOp::create(k, column, lowest()),
          tile::SplatOp::create(k, column, k.real(wide, 0)),
          op.hasProbability() ? Value() : noValues()};
}

Value TileAttention::noValues() {
  return tile::SplatOp::create(k, type(rows, op.getValueSize()), k.real(wide, 0));
}

/// Nothing seen yet; or, in the first part, the sink, as a key of weight one and without a value.
TileAttention::State TileAttention::initialState() {
  State state = nothingSeen();
  Value sinks = k.buffer(op.getSinks());
  if (!sinks)
    return state;
  Value lowest = this->lowest();
  Value isFirst = part ? k.less(part, k.index(1)) : Value();
  Value sink = map({}, rowIndex, [&](ValueRange row) {
    Value x = k.loadAs(wide, sinks, byHead ? k.toIndex(row[0]) : h);
    if (isFirst)
      x = k.select(isFirst, x, k.real(wide, kMinusInfinity));
    return baseTwo ? k.mul(x, k.real(wide, kLog2E)) : x;
  });
  state.maximum = map({}, sink, [&](ValueRange x) { return greater(k, lowest, x[0]); });
  state.sum = map({}, sink, [&](ValueRange x) {
    return k.select(k.less(x[0], lowest), k.real(wide, 0), k.real(wide, 1));
  });
  return state;
}

/// What a walk over the keys of both would have found.
TileAttention::State TileAttention::join(State l, State r) {
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
TileAttention::State TileAttention::mergeParts() {
  Value count = k.size(k.temporary(parts->maximum), 1);
  State none = nothingSeen();
  auto loop = scf::ForOp::create(k, zero, count, k.index(1), none.asRange());
  OpBuilder::InsertionGuard guard(k);
  k.setInsertionPointToStart(loop.getBody());
  Value now = loop.getInductionVar();
  Value values = loadRows(k.temporary(parts->values), op.getValueSize(), now);
  values = castTo(values, type(rows, op.getValueSize()));
  State next{loadColumn(k.temporary(parts->maximum), now), loadColumn(k.temporary(parts->sum), now),
             values};
  next = join(State::of(loop.getRegionIterArgs(), none), next);
  scf::YieldOp::create(k, next.asRange());
  return State::of(loop.getResults(), none);
}

/// Half of the weight that a row's greatest score has.
static constexpr double kEmpty = 0.5;

/// Whether rows in which no key is allowed get a result from a second pass over all keys.
bool TileAttention::fillsByKeys() {
  return op.getMask() && !op.getSinks() &&
         (op.getFill() == Fill::Mean || op.getFill() == Fill::Raw);
}

TileAttention::Keys TileAttention::keysOfFill() {
  return op.getFill() == Fill::Mean ? Keys::Equal : Keys::Raw;
}

/// One for the rows in which no key was seen, else zero.
Value TileAttention::findEmptyRows(State state) {
  return map({}, state.sum, [&](ValueRange x) {
    return k.select(k.less(x[0], k.real(wide, kEmpty)), k.real(wide, 1), k.real(wide, 0));
  });
}

/// Whether any of these rows is one.
Value TileAttention::isAny(Value rows) {
  Value any = tile::ExtractOp::create(
      k, tile::ReduceOp::create(k, type(1, 1), tile::ReduceKind::Maximum, rows, 0));
  return k.less(k.real(wide, kEmpty), any);
}

/// `filling` in the rows that are flagged, else `tile`.
Value TileAttention::chooseRows(Value flags, Value tile, Value filling) {
  if (tile.getType() != flags.getType())
    flags = broadcast(flags, cast<TileType>(tile.getType()).getColumns());
  return map({}, {tile, filling, flags}, [&](ValueRange x) {
    return k.select(k.less(k.real(wide, kEmpty), x[2]), x[1], x[0]);
  });
}

/// Rows in which no key is allowed, if there are any, from a second pass over all keys.
TileAttention::State TileAttention::fillEmptyRows(State state) {
  if (!fillsByKeys())
    return state;
  Value isEmpty = findEmptyRows(state);
  SmallVector<Value> filled = k.branch(
      isAny(isEmpty), {state.sum.getType(), state.values.getType()},
      [&]() -> SmallVector<Value> {
        State other = stream(zero, keyLength, nothingSeen(), keysOfFill(), nullptr);
        return {chooseRows(isEmpty, state.sum, other.sum),
                chooseRows(isEmpty, state.values, other.values)};
      },
      [&]() -> SmallVector<Value> { return {state.sum, state.values}; });
  return {state.maximum, filled[0], filled[1]};
}

void TileAttention::storeLse(State state) {
  if (!lse)
    return;
  Value result = map({}, {state.maximum, state.sum}, [&](ValueRange x) {
    Value highest = baseTwo ? k.mul(x[0], k.real(wide, kLn2)) : x[0];
    return k.select(k.less(x[1], k.real(wide, kEmpty)), k.real(wide, kMinusInfinity),
                    k.add(highest, math::LogOp::create(k, x[1])));
  });
  storeColumn(result, lse);
}

/// What a row gives that nothing filled. Without a mask it has no weight only if all scores are
/// minus infinity.
Value TileAttention::getEmptyResult() {
  Value none = k.real(wide, 0);
  if (op.getSinks() || (op.getMask() && op.getFill() == Fill::Zero))
    return none;
  return k.select(arith::CmpIOp::create(k, arith::CmpIPredicate::eq, keyLength, zero), none,
                  k.real(wide, std::nan("")));
}

/// By row, what finishes a weight.
Value TileAttention::inverseSums(State state) {
  Value none = getEmptyResult();
  return map({}, state.sum, [&](ValueRange x) {
    return k.select(k.less(x[0], k.real(wide, kEmpty)), none, k.div(k.real(wide, 1), x[0]));
  });
}

void TileAttention::finish(State state) {
  if (weights)
    storeWeights(state);
  if (op.hasProbability())
    return finishByProbabilities(state);
  storeLse(state);
  state = fillEmptyRows(state);
  Value factors = inverseSums(state);
  int64_t size = op.getValueSize();
  Value result = map({}, {state.values, broadcast(factors, size)},
                     [&](ValueRange x) { return k.mul(x[0], x[1]); });
  storeRows(result, output);
}

/// The second walk, with maximum and sum of the first.
void TileAttention::finishByProbabilities(State found) {
  storeLse(found);
  State start{Value(), Value(), noValues()};
  sums = found;
  Value values = walkKeys(start).values;
  Value isEmpty = op.getMask() ? findEmptyRows(found) : Value();
  if (fillsByKeys()) {
    auto fill = [&]() -> SmallVector<Value> {
      Keys kind = keysOfFill();
      sums.reset();
      sums = stream(zero, keyLength, nothingSeen(), kind, nullptr);
      Value filling = stream(zero, keyLength, start, kind, nullptr).values;
      return {chooseRows(isEmpty, values, filling)};
    };
    values = k.branch(isAny(isEmpty), values.getType(), fill, [&] {
                return SmallVector<Value>{values};
              }).front();
  } else if (isEmpty) {
    values =
        chooseRows(isEmpty, values, tile::SplatOp::create(k, values.getType(), getEmptyResult()));
  }
  sums.reset();
  storeRows(values, output);
}

/// The greatest score and the sum of all keys' weights, in the rows that get their weights from
/// these.
TileAttention::State TileAttention::findRaw(Value isEmpty, Value any, State state) {
  SmallVector<Value> found = k.branch(
      any, {state.maximum.getType(), state.sum.getType()},
      [&]() -> SmallVector<Value> {
        State start = nothingSeen();
        start.values = {};
        State raw = stream(zero, keyLength, start, keysOfFill(), nullptr);
        return {chooseRows(isEmpty, state.maximum, raw.maximum),
                chooseRows(isEmpty, state.sum, raw.sum)};
      },
      [&]() -> SmallVector<Value> { return {state.maximum, state.sum}; });
  return {found[0], found[1], Value()};
}

/// A walk over all keys, with maximum and sum of the first: probabilities as they are finished.
void TileAttention::storeWeights(State state) {
  Value isEmpty, any;
  if (fillsByKeys()) {
    isEmpty = findEmptyRows(state);
    any = isAny(isEmpty);
    state = findRaw(isEmpty, any, state);
  }
  Value factors = broadcast(inverseSums(state), keys), maximum = broadcast(state.maximum, keys);
  auto loop = scf::ForOp::create(k, zero, keyLength, k.index(keys));
  OpBuilder::InsertionGuard guard(k);
  k.setInsertionPointToStart(loop.getBody());
  Value begin = loop.getInductionVar();
  auto weightsOf = [&](Keys kind) {
    Value score = scoresAgain(begin, products(begin, kind), kind, nullptr);
    return map({}, {score, maximum, factors},
               [&](ValueRange x) { return k.mul(weighScore(x[0], x[1]), x[2]); });
  };
  Value found = weightsOf(Keys::Allowed);
  auto fill = [&] {
    return SmallVector<Value>{chooseRows(isEmpty, found, weightsOf(keysOfFill()))};
  };
  if (isEmpty)
    found = k.branch(any, found.getType(), fill, [&] { return SmallVector<Value>{found}; }).front();
  Value place = byHead ? view(weights, {b, q}, {1, 3}, endRow) : view(weights, {b, h}, {2, 3});
  found = castTo(found, TileType::get(rows, keys, elementOf(weights)));
  tile::StoreOp::create(k, found, place, firstRow, begin);
}

/// The block's rows.
void TileAttention::locate(ValueRange at) {
  b = at[0];
  Value number = at[2];
  if (byHead) {
    q = zero;
    if (hasQueries) {
      Value tiles = tilesOfRows();
      q = k.div(number, tiles);
      number = arith::RemUIOp::create(k, number, tiles);
    }
  }
  Value tile = k.mul(number, k.index(rows));
  if (byHead) {
    g = at[1];
    Value first = k.mul(g, k.index(group));
    // One tile has all heads of most models: then how many there are is known.
    h = firstRow = group > rows ? k.add(first, tile) : first;
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

/// What the mask and the regions read whole is made known before any block of work.
void TileAttention::cloneReads() {
  mask = op.getMask() ? k.cloneIn(op.getMask()) : Value();
  for (const ElementRegion &of : {op.getScoreRegion(), op.getProbabilityRegion()})
    for (auto [n, operand] : llvm::enumerate(of.operands))
      if (of.isWhole(n))
        k.cloneIn(operand);
}

/// Of one query where rows are heads.
Value TileAttention::tilesOfRows() {
  return byHead ? k.index(llvm::divideCeil(group, rows))
                : Value(arith::CeilDivUIOp::create(k, queryLength, k.index(rows)));
}

/// How many parts there are is the temporaries' own size. Keys are split where each of two parts
/// has enough, and no further than there is enough work: of one query, so that several that are
/// computed one by one have the parts that each has alone.
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
  if (k.isChosen)
    count = k.select(k.isChosen(), count, zero);

  int64_t heads = op.getQueryHeads();
  SmallVector<int64_t> shape{type.getDimSize(0), ShapedType::kDynamic, heads, type.getDimSize(1)};
  SmallVector<Value> sizes;
  if (type.isDynamicDim(0))
    sizes.push_back(batch);
  sizes.push_back(count);
  if (type.isDynamicDim(1))
    sizes.push_back(queryLength);
  MemRefType column = MemRefType::get(shape, wide);
  MemRefType values =
      MemRefType::get({shape[0], shape[1], shape[3], heads, op.getValueSize()}, wide);
  unsigned maximum = k.addTemporary(column, sizes), sum = k.addTemporary(column, sizes);
  parts = Parts{maximum, sum, k.addTemporary(values, sizes)};
}

/// Blocks of work over batch rows, heads and tiles of rows, of each query where rows are heads, and
/// `last`.
void TileAttention::emitGrid(ArrayRef<Value> last, function_ref<void(ValueRange)> body) {
  Value tiles = tilesOfRows();
  SmallVector<Value> extents{k.size(k.buffer(op.getQuery()), 0),
                             k.index(byHead ? op.getKeyHeads() : op.getQueryHeads()),
                             hasQueries ? k.mul(queryLength, tiles) : tiles};
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
  if ((op.hasProbability() || op.getWeights()) && !schedule.getSplit().empty())
    return op.emitOpError("expects a schedule that does not split keys: no part by itself knows "
                          "the probabilities that are asked for");
  if (op.getAdditive() && schedule.getOperands())
    return op.emitOpError("expects a schedule without operands of a product: scores are sums");
  TileAttention(k, op, schedule).emit();
  return success();
}
