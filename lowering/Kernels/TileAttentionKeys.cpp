// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A block's walk over its keys: the passes that the mask's intervals leave, the steps of each, and
// one tile of scores with the score region and the predicate.
#include "lowering/Kernels/TileAttention.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include <array>

using namespace mlir;
using namespace mlir::fovea;
using tile::TileType;
using tile::ViewType;

//===-- One tile of scores -------------------------------------------------------------------===//

/// The elements of an operand that has an axis for keys, for the keys from `begin`; null if they
/// are better read one by one.
Value TileAttention::loadOperand(const ElementRegion &of, unsigned operand, Value begin) {
  Value memory = k.buffer(of.operands[operand]);
  auto memoryType = cast<MemRefType>(memory.getType());
  // Elements outside of the operand could make the region read outside of another.
  if (of.isWhole(operand) || readsByIndex || !isa<FloatType>(memoryType.getElementType()))
    return {};
  AffineMap map = of.getMap(operand);
  int64_t rowAxis = -1, keyAxis = -1, rowDimension = byHead ? 1 : 2;
  SmallVector<Value> at, places{b, h, byHead ? q : Value(), Value()};
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

/// A region for one element. Where `place.allowed` is given and false, the region would not have
/// been run: its reads are turned to a place that exists, its divisors to one.
Value TileAttention::apply(const ElementRegion &of, Value x, const Place &place) {
  auto makeHarmless = [&](Operation *copy) {
    bool divides = isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
                       arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp>(copy);
    if (!place.allowed || !(divides || isa<tensor::ExtractOp>(copy)))
      return;
    OpBuilder::InsertionGuard guard(k);
    k.setInsertionPoint(copy);
    for (OpOperand &operand : copy->getOpOperands().drop_front()) {
      Type type = operand.get().getType();
      if (matchPattern(operand.get(), m_Constant()))
        continue;
      Value harmless = arith::ConstantOp::create(k, divides ? TypedAttr(k.getIntegerAttr(type, 1))
                                                            : k.getIndexAttr(0));
      operand.set(k.select(place.allowed, operand.get(), harmless));
    }
  };
  return emitElementRegion(k, of, x, place.point, place.elements, makeHarmless);
}

/// A tile made of others, by element, where it matters where the element stands. What the region
/// reads is loaded.
Value TileAttention::mapPlaces(Value begin, ValueRange tiles, Keys kind, const Cover *cover,
                               const ElementRegion &of,
                               function_ref<Value(ValueRange, const Place &)> body) {
  Type i32 = k.getI32Type();
  Value keyPositions = k.buffer(op.getKeyPositions());
  SmallVector<Value> inputs(tiles);
  inputs.append(
      {tile::IotaOp::create(k, type(rows, keys, i32), begin, 1), broadcast(rowIndex, keys)});
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
  SmallVector<BlockArgument> loaded; // the operands that the last inputs are
  for (unsigned n = 0; n < of.operands.size(); ++n)
    if (Value elements = loadOperand(of, n, begin)) {
      inputs.push_back(elements);
      loaded.push_back(of.getArgument(n));
    }
  Value bound = cover ? cover->end : keyLength;
  Value end = k.toI32(bound), first = cover ? k.toI32(cover->begin) : Value();
  return map({}, inputs, [&](ValueRange element) {
    unsigned next = tiles.size();
    Value number = element[next++], row = element[next++];
    MaskPoint point{b,        h,     q, k.toIndex(arith::MinSIOp::create(k, number, lastKey)),
                    position, number};
    (byHead ? point.head : point.query) = k.toIndex(row);
    if (positions)
      point.queryPosition = element[next++];
    if (keyPositions)
      point.keyPosition = element[next++];
    Place place;
    place.point = point;
    if (kind != Keys::All) {
      Value allowed = k.less(number, end);
      if (first)
        allowed = arith::AndIOp::create(
            k, allowed, arith::CmpIOp::create(k, arith::CmpIPredicate::sge, number, first));
      if (mask && kind == Keys::Allowed)
        allowed = arith::AndIOp::create(k, allowed, buildPredicate(k, k.getLoc(), mask, point));
      place.allowed = allowed;
    }
    for (BlockArgument argument : loaded)
      place.elements[argument] = element[next++];
    return body(element.take_front(tiles.size()), place);
  });
}

/// Scores as sums over the head's columns d: w[d] tanh(q[i, d] + k[j, d]) (Bahdanau et al. 2015).
Value TileAttention::additiveProducts(Value begin) {
  Value queryView = viewOfRows(k.buffer(op.getQuery())), weight = k.buffer(op.getAdditive());
  Type queryElement = cast<ViewType>(queryView.getType()).getElementType();
  TileType square = type(rows, keys);
  Value numbers = tile::IotaOp::create(k, type(1, keys, k.getI32Type()), begin, 1);
  Value lastKey = k.toI32(k.sub(keyLength, k.index(1)));
  Value start = tile::SplatOp::create(k, square, k.real(wide, 0));
  auto loop = scf::ForOp::create(k, zero, k.index(op.getHeadSize()), k.index(1), start);
  OpBuilder::InsertionGuard guard(k);
  k.setInsertionPointToStart(loop.getBody());
  Value d = loop.getInductionVar(), factor = k.loadAs(wide, weight, d);
  Value left = tile::LoadOp::create(k, type(rows, 1, queryElement), queryView, firstRow, d);
  Value right = map(wide, numbers, [&](ValueRange number) {
    Value place = k.toIndex(arith::MinSIOp::create(k, number[0], lastKey));
    SmallVector<Value> at{b, place, g, d};
    if (key.length)
      std::swap(at[1], at[2]);
    if (!key.scales)
      return k.loadAs(wide, key.memory, at);
    Value integer = arith::SIToFPOp::create(k, wide, k.load(key.memory, at));
    return k.mul(integer, k.loadAs(wide, key.scales, {b, g, place, zero}));
  });
  // Rounded once, from f64: great factors make differences of the last bits.
  auto tanh = [&](Value x) {
    return k.convert(math::TanhOp::create(k, k.convert(x, k.getF64Type())), wide);
  };
  Value sum = map({}, {loop.getRegionIterArg(0), broadcast(left, keys), broadcast(right, keys)},
                  [&](ValueRange x) {
                    Value inner = k.add(k.convert(x[1], wide), x[2]);
                    return k.add(x[0], k.mul(factor, tanh(inner)));
                  });
  scf::YieldOp::create(k, sum);
  return loop.getResult(0);
}

/// Keys or values from `begin`; integers as what is multiplied, without their scales, so that they
/// are exact. These lie as they are read, along `lanes`.
Value TileAttention::loadNumbers(Value view, Value begin, int64_t size, int64_t lanes) {
  Type element = cast<ViewType>(view.getType()).getElementType();
  bool isOfIntegers = element.isInteger(8);
  TileType type =
      isOfIntegers ? TileType::get(keys, size, element, lanes) : TileType::get(keys, size, element);
  Value loaded = tile::LoadOp::create(k, type, view, begin, zero);
  if (!isOfIntegers)
    return loaded;
  Type operands = schedule.getOperands();
  Type number = operands ? operands : Type(k.getF32Type());
  return tile::DequantizeOp::create(k, type.withElementType(number), loaded, Value());
}

/// A row of the scales of keys or values from `begin`.
Value TileAttention::loadScales(const Sequence &sequence, Value begin) {
  auto memory = cast<MemRefType>(sequence.scales.getType());
  // As long as the cache, not as its memory.
  SmallVector<OpFoldResult> offsets(4, k.getIndexAttr(0)), strides(4, k.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes{k.size(sequence.scales, 0), k.getIndexAttr(memory.getDimSize(1)),
                                  sequence.length, k.getIndexAttr(1)};
  Value used = memref::SubViewOp::create(k, sequence.scales, offsets, sizes, strides);
  return tile::LoadOp::create(k, type(1, keys, memory.getElementType()),
                              view(used, {b, g, zero}, 2), zero, begin);
}

/// A tile with a column for each key, times the scales of what the keys have.
Value TileAttention::scaleColumns(Value tile, const Sequence &sequence, Value begin) {
  if (!sequence.scales)
    return tile;
  Value scales = broadcast(loadScales(sequence, begin), keys);
  return map({}, {tile, scales}, [&](ValueRange x) { return k.mul(x[0], k.convert(x[1], wide)); });
}

/// Of the keys from `begin`: what the score region gets, but for a factor.
Value TileAttention::products(Value begin, Keys kind) {
  TileType square = type(rows, keys);
  if (kind == Keys::Equal)
    return tile::SplatOp::create(k, square, k.real(wide, 0));
  if (op.getAdditive())
    return additiveProducts(begin);
  // One query's scores lie in lanes by key.
  Value numbers = loadNumbers(keyView, begin, op.getHeadSize(), byHead ? 0 : 1);
  Value product = tile::DotOp::create(k, square, queries, numbers, Value(), /*transpose_b=*/true,
                                      k.getDenseI64ArrayAttr(schedule.getScores()));
  return scaleColumns(product, key, begin);
}

/// The products with the score region applied, and minus infinity where no key is allowed.
Value TileAttention::scores(Value begin, Value product, Keys kind, const Cover *cover) {
  // Else the queries or the weights are.
  bool scales = op.getAdditive() || (schedule.getOperands() && !scalesWeights);
  if (kind == Keys::All && !op.hasScore() && !scales)
    return product;
  ElementRegion region = op.getScoreRegion();
  return mapPlaces(
      begin, product, kind, cover, region, [&](ValueRange numbers, const Place &place) {
        Value x = numbers[0];
        if (scales)
          x = k.mul(x, k.real(wide, factor));
        if (kind == Keys::Equal)
          x = k.real(wide, 0);
        else if (op.hasScore())
          x = apply(region, x, place);
        return place.allowed ? k.select(place.allowed, x, k.real(wide, kMinusInfinity)) : x;
      });
}

/// Scores of a second walk as they were when they were summed. Computed in one map with what is
/// done to them they may round to other numbers, a product's sum once instead of twice, which for
/// great scores are far off: a cast has a tile of its own.
Value TileAttention::scoresAgain(Value begin, Value product, Keys kind, const Cover *cover) {
  Value score = scores(begin, product, kind, cover);
  return tile::CastOp::create(k, score.getType(), score);
}

/// What the probability region makes of finished probabilities, and zero where no key is allowed.
Value TileAttention::probabilities(Value begin, Value product, Keys kind, const Cover *cover) {
  Value factors = map({}, sums->sum, [&](ValueRange x) { return k.div(k.real(wide, 1), x[0]); });
  SmallVector<Value> tiles{scoresAgain(begin, product, kind, cover), broadcast(sums->maximum, keys),
                           broadcast(factors, keys)};
  ElementRegion region = op.getProbabilityRegion();
  return mapPlaces(begin, tiles, kind, cover, region, [&](ValueRange x, const Place &place) {
    Value weight = apply(region, k.mul(weighScore(x[0], x[1]), x[2]), place);
    return place.allowed ? k.select(place.allowed, weight, k.real(wide, 0)) : weight;
  });
}

//===-- Over the keys ------------------------------------------------------------------------===//

/// The keys from `begin`, at most as many as a tile has.
TileAttention::State TileAttention::step(Value begin, State state, Keys kind, const Cover *cover) {
  TileType column = type(rows, 1);
  int64_t valueSize = op.getValueSize();
  Value product = products(begin, kind);
  auto addValues = [&](Value weights, Value values) -> Value {
    Value numbers = loadNumbers(valueView, begin, valueSize, 1);
    weights = scaleColumns(weights, value, begin);
    if (Type operands = schedule.getOperands())
      weights = tile::CastOp::create(k, type(rows, keys, operands), weights);
    return tile::DotOp::create(k, values.getType(), weights, numbers, values, /*transpose_b=*/false,
                               k.getDenseI64ArrayAttr(schedule.getValues()));
  };
  if (sums)
    return {Value(), Value(), addValues(probabilities(begin, product, kind, cover), state.values)};
  Value score = scores(begin, product, kind, cover);
  Value highest = tile::ReduceOp::create(k, column, tile::ReduceKind::Maximum, score, 1);
  if (scalesWeights)
    highest = map({}, highest, [&](ValueRange x) { return k.mul(x[0], k.real(wide, factor)); });
  Value maximum = higher(state.maximum, highest);
  Value weights = map({}, {score, broadcast(maximum, keys)},
                      [&](ValueRange x) { return weighScore(x[0], x[1]); });
  Value kept = weigh(state.maximum, maximum);
  Value added = tile::ReduceOp::create(k, column, tile::ReduceKind::Sum, weights, 1);
  Value sum = map({}, {state.sum, kept, added},
                  [&](ValueRange x) { return k.add(k.mul(x[0], x[1]), x[2]); });
  if (!state.values)
    return {maximum, sum, Value()};
  Value values = map({}, {state.values, broadcast(kept, valueSize)},
                     [&](ValueRange x) { return k.mul(x[0], x[1]); });
  return {maximum, sum, addValues(weights, values)};
}

/// The first key of the step that has `key`.
Value TileAttention::alignDown(Value key) {
  return k.sub(key, arith::RemUIOp::create(k, key, k.index(keys)));
}

/// The first key of a step at or after `key`.
Value TileAttention::alignUp(Value key) { return alignDown(k.add(key, k.index(keys - 1))); }

/// Steps over the keys from `begin`, a multiple of the tile's keys, up to `end`.
TileAttention::State TileAttention::stream(Value begin, Value end, State state, Keys kind,
                                           const Cover *cover) {
  auto loop = scf::ForOp::create(k, begin, end, k.index(keys), state.asRange());
  OpBuilder::InsertionGuard guard(k);
  k.setInsertionPointToStart(loop.getBody());
  State next =
      step(loop.getInductionVar(), State::of(loop.getRegionIterArgs(), state), kind, cover);
  scf::YieldOp::create(k, next.asRange());
  return State::of(loop.getResults(), state);
}

/// The mask's intervals speak of positions: without key positions these are the keys' own indices,
/// else nothing is known of where they lie.
SmallVector<TileAttention::Cover> TileAttention::findCovers() {
  KeyIntervals intervals;
  if (op.getKeyPositions()) {
    intervals.cover.push_back({firstKey, lastKey});
  } else {
    Value begin = byHead ? q : firstRow;
    Value end = byHead ? k.add(q, k.index(1))
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
TileAttention::State TileAttention::walkKeys(State state) {
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
  scf::YieldOp::create(k, run(now, State::of(loop.getRegionIterArgs(), state)).asRange());
  return State::of(loop.getResults(), state);
}
