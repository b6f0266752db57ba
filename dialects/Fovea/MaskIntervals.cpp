// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Key intervals of each mask for a tile of queries (MaskOpInterface (a)), and the algebra on lists
// of them. A list stays short: where joining would make it longer than kMaxIntervals, one interval
// around all stands in for the cover, and the full list is cut.
#include "dialects/Fovea/FoveaDialect.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"

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
    bool shared = cast<RankedTensorType>(lengths.getType()).getDimSize(0) == 1;
    Value row = shared ? constant(0) : batch;
    return arith::IndexCastOp::create(b, loc, b.getIndexType(),
                                      tensor::ExtractOp::create(b, loc, lengths, row));
  }
};
} // namespace

/// Far below and above every position; half of the range so that sums do not wrap.
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

/// a without b, as at most two intervals. An empty b takes nothing away.
static void subtract(IndexMath &m, KeyInterval a, KeyInterval b,
                     SmallVectorImpl<KeyInterval> &out) {
  Value some = m.less(b.begin, b.end);
  Value cutBegin = m.select(some, b.begin, a.end);
  Value cutEnd = m.select(some, b.end, a.end);
  out.push_back({a.begin, m.min(a.end, cutBegin)});
  out.push_back({m.max(a.begin, cutEnd), a.end});
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

/// The union of two disjoint lists as one disjoint list.
static SmallVector<KeyInterval, 4> uniteAll(IndexMath &m, ArrayRef<KeyInterval> a,
                                            ArrayRef<KeyInterval> b) {
  SmallVector<KeyInterval, 4> result(a);
  for (KeyInterval y : b) {
    SmallVector<KeyInterval> rest{y};
    for (KeyInterval x : a) {
      SmallVector<KeyInterval> next;
      for (KeyInterval r : rest)
        subtract(m, r, x, next);
      rest = std::move(next);
    }
    result.append(rest.begin(), rest.end());
  }
  return result;
}

static void shorten(IndexMath &m, KeyIntervals &intervals) {
  if (intervals.cover.size() > kMaxIntervals)
    intervals.cover = {hull(m, intervals.cover)};
  if (intervals.full.size() > kMaxIntervals)
    intervals.full.truncate(kMaxIntervals);
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

/// Segment ids may come in any order, so nothing is known without reading them.
KeyIntervals MaskSegmentOp::buildKeyIntervals(OpBuilder &b, Location loc, const QueryTile &) {
  IndexMath m{b, loc};
  return {{everything(m)}, {}};
}

KeyIntervals MaskDenseOp::buildKeyIntervals(OpBuilder &b, Location loc, const QueryTile &) {
  IndexMath m{b, loc};
  return {{everything(m)}, {}};
}

//===-- Algebra ------------------------------------------------------------------------------===//

KeyIntervals MaskAndOp::buildKeyIntervals(OpBuilder &b, Location loc, const QueryTile &tile) {
  IndexMath m{b, loc};
  KeyIntervals result{{everything(m)}, {everything(m)}};
  for (Value mask : getMasks()) {
    KeyIntervals next = fovea::buildKeyIntervals(b, loc, mask, tile);
    result.cover = intersectAll(m, result.cover, next.cover);
    result.full = intersectAll(m, result.full, next.full);
    shorten(m, result);
  }
  return result;
}

KeyIntervals MaskOrOp::buildKeyIntervals(OpBuilder &b, Location loc, const QueryTile &tile) {
  IndexMath m{b, loc};
  KeyIntervals result;
  for (Value mask : getMasks()) {
    KeyIntervals next = fovea::buildKeyIntervals(b, loc, mask, tile);
    result.cover = uniteAll(m, result.cover, next.cover);
    result.full.append(next.full);
    shorten(m, result);
  }
  return result;
}

KeyIntervals MaskNotOp::buildKeyIntervals(OpBuilder &b, Location loc, const QueryTile &tile) {
  IndexMath m{b, loc};
  KeyIntervals inner = fovea::buildKeyIntervals(b, loc, getMask(), tile);
  KeyIntervals result{{everything(m)}, {everything(m)}};
  auto without = [&](SmallVector<KeyInterval, 4> &list, KeyInterval taken) {
    SmallVector<KeyInterval, 4> next;
    for (KeyInterval i : list)
      subtract(m, i, taken, next);
    list = std::move(next);
  };
  // Allowed at most where the inner mask is not full; surely allowed where it is not covered.
  // Taking away fewer intervals than there are is right for the cover, and wrong for the full list,
  // which is then dropped.
  for (KeyInterval full : inner.full)
    if (result.cover.size() < kMaxIntervals / 2 + 1)
      without(result.cover, full);
  for (KeyInterval cover : inner.cover)
    without(result.full, cover);
  if (result.full.size() > kMaxIntervals)
    result.full.clear();
  return result;
}

KeyIntervals mlir::fovea::buildKeyIntervals(OpBuilder &b, Location loc, Value mask,
                                            const QueryTile &tile) {
  IndexMath m{b, loc};
  if (!mask)
    return {{everything(m)}, {everything(m)}};
  return cast<MaskOpInterface>(mask.getDefiningOp()).buildKeyIntervals(b, loc, tile);
}
