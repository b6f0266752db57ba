// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Key intervals of each mask for a tile of queries (MaskOpInterface (a)), and the algebra on lists
// of them. A list stays short: where joining would make it longer than kMaxIntervals, one interval
// around all stands in for the cover, and the full list is cut. Nothing is known of a value while
// the IR is built, so empty intervals are met everywhere and must do no harm. Segment ids are read
// where the intervals are computed; a dense mask is not, and covers everything.
#include "dialects/Fovea/FoveaDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include <limits>

using namespace mlir;
using namespace mlir::fovea;

static constexpr size_t kMaxIntervals = 6;

namespace {
/// Short names for index arithmetic at one place.
struct IndexMath {
  OpBuilder &b;
  Location loc;
  Value constant(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }
  Value add(Value l, int64_t r) {
    return r == 0 ? l : Value(arith::AddIOp::create(b, loc, l, constant(r)));
  }
  Value min(Value l, Value r) { return arith::MinSIOp::create(b, loc, l, r); }
  Value max(Value l, Value r) { return arith::MaxSIOp::create(b, loc, l, r); }
  Value select(Value c, Value t, Value f) { return arith::SelectOp::create(b, loc, c, t, f); }
  Value less(Value l, Value r) {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, l, r);
  }
  Value lengthOf(Value lengths, Value batch) {
    Value row = getRowOfBatch(b, loc, lengths, batch);
    return arith::IndexCastOp::create(b, loc, b.getIndexType(),
                                      tensor::ExtractOp::create(b, loc, lengths, row));
  }
};
} // namespace

/// Before and after every position that differs from another by less than 2^33; sums with window
/// bounds stay far from wrapping.
static constexpr int64_t kFarBefore = -(int64_t(1) << 40), kFarAfter = int64_t(1) << 40;

static KeyInterval everything(IndexMath &m) {
  return {m.constant(kFarBefore), m.constant(kFarAfter)};
}

static KeyInterval intersect(IndexMath &m, KeyInterval a, KeyInterval b) {
  return {m.max(a.begin, b.begin), m.min(a.end, b.end)};
}

/// One interval around all of them; empty ones do not widen it.
static KeyInterval hull(IndexMath &m, ArrayRef<KeyInterval> list) {
  KeyInterval result{m.constant(kFarAfter), m.constant(kFarBefore)};
  for (KeyInterval i : list) {
    Value some = m.less(i.begin, i.end);
    result.begin = m.select(some, m.min(result.begin, i.begin), result.begin);
    result.end = m.select(some, m.max(result.end, i.end), result.end);
  }
  return result;
}

/// Sorts by begin, with as many compare-and-exchange steps as a list this short deserves.
static void sortByBegin(IndexMath &m, MutableArrayRef<KeyInterval> list) {
  for (size_t last = list.size(); last > 1; --last)
    for (size_t i = 0; i + 1 < last; ++i) {
      KeyInterval &l = list[i], &r = list[i + 1];
      Value swap = m.less(r.begin, l.begin);
      KeyInterval low{m.select(swap, r.begin, l.begin), m.select(swap, r.end, l.end)};
      r = {m.select(swap, l.begin, r.begin), m.select(swap, l.end, r.end)};
      l = low;
    }
}

/// The union of intervals that may overlap, as as many disjoint ones; of more than kMaxIntervals,
/// one around all.
static SmallVector<KeyInterval, 4> unite(IndexMath &m, SmallVector<KeyInterval, 4> list) {
  if (list.size() > kMaxIntervals)
    return {hull(m, list)};
  sortByBegin(m, list);
  Value reached;
  for (KeyInterval &i : list) {
    // What lies before the greatest end so far is in an earlier interval, for that began no later.
    Value end = i.end;
    if (reached)
      i.begin = m.max(i.begin, reached);
    reached = reached ? m.max(reached, end) : end;
  }
  return list;
}

/// All that is in none of the intervals, which may overlap: the gaps between them, one more than
/// there are intervals, disjoint.
static SmallVector<KeyInterval, 4> complement(IndexMath &m, SmallVector<KeyInterval, 4> list) {
  sortByBegin(m, list);
  SmallVector<KeyInterval, 4> gaps;
  Value reached = m.constant(kFarBefore);
  for (KeyInterval i : list) {
    gaps.push_back({reached, i.begin});
    // An empty interval ends before its begin, and takes nothing away.
    reached = m.max(reached, m.max(i.begin, i.end));
  }
  gaps.push_back({reached, m.constant(kFarAfter)});
  return gaps;
}

/// Fewer intervals that are surely full are still right.
static void shortenFull(KeyIntervals &intervals) {
  if (intervals.full.size() > kMaxIntervals)
    intervals.full.truncate(kMaxIntervals);
}

/// All pairs' intersections: disjoint if both lists are.
static SmallVector<KeyInterval, 4> intersectAll(IndexMath &m, ArrayRef<KeyInterval> a,
                                                ArrayRef<KeyInterval> b) {
  SmallVector<KeyInterval, 4> result;
  for (KeyInterval x : a)
    for (KeyInterval y : b)
      result.push_back(intersect(m, x, y));
  return result;
}

//===-- One mask -----------------------------------------------------------------------------===//

KeyIntervals MaskCausalOp::buildKeyIntervals(OpBuilder &b, Location loc, const QueryTile &tile) {
  IndexMath m{b, loc};
  Value before = m.constant(kFarBefore);
  return {{{before, m.add(tile.positionMax, 1)}}, {{before, m.add(tile.positionMin, 1)}}};
}

KeyIntervals MaskWindowOp::buildKeyIntervals(OpBuilder &b, Location loc, const QueryTile &tile) {
  IndexMath m{b, loc};
  KeyInterval cover = everything(m), full = everything(m);
  if (getLeft()) {
    cover.begin = m.add(tile.positionMin, -static_cast<int64_t>(*getLeft()));
    full.begin = m.add(tile.positionMax, -static_cast<int64_t>(*getLeft()));
  }
  if (getRight()) {
    cover.end = m.add(tile.positionMax, static_cast<int64_t>(*getRight()) + 1);
    full.end = m.add(tile.positionMin, static_cast<int64_t>(*getRight()) + 1);
  }
  return {{cover}, {full}};
}

KeyIntervals MaskLengthOp::buildKeyIntervals(OpBuilder &b, Location loc, const QueryTile &tile) {
  IndexMath m{b, loc};
  KeyInterval keys{m.constant(kFarBefore), m.lengthOf(getLengths(), tile.batch)};
  return {{keys}, {keys}};
}

KeyIntervals MaskPrefixOp::buildKeyIntervals(OpBuilder &b, Location loc, const QueryTile &tile) {
  IndexMath m{b, loc};
  Value before = m.constant(kFarBefore), length = m.lengthOf(getLengths(), tile.batch);
  return {{{before, m.max(m.add(tile.positionMax, 1), length)}},
          {{before, m.max(m.add(tile.positionMin, 1), length)}}};
}

KeyIntervals MaskGlobalOp::buildKeyIntervals(OpBuilder &b, Location loc, const QueryTile &tile) {
  IndexMath m{b, loc};
  Value tokens = m.constant(getTokens()), before = m.constant(kFarBefore),
        after = m.constant(kFarAfter);
  // A tile that holds a global query sees everything; one that is nothing but global queries sees
  // it fully.
  Value some = m.less(tile.positionMin, tokens), all = m.less(tile.positionMax, tokens);
  return {{{before, m.select(some, after, tokens)}}, {{before, m.select(all, after, tokens)}}};
}

/// Values carried through the places of [begin, end): each step is given the segment id and the
/// number, i32, of its place. The body has no branches, so that places can be read many at a time.
static ResultRange
scanSegments(IndexMath &m, Value segments, Value batch, Value begin, Value end, ValueRange init,
             function_ref<SmallVector<Value>(Value id, Value place, ValueRange carried)> step) {
  Value row = getRowOfBatch(m.b, m.loc, segments, batch);
  auto body = [&](OpBuilder &b, Location loc, Value place, ValueRange carried) {
    Value id = tensor::ExtractOp::create(b, loc, segments, ValueRange{row, place});
    Value number = arith::IndexCastOp::create(b, loc, b.getI32Type(), place);
    scf::YieldOp::create(b, loc, step(id, number, carried));
  };
  return scf::ForOp::create(m.b, m.loc, begin, end, m.constant(1), init, body).getResults();
}

/// Segment ids may come in any order. The cover reaches from the first to the last key whose id is
/// among those between the least and the greatest of the tile's queries; it is full if these are
/// one id and no other lies in between. Keys are where their position says.
KeyIntervals MaskSegmentOp::buildKeyIntervals(OpBuilder &b, Location loc, const QueryTile &tile) {
  IndexMath m{b, loc};
  auto number = [&](int32_t value) -> Value {
    return arith::ConstantIntOp::create(b, loc, value, 32);
  };
  auto toIndex = [&](Value value) -> Value {
    return arith::IndexCastOp::create(b, loc, b.getIndexType(), value);
  };
  constexpr int32_t kLeast = std::numeric_limits<int32_t>::min(),
                    kGreatest = std::numeric_limits<int32_t>::max();
  // Of no query: the least id is greater than the greatest, and no key lies between.
  Value queries = tensor::DimOp::create(b, loc, getQuerySegments(), 1);
  ResultRange ids = scanSegments(m, getQuerySegments(), tile.batch, tile.queryBegin,
                                 m.min(tile.queryEnd, queries), {number(kGreatest), number(kLeast)},
                                 [&](Value id, Value, ValueRange carried) -> SmallVector<Value> {
                                   return {m.min(carried[0], id), m.max(carried[1], id)};
                                 });
  Value least = ids[0], greatest = ids[1];

  Value none = number(0), one = number(1), never = number(kGreatest);
  auto atMost = [&](Value l, Value r) -> Value {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, l, r);
  };
  ResultRange keys = scanSegments(
      m, getKeySegments(), tile.batch, m.constant(0), tile.keyLength, {never, none, none},
      [&](Value id, Value place, ValueRange carried) -> SmallVector<Value> {
        Value inside = arith::AndIOp::create(b, loc, atMost(least, id), atMost(id, greatest));
        Value after = arith::AddIOp::create(b, loc, place, one);
        return {m.min(carried[0], m.select(inside, place, never)),
                m.max(carried[1], m.select(inside, after, none)),
                arith::AddIOp::create(b, loc, carried[2], m.select(inside, one, none))};
      });
  KeyInterval cover{toIndex(keys[0]), toIndex(keys[1])};

  auto equal = [&](Value l, Value r) -> Value {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, l, r);
  };
  Value length = arith::SubIOp::create(b, loc, cover.end, cover.begin);
  Value isFull =
      arith::AndIOp::create(b, loc, equal(least, greatest), equal(toIndex(keys[2]), length));
  return {{cover}, {{cover.begin, m.select(isFull, cover.end, cover.begin)}}};
}

KeyIntervals MaskDenseOp::buildKeyIntervals(OpBuilder &b, Location loc, const QueryTile &) {
  IndexMath m{b, loc};
  return {{everything(m)}, {}};
}

//===-- Algebra ------------------------------------------------------------------------------===//

KeyIntervals MaskAndOp::buildKeyIntervals(OpBuilder &b, Location loc, const QueryTile &tile) {
  IndexMath m{b, loc};
  if (getMasks().empty())
    return {{everything(m)}, {everything(m)}};
  KeyIntervals result = fovea::buildKeyIntervals(b, loc, getMasks().front(), tile);
  for (Value mask : getMasks().drop_front()) {
    KeyIntervals next = fovea::buildKeyIntervals(b, loc, mask, tile);
    if (result.cover.size() * next.cover.size() > kMaxIntervals) {
      auto &shorter = result.cover.size() < next.cover.size() ? result.cover : next.cover;
      shorter = {hull(m, shorter)};
    }
    result.cover = intersectAll(m, result.cover, next.cover);
    result.full = intersectAll(m, result.full, next.full);
    shortenFull(result);
  }
  return result;
}

KeyIntervals MaskOrOp::buildKeyIntervals(OpBuilder &b, Location loc, const QueryTile &tile) {
  IndexMath m{b, loc};
  KeyIntervals result;
  for (Value mask : getMasks()) {
    KeyIntervals next = fovea::buildKeyIntervals(b, loc, mask, tile);
    result.cover.append(next.cover);
    result.full.append(next.full);
  }
  result.cover = unite(m, std::move(result.cover));
  shortenFull(result);
  return result;
}

KeyIntervals MaskNotOp::buildKeyIntervals(OpBuilder &b, Location loc, const QueryTile &tile) {
  IndexMath m{b, loc};
  KeyIntervals inner = fovea::buildKeyIntervals(b, loc, getMask(), tile);
  // Allowed at most where the inner mask is not full: leaving out a full interval only makes the
  // cover wider. Surely allowed where the inner mask is not covered: there each interval counts.
  if (inner.full.size() >= kMaxIntervals)
    inner.full.truncate(kMaxIntervals - 1);
  KeyIntervals result{complement(m, std::move(inner.full)), complement(m, std::move(inner.cover))};
  shortenFull(result);
  return result;
}

KeyIntervals mlir::fovea::buildKeyIntervals(OpBuilder &b, Location loc, Value mask,
                                            const QueryTile &tile) {
  IndexMath m{b, loc};
  if (!mask)
    return {{everything(m)}, {everything(m)}};
  return cast<MaskOpInterface>(mask.getDefiningOp()).buildKeyIntervals(b, loc, tile);
}
