// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The products of four neighbours in k, unsigned by signed bytes, are added to a sum of 32 bits by
// one instruction, four times as many operations as a multiply-and-add of f32, without rounding; or
// in 16 bits first, as many as these hold (ProductInstructions.h). Refuses depths and groups that
// are no whole units.
#include "dialects/Tile/TileDialect.h"
#include "lowering/CPU/NeonMatrices.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fovea;

//===-- Vectors of bytes ---------------------------------------------------------------------===//

Value mlir::fovea::splatByte(Emitter &b, uint8_t value, int64_t count) {
  auto type = VectorType::get(count, b.getI8Type());
  return arith::ConstantOp::create(b, DenseElementsAttr::get(type, APInt(8, value)));
}

Value mlir::fovea::shiftByZeroPoint(Emitter &b, Value bytes) {
  return arith::XOrIOp::create(b, bytes, splatByte(b, tile::DotOp::kZeroPoint, getLanes(bytes)));
}

static Value splatWord(Emitter &b, uint32_t value, int64_t count) {
  auto type = VectorType::get(count, b.getI32Type());
  return arith::ConstantOp::create(b, DenseElementsAttr::get(type, APInt(32, value)));
}

//===-- Factors ------------------------------------------------------------------------------===//

int64_t mlir::fovea::getShift(Emitter &b, const FewBits &form, int64_t bits) {
  return b.products->countShorts(bits) == 0 ? form.shift() : 0;
}

static int64_t getShift(Emitter &b, const LaneOperand &lane) {
  return getShift(b, lane.form(), lane.bits);
}

Value mlir::fovea::byPowerOfTwo(Emitter &b, Value factor, int64_t exponent, int64_t lanes) {
  auto floats = VectorType::get(lanes, b.getF32Type());
  auto power = static_cast<float>(std::ldexp(1.0, static_cast<int>(exponent)));
  Value part =
      arith::ConstantOp::create(b, DenseElementsAttr::get(floats, b.getF32FloatAttr(power)));
  return factor ? Value(arith::MulFOp::create(b, factor, part)) : part;
}

/// Fetches factors of vector v some way ahead of step `number`: there are too few of them for the
/// processor to foresee. Vectors of a panel share lines.
static void fetchFactors(Emitter &b, const DotBlock &block, const LaneScales &factors, int64_t v,
                         Value number) {
  constexpr int64_t kAhead = 8, kLine = 64;
  if (!block.lane.streams || factors.group == 0)
    return;
  auto element = cast<MemRefType>(factors.memory.getType()).getElementType();
  int64_t perLine = kLine * 8 / element.getIntOrFloatBitWidth();
  int64_t panel = getConstant(factors.stride).value_or(perLine);
  if (v % std::max<int64_t>(1, panel / block.lanes) != 0)
    return;
  Value distance = getFetchDistance(b, factors.stride, factors.jump, number,
                                    b.div(block.depth, factors.group), kAhead);
  Value at = b.add(factors.vectors[v], b.add(b.mul(number, factors.stride), distance));
  for (int64_t line = 0; line < panel; line += perLine)
    b.prefetch(factors.memory, b.add(at, line), getFetchLocality(block));
}

//===-- The atom -----------------------------------------------------------------------------===//

namespace {
class ByteAtom : public DotAtom {
public:
  bool supports(const DotBlock &block) const override {
    const LaneOperand &lane = block.lane;
    std::optional<int64_t> depth = getConstant(block.depth);
    return block.lanes >= 4 && block.sum.isF32() && block.broadcast.type.isInteger(8) &&
           getConstant(block.broadcast.stride) == 1 && lane.isOfUnits() && depth && *depth > 0 &&
           *depth % lane.interleave == 0 && lane.scales.group % lane.interleave == 0 &&
           (lane.scales.group == 0 || *depth % lane.scales.group == 0);
  }
  bool multipliesBytes() const override { return true; }
  SmallVector<Value> emit(Emitter &b, const DotBlock &block, SmallVector<Value> acc) const override;
};

/// The pieces of a group, and then its sums of integers as numbers.
class ByteGroup {
public:
  ByteGroup(Emitter &b, const DotBlock &block, Value first, Value number, int64_t length)
      : b(b), block(block), lane(block.lane), first(first), number(number), length(length),
        form(lane.form()), knowsZero(bool(lane.zero.memory)), unpacks(!form.areBytes()),
        pieces(lane.interleave / form.piece()), hasOffsets(lane.offsets.group > 0),
        shortSums(b.products->countShorts(lane.bits)),
        isSigned(!knowsZero && b.products->multipliesSigned()),
        swaps((unpacks || hasOffsets || sumsOnce()) && !knowsZero && !isSigned) {}

  /// Added to `acc`, scaled if there are scales.
  SmallVector<Value> run(ValueRange acc) {
    SmallVector<Value> sums = begin();
    shorts.assign(sums.size(), Value());
    // A group is written out, or as many pieces as sums of 16 bits hold; at least a unit.
    int64_t count = length / form.piece(), most = count <= 8 ? 8 : 4;
    if (holdsShorts())
      most = unpacks ? kHeld / 2 : kHeld;
    int64_t unroll = std::max(std::min(count, most), pieces);
    while (count % unroll != 0)
      unroll /= 2;
    int64_t together = holdsShorts() ? 1 : std::clamp<int64_t>(shortSums, 1, 2);
    // More of a unit together would take a register for each of the row's words.
    if (block.rows() == 1)
      together = std::max(together, std::min<int64_t>(pieces, 2));
    spreadsFetches = block.rows() == 1 && count == unroll;
    heldPieces = std::min(unroll, ByteElements::kWords);
    takesElements = b.products->takesElements() &&
                    (unroll % ByteElements::kWords == 0 || (unpacks && unroll == 2));
    // Elements of a single row need no registers, so that one sum after the other takes all words.
    if (takesElements && block.rows() == 1)
      together = unroll;
    elements.resize(block.rows());
    bool byMatrices = takesElements && knowsZero && !unpacks && multipliesMatrices(b, block) &&
                      lane.scales.group == 0 && unroll == kMatrixWords;
    if (byMatrices)
      sums = toMatrices(b, block, sums);
    auto step = [&](Value k, ValueRange carried) {
      SmallVector<Value> next(carried);
      if (byMatrices)
        multiplyMatrices(b, block, k, next);
      for (int64_t u = 0; u < unroll && !byMatrices; u += together) {
        int64_t end = std::min(u + together, unroll);
        addPieces(k, u, end - u, next);
        if (spreadsFetches)
          for (int64_t v = u * block.vectors() / unroll; v < end * block.vectors() / unroll; ++v)
            fetchNextFactors(v);
        // Fetched all at once, a group's lines would wait for miss buffers, and its loads for them.
        if (block.rows() == 1 && lane.streams && end < unroll)
          b.keepOrder();
      }
      addShorts(next);
      return next;
    };
    sums = count == unroll ? step(first, sums)
                           : b.loop(first, b.add(first, length), unroll * form.piece(), sums, step);
    return finish(byMatrices ? fromMatrices(b, block, sums) : sums, acc);
  }

private:
  int64_t products() const { return block.rows() * block.vectors(); }
  /// Whether a single row gives its zero point to the vectors because a sum is several
  /// instructions: one beside the products in place of one for each vector.
  bool sumsOnce() const { return block.rows() == 1 && b.products->countShorts(1) > 0; }
  uint8_t getZeroPoint() const {
    return shortSums > 0 ? static_cast<uint8_t>(1 << (lane.bits - 1)) : tile::DotOp::kZeroPoint;
  }
  /// Whether sums of 16 bits are held from piece to piece, until they are full; those of fewer
  /// products are added to the sums of 32 at once.
  bool holdsShorts() const { return shortSums >= kHeld; }

  /// Adds the sum of products to sum `i`.
  void add(int64_t i, ArrayRef<Value> unsignedBytes, ArrayRef<Value> signedBytes,
           MutableArrayRef<Value> sums) {
    int64_t held = 0;
    for (auto [x, y] : llvm::zip_equal(unsignedBytes, signedBytes)) {
      if (shortSums == 0) {
        sums[i] = isSigned ? b.products->multiplySigned(b, sums[i], x, y)
                           : multiplyBytes(b, sums[i], x, y);
        continue;
      }
      Value products = b.products->multiplyToShorts(b, x, y);
      shorts[i] = shorts[i] ? Value(arith::AddIOp::create(b, shorts[i], products)) : products;
      if (!holdsShorts() && ++held % shortSums == 0)
        addShorts(i, sums);
    }
    if (!holdsShorts())
      addShorts(i, sums);
  }

  /// Adds a sum of 16 bits to that of 32, and begins it anew.
  void addShorts(int64_t i, MutableArrayRef<Value> sums) {
    if (shorts[i])
      sums[i] = b.products->addShorts(b, sums[i], shorts[i]);
    shorts[i] = {};
  }

  void addShorts(MutableArrayRef<Value> sums) {
    for (size_t i = 0; i < shorts.size(); ++i)
      addShorts(i, sums);
  }

  Value load(const LaneScales &from, int64_t v) {
    auto memory = cast<MemRefType>(from.memory.getType());
    return b.load(memory.getElementType(), from.memory,
                  b.add(from.vectors[v], b.mul(number, from.stride)), block.lanes);
  }

  /// Whether elements of each row are summed beside the products: where the vectors have the zero
  /// point, or offsets are added to each number.
  bool sumsRows() const { return swaps || (hasOffsets && !block.groupSums.memory); }

  /// What the zero point adds is taken off before, where it is known; else it is summed beside, by
  /// vector, or by row where the vectors have the zero point. Signed rows have none.
  SmallVector<Value> begin() {
    Value zero = b.zero(VectorType::get(block.lanes, b.getI32Type()));
    SmallVector<Value> starts(block.vectors(), zero), sums;
    if (knowsZero)
      for (int64_t v = 0; v < block.vectors(); ++v)
        starts[v] = load(lane.zero, v);
    for (int64_t r = 0; r < block.rows(); ++r)
      llvm::append_range(sums, starts);
    if (sumsRows())
      sums.append(block.rows(), zero);
    else if (!knowsZero && !isSigned)
      sums.append(block.vectors(), zero);
    return sums;
  }

  /// `count` pieces from `ahead` on of those from `k` on.
  void addPieces(Value k, int64_t ahead, int64_t count, MutableArrayRef<Value> sums) {
    Value offset = b.mul(b.div(k, lane.interleave), lane.stride);
    StreamFetch stream(b, block, k, offset);
    auto placeOf = [&](Value start, Value constant) { // what is constant is added last
      return b.add(b.add(start, offset), constant);
    };
    auto load = [&](int64_t v) {
      SmallVector<Value> parts;
      for (int64_t piece = ahead, end = ahead + count; piece < end;) {
        int64_t unit = piece / pieces;
        UnitWords words([&](int64_t word) {
          Value constant = placeOfWord(unit, word);
          Value at = placeOf(lane.vectors[v], constant);
          if (isFirst(piece % pieces, word))
            stream.fetch(v, at, constant);
          return b.load(b.getI8Type(), lane.memory, at, 4 * block.lanes, lane.alignment);
        });
        for (; piece < end && piece / pieces == unit; ++piece)
          llvm::append_range(parts, unpack(piece % pieces, words));
      }
      return parts;
    };
    auto begin = [&](int64_t r) {
      SmallVector<Value> inputs;
      for (int64_t piece = ahead; piece < ahead + count; ++piece)
        llvm::append_range(inputs, broadcast(r, b.add(k, piece * form.piece()), piece));
      addZero(r, inputs, sums);
      return inputs;
    };
    for (int64_t piece = ahead; piece < ahead + count && lane.next; ++piece)
      for (int64_t word = 0; word < lane.words(); ++word)
        if (isFirst(piece % pieces, word))
          b.prefetch(lane.memory, placeOf(lane.next, placeOfWord(piece / pieces, word)),
                     /*locality=*/2);
    if (block.rows() == 1) {
      SmallVector<Value> inputs = begin(0);
      for (int64_t v = 0; v < block.vectors(); ++v)
        multiply(0, v, inputs, load(v), sums);
      return;
    }
    SmallVector<SmallVector<Value>> parts;
    for (int64_t v = 0; v < block.vectors(); ++v)
      parts.push_back(load(v));
    for (int64_t r = 0; r < block.rows(); ++r) {
      SmallVector<Value> inputs = begin(r);
      for (int64_t v = 0; v < block.vectors(); ++v)
        multiply(r, v, inputs, parts[v], sums);
    }
  }

  Value placeOfWord(int64_t unit, int64_t word) {
    return getPlaceOfWord(b, lane, b.mul(lane.stride, unit), word);
  }

  /// Whether a piece of a unit is the first that reads the word.
  bool isFirst(int64_t piece, int64_t word) const {
    return form.packed.firstPart(word) == 2 * piece;
  }

  /// Bytes of four k each, signed unless they have the zero point: of a piece of less than bytes
  /// those of even k, and of odd ones.
  SmallVector<Value> unpack(int64_t piece, UnitWords &words) {
    if (unpacks) {
      SmallVector<Value> parts;
      for (int64_t part : {2 * piece, 2 * piece + 1})
        parts.push_back(swaps ? form.unpackUnsigned(b, part, words, getZeroPoint())
                              : form.unpackSigned(b, part, words));
      return parts;
    }
    Value bytes = words.load(0);
    return {swaps ? shiftByZeroPoint(b, bytes) : bytes};
  }

  /// Of row r, the k that `unpack` gives, in all lanes.
  SmallVector<Value> broadcast(int64_t r, Value column, int64_t piece) {
    const BroadcastOperand &other = block.broadcast;
    if (takesElements) {
      if (piece % heldPieces == 0)
        elements[r] =
            ByteElements(b, other.memory, b.add(other.rows[r], column), form, heldPieces, isSigned);
      return elements[r].get(b, piece % heldPieces);
    }
    Value all = b.load(b.getI8Type(), other.memory, b.add(other.rows[r], column), form.piece());
    if (isSigned)
      all = shiftByZeroPoint(b, all);
    SmallVector<Value> result;
    auto add = [&](Value four) {
      auto one = VectorType::get(1, b.getI32Type());
      Value word = vector::ExtractOp::create(b, vector::BitCastOp::create(b, one, four), 0);
      Value all = asBytes(b, b.splat(word, block.lanes));
      result.push_back(swaps ? shiftByZeroPoint(b, all) : all);
    };
    if (!unpacks) {
      add(all);
      return result;
    }
    for (int64_t odd : {0, 1})
      add(vector::ShuffleOp::create(b, all, all,
                                    ArrayRef<int64_t>{odd, odd + 2, odd + 4, odd + 6}));
    return result;
  }

  void multiply(int64_t r, int64_t v, ArrayRef<Value> inputs, ArrayRef<Value> parts,
                MutableArrayRef<Value> sums) {
    int64_t i = r * block.vectors() + v;
    swaps ? add(i, parts, inputs, sums) : add(i, inputs, parts, sums);
    if (knowsZero || isSigned || swaps || r != 0)
      return;
    SmallVector<Value> points(parts.size(), splatByte(b, tile::DotOp::kZeroPoint, 4 * block.lanes));
    add(products() + v, points, parts, sums);
  }

  /// What the vectors' zero point adds to all of a row; or its elements, with their own zero point.
  void addZero(int64_t r, ArrayRef<Value> inputs, MutableArrayRef<Value> sums) {
    if (!sumsRows())
      return;
    SmallVector<Value> factors(inputs.size(),
                               splatByte(b, swaps ? getZeroPoint() : 1, 4 * block.lanes));
    swaps ? add(products() + r, factors, inputs, sums) : add(products() + r, inputs, factors, sums);
  }

  /// The sum of a row's elements.
  Value sumOfRow(ArrayRef<Value> sums, int64_t r) {
    if (const BroadcastOperand &given = block.groupSums; given.memory)
      return b.splat(memref::LoadOp::create(b, given.memory,
                                            b.add(given.rows[r], b.mul(number, given.stride))),
                     block.lanes);
    Value sum = sums[products() + r];
    if (swaps)
      sum =
          arith::ShRSIOp::create(b, sum, splatWord(b, llvm::Log2_64(getZeroPoint()), block.lanes));
    else if (!isSigned)
      sum = arith::SubIOp::create(b, sum,
                                  splatWord(b, tile::DotOp::kZeroPoint * length, block.lanes));
    return arith::SIToFPOp::create(b, VectorType::get(block.lanes, b.getF32Type()), sum);
  }

  /// Factors of a vector are loaded where its sums need them, so that none are held beside those of
  /// others.
  SmallVector<Value> finish(ArrayRef<Value> sums, ValueRange acc) {
    SmallVector<Value> rows, result(products());
    for (int64_t r = 0; hasOffsets && r < block.rows(); ++r)
      rows.push_back(sumOfRow(sums, r));
    LaneFactors found;
    for (int64_t v = 0; v < block.vectors(); ++v) {
      Value factor = loadFactor(found, v);
      for (int64_t r = 0; r < block.rows(); ++r) {
        int64_t i = r * block.vectors() + v;
        Value sum = sums[i], before = acc[i];
        if (hasOffsets)
          before = b.mulAdd(rows[r], found.offsets[v], before);
        if (!knowsZero && !isSigned)
          sum = arith::SubIOp::create(b, sum, sums[products() + (swaps ? r : v)]);
        Value number = toNumber(sum);
        result[i] = factor ? b.mulAdd(number, factor, before)
                           : Value(arith::AddFOp::create(b, number, before));
      }
    }
    return result;
  }

  Value toNumber(Value sum) {
    if (int64_t shift = getShift(b, lane); shift > 0 && b.products->convertsFixedPoint())
      return b.products->convertFixedPoint(b, sum, shift);
    return arith::SIToFPOp::create(b, VectorType::get(block.lanes, b.getF32Type()), sum);
  }

  void fetchNextFactors(int64_t v) {
    for (const LaneScales *factors : {&lane.scales, &lane.offsets})
      fetchFactors(b, block, *factors, v, number);
  }

  /// What sums of vector v are multiplied by, less by the power of two that integers are shifted up
  /// by, if a block's scales do not have it already; null if there is nothing.
  Value loadFactor(LaneFactors &found, int64_t v) {
    Value factor;
    if (lane.scales.group > 0) {
      found.add(b, block, v, first);
      factor = found.scales[v];
    }
    if (!spreadsFetches)
      fetchFactors(b, block, lane.scales, v, number);
    if (!lane.blockScales.loaded.empty())
      return factor;
    int64_t shift = getShift(b, lane);
    bool isDue = shift > 0 && !b.products->convertsFixedPoint();
    return isDue ? byPowerOfTwo(b, factor, -shift, block.lanes) : factor;
  }

  Emitter &b;
  const DotBlock &block;
  const LaneOperand &lane;
  Value first, number;
  int64_t length;
  FewBits form;
  bool knowsZero, unpacks; ///< unpacks: parts are made of words, of less than bytes
  int64_t pieces;          ///< of a unit
  bool hasOffsets;
  /// How many products are added to `shorts`, of which some may be absent; 0: none are.
  int64_t shortSums;
  /// Whether rows have no zero point: there are products of signed bytes.
  bool isSigned;
  /// Whether weights have the zero point in place of the rows: what it adds is then the same for
  /// all outputs, and is summed once.
  bool swaps;
  /// Whether factors of groups to come are fetched between the pieces of this one, a few at a time.
  bool spreadsFetches = false;
  bool takesElements = false;
  int64_t heldPieces = 0; ///< that `elements` have
  static constexpr int64_t kHeld = 8;
  SmallVector<Value> shorts;
  SmallVector<ByteElements> elements; ///< of each row, those that were loaded last
};
} // namespace

/// What the groups of a block share, as f32, is loaded once; scales less by the power of two that
/// integers are shifted up by, for which the bias is as much greater.
static void loadBlockFactors(Emitter &b, DotBlock &block, Value k) {
  LaneOperand &lane = block.lane;
  loadFactors(b, block, lane.blockScales, k);
  loadFactors(b, block, lane.blockOffsets, k);
  int64_t shift = getShift(b, lane);
  if (shift == 0)
    return;
  for (Value &scale : lane.blockScales.loaded)
    scale = byPowerOfTwo(b, scale, -shift, block.lanes);
  lane.bias *= int64_t(1) << shift;
}

SmallVector<Value> ByteAtom::emit(Emitter &b, const DotBlock &block, SmallVector<Value> acc) const {
  int64_t depth = *getConstant(block.depth), group = block.lane.scales.group;
  if (group == 0)
    group = depth;
  auto addGroups = [&](const DotBlock &own, Value first, int64_t length, ValueRange sums) {
    return b.loop(first, b.add(first, length), group, SmallVector<Value>(sums),
                  [&](Value k, ValueRange carried) {
                    return ByteGroup(b, own, k, b.div(k, group), group).run(carried);
                  });
  };
  // Signed rows load factors where they are used.
  const LaneScales &ofBlocks = block.lane.blockScales;
  if (block.rows() > 1 || ofBlocks.group <= group || b.products->multipliesSigned())
    return addGroups(block, b.index(0), depth, acc);
  return b.loop(b.index(0), b.index(depth), ofBlocks.group, acc, [&](Value k, ValueRange carried) {
    DotBlock own = block;
    loadBlockFactors(b, own, k);
    for (int64_t v = 0; v < block.vectors(); ++v) {
      for (const LaneScales *factors : {&ofBlocks, &block.lane.blockOffsets})
        fetchFactors(b, block, *factors, v, b.div(k, ofBlocks.group));
    }
    return addGroups(own, k, ofBlocks.group, carried);
  });
}

const DotAtom &mlir::fovea::getByteAtom() {
  static const ByteAtom atom;
  return atom;
}
