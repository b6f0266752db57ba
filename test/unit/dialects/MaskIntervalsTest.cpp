// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MaskOpInterface by brute force: random masks are built beside a plain function that says the
// same; the predicate must agree with it for every query and key, and the intervals of a tile must
// promise neither too little (a key outside of the cover) nor too much (a forbidden key in a full
// interval).
#include "dialects/Fovea/FoveaDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "gtest/gtest.h"
#include <functional>
#include <random>

using namespace mlir;
using namespace mlir::fovea;

namespace {

/// One query and key as the definitions of the masks name them.
struct Point {
  int64_t batch, head, query, key, queryPosition, keyPosition;
};
using Allowed = std::function<bool(const Point &)>;

/// A mask in the IR and what it means.
struct Mask {
  Value value;
  Allowed allowed;
  std::string text;
};

/// Runs the integer code that the interface emits: arith, reads of constant tensors, and loops that
/// carry numbers.
class Evaluator {
public:
  void bind(Value value, int64_t number) { known[value] = number; }

  int64_t operator()(Value value) {
    if (auto it = known.find(value); it != known.end())
      return it->second;
    Operation *op = value.getDefiningOp();
    if (!op) {
      ADD_FAILURE() << "an argument has no value";
      return 0;
    }
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      run(loop);
      return known.lookup(value);
    }
    return known[value] = run(op);
  }

private:
  void run(scf::ForOp loop) {
    SmallVector<int64_t> carried;
    for (Value init : loop.getInitArgs())
      carried.push_back((*this)(init));
    int64_t end = (*this)(loop.getUpperBound()), step = (*this)(loop.getStep());
    for (int64_t i = (*this)(loop.getLowerBound()); i < end; i += step) {
      for (Operation &op : *loop.getBody())
        for (Value result : op.getResults())
          known.erase(result);
      bind(loop.getInductionVar(), i);
      for (auto [argument, number] : llvm::zip(loop.getRegionIterArgs(), carried))
        bind(argument, number);
      for (auto [number, yielded] : llvm::zip(carried, loop.getYieldedValues()))
        number = (*this)(yielded);
    }
    for (auto [result, number] : llvm::zip(loop.getResults(), carried))
      bind(result, number);
  }

  int64_t run(Operation *op) {
    auto in = [&](unsigned i) { return (*this)(op->getOperand(i)); };
    IntegerAttr constant;
    if (matchPattern(op, m_Constant(&constant)))
      return constant.getType().isInteger(1) ? constant.getValue().getZExtValue()
                                             : constant.getValue().getSExtValue();
    if (isa<arith::AddIOp>(op))
      return wrap(op, in(0) + in(1));
    if (isa<arith::SubIOp>(op))
      return wrap(op, in(0) - in(1));
    if (isa<arith::MinSIOp>(op))
      return std::min(in(0), in(1));
    if (isa<arith::MaxSIOp>(op))
      return std::max(in(0), in(1));
    if (isa<arith::MinUIOp>(op))
      return static_cast<int64_t>(
          std::min(static_cast<uint64_t>(in(0)), static_cast<uint64_t>(in(1))));
    if (isa<arith::AndIOp>(op))
      return in(0) & in(1);
    if (isa<arith::OrIOp>(op))
      return in(0) | in(1);
    if (isa<arith::XOrIOp>(op))
      return in(0) ^ in(1);
    if (isa<arith::SelectOp>(op))
      return in(0) ? in(1) : in(2);
    if (isa<arith::IndexCastOp, arith::ExtSIOp>(op))
      return in(0);
    if (auto compare = dyn_cast<arith::CmpIOp>(op))
      switch (compare.getPredicate()) {
      case arith::CmpIPredicate::eq:
        return in(0) == in(1);
      case arith::CmpIPredicate::ne:
        return in(0) != in(1);
      case arith::CmpIPredicate::slt:
        return in(0) < in(1);
      case arith::CmpIPredicate::sle:
        return in(0) <= in(1);
      default:
        break;
      }
    if (auto dim = dyn_cast<tensor::DimOp>(op))
      return contents(dim.getSource()).getType().getDimSize(in(1));
    if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
      DenseIntElementsAttr elements = contents(extract.getTensor());
      SmallVector<uint64_t> place;
      for (auto [i, index] : llvm::enumerate(extract.getIndices())) {
        int64_t at = (*this)(index);
        if (at < 0 || at >= elements.getType().getDimSize(i)) {
          ADD_FAILURE() << "reads place " << at << " of axis " << i << " outside of the tensor";
          return 0;
        }
        place.push_back(at);
      }
      APInt element = elements.getValues<APInt>()[place];
      return element.getBitWidth() == 1 ? element.getZExtValue() : element.getSExtValue();
    }
    ADD_FAILURE() << "does not know " << op->getName().getStringRef().str();
    return 0;
  }

  /// Sums have the width of their type, and none of them may wrap.
  static int64_t wrap(Operation *op, int64_t sum) {
    if (op->getResult(0).getType().isInteger(32) && sum != static_cast<int32_t>(sum))
      ADD_FAILURE() << "a sum of 32 bits wraps";
    return sum;
  }

  static DenseIntElementsAttr contents(Value tensor) {
    while (auto cast = tensor.getDefiningOp<tensor::CastOp>())
      tensor = cast.getSource();
    DenseIntElementsAttr elements;
    EXPECT_TRUE(matchPattern(tensor, m_Constant(&elements)));
    return elements;
  }

  llvm::DenseMap<Value, int64_t> known;
};

/// Draws masks, tiles and positions. Equal seeds give equal cases on every machine, so no
/// distribution of the standard library is used.
class MaskCase {
public:
  MaskCase(MLIRContext &context, unsigned seed)
      : random(seed), builder(&context), loc(builder.getUnknownLoc()),
        module(ModuleOp::create(builder, loc)) {
    builder.setInsertionPointToStart(module->getBody());
    batches = draw(1, 3);
    heads = draw(1, 2);
    queries = draw(1, 6);
    keys = draw(0, 9);
    // Positions count from a first one, as in decoding, or come in any order; some lie at the ends
    // of what 32 bits hold.
    int64_t base = draw(0, 9) == 0   ? std::numeric_limits<int32_t>::max() - 12
                   : draw(0, 9) == 0 ? std::numeric_limits<int32_t>::min() + 12
                                     : 0;
    auto positions = [&](int64_t count, int64_t first, bool inOrder) {
      std::vector<int64_t> result;
      for (int64_t i = 0; i < count; ++i)
        result.push_back(base + (inOrder ? first + i : draw(-2, 10)));
      return result;
    };
    queryPositions = positions(queries, draw(-2, 5), draw(0, 2) != 0);
    keyPositions = positions(keys, draw(0, 2) == 0 ? draw(-2, 2) : 0, draw(0, 2) != 0);
  }

  int64_t draw(int64_t least, int64_t most) {
    return least + static_cast<int64_t>(random() % static_cast<uint64_t>(most - least + 1));
  }

  /// Masks that look at places have intervals only where positions are these.
  void placeKeys() {
    for (int64_t key = 0; key < keys; ++key)
      keyPositions[key] = key;
  }

  MaskType type() { return MaskType::get(builder.getContext()); }

  /// A constant of the given shape with elements in [least, most]; at times its type hides the
  /// sizes.
  Value tensor(ArrayRef<int64_t> shape, Type element, int64_t least, int64_t most,
               std::vector<int64_t> &values) {
    auto type = RankedTensorType::get(shape, element);
    SmallVector<APInt> elements;
    for (int64_t i = 0; i < type.getNumElements(); ++i) {
      values.push_back(draw(least, most));
      elements.push_back(APInt(element.getIntOrFloatBitWidth(), values.back(), /*isSigned=*/true,
                               /*implicitTrunc=*/true));
    }
    Value constant =
        arith::ConstantOp::create(builder, loc, DenseIntElementsAttr::get(type, elements));
    if (draw(0, 2) != 0)
      return constant;
    SmallVector<int64_t> open(shape.size(), ShapedType::kDynamic);
    return tensor::CastOp::create(builder, loc, RankedTensorType::get(open, element), constant);
  }

  /// One element for each batch row, or one for all.
  Value lengths(std::function<int64_t(int64_t)> &of) {
    auto values = std::make_shared<std::vector<int64_t>>();
    int64_t rows = draw(0, 1) ? batches : 1;
    // Near the key positions, wherever those are.
    int64_t base = keyPositions.empty() ? 0 : keyPositions.front();
    Value result = tensor({rows}, builder.getI32Type(), std::max<int64_t>(base - 3, INT32_MIN),
                          std::min<int64_t>(base + 9, INT32_MAX), *values);
    of = [values, rows](int64_t batch) { return (*values)[rows == 1 ? 0 : batch]; };
    return result;
  }

  /// Packed documents: ids by place, one row for all batch rows.
  Mask documents(std::vector<int64_t> queryIds, std::vector<int64_t> keyIds) {
    auto constant = [&](const std::vector<int64_t> &ids) -> Value {
      auto type =
          RankedTensorType::get({1, static_cast<int64_t>(ids.size())}, builder.getI32Type());
      std::vector<int32_t> elements(ids.begin(), ids.end());
      return arith::ConstantOp::create(builder, loc,
                                       DenseElementsAttr::get(type, ArrayRef<int32_t>(elements)));
    };
    queries = static_cast<int64_t>(queryIds.size());
    keys = static_cast<int64_t>(keyIds.size());
    queryPositions.assign(queryIds.size(), 0);
    keyPositions.assign(keyIds.size(), 0);
    placeKeys();
    Value value = MaskSegmentOp::create(builder, loc, type(), constant(queryIds), constant(keyIds));
    return {value, [=](const Point &p) { return queryIds[p.query] == keyIds[p.key]; }, "documents"};
  }

  Mask leaf(bool positional) {
    std::function<int64_t(int64_t)> length;
    switch (draw(0, positional ? 4 : 6)) {
    case 0:
      return {MaskCausalOp::create(builder, loc, type()),
              [](const Point &p) { return p.keyPosition <= p.queryPosition; }, "causal"};
    case 1: {
      int64_t left = draw(0, 19) ? draw(-4, 6) : int64_t(1) << 32;
      int64_t right = std::max(-left, draw(0, 19) ? draw(-4, 6) : int64_t(1) << 32);
      int64_t sides = draw(1, 3);
      Value value = MaskWindowOp::create(
          builder, loc, type(), sides & 1 ? builder.getI64IntegerAttr(left) : IntegerAttr(),
          sides & 2 ? builder.getI64IntegerAttr(right) : IntegerAttr());
      return {value,
              [=](const Point &p) {
                return (!(sides & 1) || p.queryPosition - left <= p.keyPosition) &&
                       (!(sides & 2) || p.keyPosition <= p.queryPosition + right);
              },
              "window"};
    }
    case 2: {
      Value value = MaskLengthOp::create(builder, loc, type(), lengths(length));
      return {value, [=](const Point &p) { return p.keyPosition < length(p.batch); }, "length"};
    }
    case 3: {
      Value value = MaskPrefixOp::create(builder, loc, type(), lengths(length));
      return {value,
              [=](const Point &p) {
                return p.keyPosition <= p.queryPosition || p.keyPosition < length(p.batch);
              },
              "prefix"};
    }
    case 4: {
      int64_t tokens = draw(0, 9) ? draw(1, 5) : (int64_t(1) << 32) + draw(-1, 1);
      return {MaskGlobalOp::create(builder, loc, type(), tokens),
              [=](const Point &p) { return p.keyPosition < tokens || p.queryPosition < tokens; },
              "global"};
    }
    case 5: {
      auto q = std::make_shared<std::vector<int64_t>>(),
           k = std::make_shared<std::vector<int64_t>>();
      int64_t queryRows = draw(0, 1) ? batches : 1, keyRows = draw(0, 1) ? batches : 1;
      // Ids may lie at the ends of what 32 bits hold.
      int64_t id = std::array<int64_t, 3>{-1, INT32_MIN, INT32_MAX - 2}[draw(0, 2)];
      Value query = tensor({queryRows, queries}, builder.getI32Type(), id, id + 2, *q);
      Value key = tensor({keyRows, keys}, builder.getI32Type(), id, id + 2, *k);
      int64_t queryCount = queries, keyCount = keys;
      return {MaskSegmentOp::create(builder, loc, type(), query, key),
              [=](const Point &p) {
                return (*q)[(queryRows == 1 ? 0 : p.batch) * queryCount + p.query] ==
                       (*k)[(keyRows == 1 ? 0 : p.batch) * keyCount + p.key];
              },
              "segment"};
    }
    default: {
      int64_t rank = draw(1, 4);
      std::array<int64_t, 4> full{batches, heads, queries, keys};
      SmallVector<int64_t> shape;
      for (int64_t axis = 4 - rank; axis < 4; ++axis)
        shape.push_back(draw(0, 2) ? full[axis] : 1);
      Type element = builder.getIntegerType(std::array<int, 4>{1, 8, 32, 64}[draw(0, 3)]);
      auto values = std::make_shared<std::vector<int64_t>>();
      Value value = tensor(shape, element, element.isInteger(1) ? 0 : -1, 1, *values);
      return {MaskDenseOp::create(builder, loc, type(), value),
              [=](const Point &p) {
                std::array<int64_t, 4> at{p.batch, p.head, p.query, p.key};
                int64_t place = 0;
                for (int64_t axis = 0; axis < rank; ++axis)
                  place = place * shape[axis] + (shape[axis] == 1 ? 0 : at[4 - rank + axis]);
                return (*values)[place] != 0;
              },
              "dense"};
    }
    }
  }

  Mask expression(int depth, bool positional, int64_t mostOperands) {
    int64_t kind = depth == 0 ? 0 : draw(0, 5);
    if (kind <= 1)
      return leaf(positional);
    if (kind == 2) {
      Mask inner = expression(depth - 1, positional, mostOperands);
      return {MaskNotOp::create(builder, loc, type(), inner.value),
              [inner](const Point &p) { return !inner.allowed(p); }, "not(" + inner.text + ")"};
    }
    // Seldom as many as do not fit a short list of intervals any more.
    int64_t count =
        draw(0, 7) ? draw(0, std::min<int64_t>(3, mostOperands)) : draw(0, mostOperands);
    auto inner = std::make_shared<std::vector<Mask>>();
    SmallVector<Value> values;
    std::string text;
    for (int64_t i = 0; i < count; ++i) {
      inner->push_back(expression(depth - 1, positional, mostOperands));
      values.push_back(inner->back().value);
      text += (i ? ", " : "") + inner->back().text;
    }
    if (kind == 3)
      return {MaskAndOp::create(builder, loc, type(), values),
              [inner](const Point &p) {
                return llvm::all_of(*inner, [&](const Mask &m) { return m.allowed(p); });
              },
              "and(" + text + ")"};
    return {MaskOrOp::create(builder, loc, type(), values),
            [inner](const Point &p) {
              return llvm::any_of(*inner, [&](const Mask &m) { return m.allowed(p); });
            },
            "or(" + text + ")"};
  }

  Point point(int64_t batch, int64_t head, int64_t query, int64_t key) {
    return {batch, head, query, key, queryPositions[query], keyPositions[key]};
  }

  std::mt19937 random;
  OpBuilder builder;
  Location loc;
  OwningOpRef<ModuleOp> module;
  int64_t batches, heads, queries, keys;
  std::vector<int64_t> queryPositions, keyPositions;
};

/// Intervals as numbers.
struct Span {
  int64_t begin, end;
};

bool within(ArrayRef<Span> spans, int64_t position) {
  return llvm::any_of(spans, [&](Span s) { return s.begin <= position && position < s.end; });
}

class MaskTest : public ::testing::Test {
protected:
  MaskTest() { context.loadDialect<FoveaDialect, arith::ArithDialect, tensor::TensorDialect>(); }

  /// Arguments that stand for the place of a tile or point, owned by `arguments`.
  Value argument(Type type) { return arguments.addArgument(type, UnknownLoc::get(&context)); }

  void intervals(MaskCase &c, const Mask &mask, int64_t batch, int64_t head, int64_t begin,
                 int64_t end, SmallVectorImpl<Span> &cover, SmallVectorImpl<Span> &full) {
    Type index = c.builder.getIndexType();
    ArrayRef<int64_t> positions(c.queryPositions);
    positions = positions.take_front(end).drop_front(begin);
    std::array<int64_t, 7> numbers{
        batch,
        head,
        begin,
        end,
        positions.empty() ? 0 : *std::min_element(positions.begin(), positions.end()),
        positions.empty() ? 0 : *std::max_element(positions.begin(), positions.end()),
        c.keys};
    std::array<Value, 7> values;
    Evaluator evaluate;
    for (auto [value, number] : llvm::zip(values, numbers)) {
      value = argument(index);
      evaluate.bind(value, number);
    }
    QueryTile tile{values[0], values[1], values[2], values[3],
                   values[4], values[5], values[6], c.heads};
    KeyIntervals result = buildKeyIntervals(c.builder, c.loc, mask.value, tile);
    EXPECT_LE(result.cover.size(), 6u) << mask.text;
    EXPECT_LE(result.full.size(), 6u) << mask.text;
    for (KeyInterval i : result.cover)
      cover.push_back({evaluate(i.begin), evaluate(i.end)});
    for (KeyInterval i : result.full)
      full.push_back({evaluate(i.begin), evaluate(i.end)});
  }

  /// Checks one tile; also that nothing is given away if `exact`.
  void check(MaskCase &c, const Mask &mask, int64_t batch, int64_t head, int64_t begin, int64_t end,
             bool exact) {
    SmallVector<Span> cover, full;
    intervals(c, mask, batch, head, begin, end, cover, full);
    for (size_t i = 0; i < cover.size(); ++i)
      for (size_t j = 0; j < i; ++j)
        EXPECT_GE(std::max(cover[i].begin, cover[j].begin), std::min(cover[i].end, cover[j].end))
            << "cover overlaps for " << mask.text;
    for (int64_t key = 0; key < c.keys; ++key) {
      bool some = false, all = true;
      for (int64_t query = begin; query < std::min(end, c.queries); ++query) {
        bool allowed = mask.allowed(c.point(batch, head, query, key));
        some |= allowed;
        all &= allowed;
      }
      bool covered = within(cover, c.keyPositions[key]);
      bool surely = within(full, c.keyPositions[key]);
      EXPECT_TRUE(covered || !some) << "key " << key << " is lost by " << mask.text;
      EXPECT_TRUE(all || !surely) << "key " << key << " is not free in " << mask.text;
      if (exact) {
        EXPECT_EQ(covered, some) << "key " << key << " of " << mask.text;
        EXPECT_EQ(surely, all) << "key " << key << " of " << mask.text;
      }
    }
  }

  void checkPredicate(MaskCase &c, const Mask &mask) {
    Type index = c.builder.getIndexType(), i32 = c.builder.getI32Type();
    MaskPoint place{argument(index), argument(index), argument(index),
                    argument(index), argument(i32),   argument(i32)};
    Value predicate = buildPredicate(c.builder, c.loc, mask.value, place);
    ASSERT_TRUE(predicate.getType().isInteger(1));
    for (int64_t batch = 0; batch < c.batches; ++batch)
      for (int64_t head = 0; head < c.heads; ++head)
        for (int64_t query = 0; query < c.queries; ++query)
          for (int64_t key = 0; key < c.keys; ++key) {
            Point p = c.point(batch, head, query, key);
            Evaluator evaluate;
            evaluate.bind(place.batch, p.batch);
            evaluate.bind(place.head, p.head);
            evaluate.bind(place.query, p.query);
            evaluate.bind(place.key, p.key);
            evaluate.bind(place.queryPosition, p.queryPosition);
            evaluate.bind(place.keyPosition, p.keyPosition);
            ASSERT_EQ(evaluate(predicate) != 0, mask.allowed(p))
                << mask.text << " at batch " << batch << ", head " << head << ", query " << query
                << ", key " << key;
          }
  }

  MLIRContext context;
  Block arguments;
};

TEST_F(MaskTest, PredicatesSayWhatTheDefinitionsSay) {
  for (unsigned seed = 0; seed < 400 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    MaskCase c(context, seed);
    checkPredicate(c, c.expression(/*depth=*/seed % 4, /*positional=*/false, /*mostOperands=*/5));
  }
}

TEST_F(MaskTest, IntervalsPromiseNeitherTooLittleNorTooMuch) {
  for (unsigned seed = 0; seed < 3000 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    MaskCase c(context, 10000 + seed);
    bool positional = seed % 3 != 0;
    if (!positional)
      c.placeKeys();
    Mask mask = c.expression(/*depth=*/seed % 4, positional, /*mostOperands=*/9);
    int64_t begin = c.draw(0, c.queries - 1);
    check(c, mask, c.draw(0, c.batches - 1), c.draw(0, c.heads - 1), begin,
          c.draw(begin + 1, c.queries), /*exact=*/false);
  }
}

/// For one query, a mask that looks at positions only and is small gives exactly its keys.
TEST_F(MaskTest, SmallMasksOfOneQueryAreExact) {
  for (unsigned seed = 0; seed < 1500 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    MaskCase c(context, 20000 + seed);
    auto small = [&] {
      Mask inner = c.leaf(/*positional=*/true);
      if (c.draw(0, 1))
        return inner;
      return Mask{MaskNotOp::create(c.builder, c.loc, c.type(), inner.value),
                  [inner](const Point &p) { return !inner.allowed(p); }, "not(" + inner.text + ")"};
    };
    Mask a = small(), b = small();
    bool both = c.draw(0, 1);
    SmallVector<Value> values{a.value, b.value};
    Mask mask{both ? Value(MaskAndOp::create(c.builder, c.loc, c.type(), values))
                   : Value(MaskOrOp::create(c.builder, c.loc, c.type(), values)),
              [=](const Point &p) {
                return both ? a.allowed(p) && b.allowed(p) : a.allowed(p) || b.allowed(p);
              },
              (both ? "and(" : "or(") + a.text + ", " + b.text + ")"};
    int64_t query = c.draw(0, c.queries - 1);
    check(c, mask, c.draw(0, c.batches - 1), c.draw(0, c.heads - 1), query, query + 1,
          /*exact=*/true);
  }
}

/// Within a document whose keys lie together, and of one that has none, nothing is given away.
TEST_F(MaskTest, TilesOfOneDocumentAreExact) {
  for (unsigned seed = 0; seed < 300 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    MaskCase c(context, 30000 + seed);
    // In any order, each id in one run; query and key runs differ in length and may be missing.
    std::vector<int64_t> ids{-7, 40, INT32_MIN, 3, INT32_MAX}, queryIds, keyIds;
    for (size_t i = ids.size(); i > 1; --i)
      std::swap(ids[i - 1], ids[c.draw(0, static_cast<int64_t>(i) - 1)]);
    for (int64_t id : ids) {
      queryIds.insert(queryIds.end(), c.draw(1, 4), id);
      keyIds.insert(keyIds.end(), c.draw(0, 4), id);
    }
    Mask mask = c.documents(queryIds, keyIds);
    for (int64_t begin = 0; begin < c.queries;) {
      int64_t end = begin;
      while (end < c.queries && queryIds[end] == queryIds[begin])
        ++end;
      check(c, mask, 0, 0, begin, end, /*exact=*/true);
      begin = end;
    }
  }
}

TEST_F(MaskTest, SegmentsCoverFromTheFirstToTheLastKey) {
  MaskCase c(context, 4);
  auto expect = [&](const Mask &mask, int64_t begin, int64_t end, Span cover, bool isFull) {
    SmallVector<Span> covers, full;
    intervals(c, mask, 0, 0, begin, end, covers, full);
    ASSERT_EQ(covers.size(), 1u);
    EXPECT_EQ(covers[0].begin, cover.begin);
    EXPECT_EQ(covers[0].end, cover.end);
    for (int64_t key = 0; key < c.keys; ++key)
      EXPECT_EQ(within(full, key), isFull && cover.begin <= key && key < cover.end) << key;
  };
  // Rising ids: a tile of two documents covers both and nothing else, and is full for none.
  Mask packed = c.documents({0, 0, 1, 1, 2, 2}, {0, 0, 0, 1, 1, 2, 2, 3});
  expect(packed, 0, 2, {0, 3}, true);
  expect(packed, 1, 3, {0, 5}, false);
  expect(packed, 3, 5, {3, 7}, false);
  // A tile may reach past the last query.
  expect(packed, 4, 64, {5, 7}, true);
  // One id in two places: what lies between is not its own.
  Mask apart = c.documents({5, -5}, {-5, 5, 9, 5, -5});
  expect(apart, 0, 1, {1, 4}, false);
  expect(apart, 1, 2, {0, 5}, false);
}

TEST_F(MaskTest, NoQueryOrNoKeyIsCoveredBySegments) {
  MaskCase c(context, 5);
  auto isEmpty = [&](const Mask &mask, int64_t begin, int64_t end) {
    SmallVector<Span> cover, full;
    intervals(c, mask, 0, 0, begin, end, cover, full);
    auto none = [](Span s) { return s.end <= s.begin; };
    return llvm::all_of(cover, none) && llvm::all_of(full, none);
  };
  EXPECT_TRUE(isEmpty(c.documents({0, 1}, {}), 0, 2));
  EXPECT_TRUE(isEmpty(c.documents({4}, {1, 7}), 0, 1));
  EXPECT_TRUE(isEmpty(c.documents({0, INT32_MAX, INT32_MIN}, {INT32_MAX, 0, INT32_MIN}), 1, 1));
}

/// A window with a few global tokens is two intervals, not the one around both.
TEST_F(MaskTest, WindowOrGlobalIsNotTheirHull) {
  MaskCase c(context, 1);
  SmallVector<Value> values{MaskWindowOp::create(c.builder, c.loc, c.type(),
                                                 c.builder.getI64IntegerAttr(1),
                                                 c.builder.getI64IntegerAttr(0)),
                            MaskGlobalOp::create(c.builder, c.loc, c.type(), 2)};
  Mask mask{MaskOrOp::create(c.builder, c.loc, c.type(), values), {}, "or(window, global)"};
  c.queryPositions = {100, 101};
  SmallVector<Span> cover, full;
  intervals(c, mask, 0, 0, 0, 2, cover, full);
  EXPECT_TRUE(within(cover, 0) && within(cover, 1) && within(full, 1));
  EXPECT_FALSE(within(cover, 2) || within(cover, 98));
  EXPECT_TRUE(within(cover, 99) && within(cover, 101));
  EXPECT_TRUE(within(full, 100));
  EXPECT_FALSE(within(full, 99) || within(full, 101) || within(cover, 102));
}

/// The lists do not grow, and neither does the code that computes them, with the number of masks.
TEST_F(MaskTest, ManyMasksStaySmall) {
  MaskCase c(context, 2);
  SmallVector<Value> windows, holes;
  for (int64_t i = 0; i < 12; ++i) {
    windows.push_back(MaskWindowOp::create(c.builder, c.loc, c.type(),
                                           c.builder.getI64IntegerAttr(-10 * i),
                                           c.builder.getI64IntegerAttr(10 * i + 3)));
    holes.push_back(MaskNotOp::create(c.builder, c.loc, c.type(), windows.back()));
  }
  Mask any{MaskOrOp::create(c.builder, c.loc, c.type(), windows), {}, "or of windows"};
  Mask none{MaskAndOp::create(c.builder, c.loc, c.type(), holes), {}, "and of holes"};
  c.queryPositions = {0};
  for (const Mask &mask : {any, none}) {
    size_t before = c.module->getBody()->getOperations().size();
    SmallVector<Span> cover, full;
    intervals(c, mask, 0, 0, 0, 1, cover, full);
    EXPECT_LT(c.module->getBody()->getOperations().size() - before, 1500u) << mask.text;
  }
}

TEST_F(MaskTest, AbsentMaskAllowsEverything) {
  MaskCase c(context, 3);
  Mask mask{Value(), [](const Point &) { return true; }, "absent"};
  check(c, mask, 0, 0, 0, c.queries, /*exact=*/true);
  checkPredicate(c, mask);
}

} // namespace
