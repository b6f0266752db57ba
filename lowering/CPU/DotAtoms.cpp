// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The atoms of floats: a broadcast element times vectors, at every level, which refuses sums that
// are no floats, and neighbours in a lane of anything but bf16 and integers; and pairs of bf16.
#include "lowering/CPU/DotAtoms.h"
#include "dialects/Tile/TileDialect.h"

using namespace mlir;
using namespace mlir::fovea;

DotAtom::~DotAtom() = default;

namespace {

/// The sums of a block live in registers over the whole depth; k is unrolled so that the loop's own
/// instructions and the addresses cost little beside the products.
class BroadcastAtom : public DotAtom {
public:
  bool supports(const DotBlock &block) const override {
    const LaneOperand &lane = block.lane;
    int64_t bits = lane.type.getIntOrFloatBitWidth();
    return isa<FloatType>(block.sum) &&
           (lane.isOfIntegers()
                ? lane.isOfUnits() || (lane.interleave == 1 && bits == 8)
                : lane.interleave == 1 || (lane.interleave == 2 && lane.type.isBF16()));
  }
  bool widens() const override { return true; }
  SmallVector<Value> emit(Emitter &b, const DotBlock &block, SmallVector<Value> acc) const override;

private:
  /// Adds the products of `count` neighbours in k, at most `interleave`, from k + `ahead` on; lanes
  /// times `factors`, if there are any.
  void step(Emitter &b, const DotBlock &block, Value k, int64_t ahead, int64_t count,
            const LaneFactors &factors, MutableArrayRef<Value> acc) const;
  /// Those of `length` k from `first` on.
  SmallVector<Value> addRange(Emitter &b, const DotBlock &block, Value first, Value length,
                              const LaneFactors &factors, SmallVector<Value> acc) const;
};

/// The products of two neighbours in k of bf16 are added to a sum of f32 by one instruction, twice
/// as many operations as a multiply-and-add.
class Bf16PairAtom : public BroadcastAtom {
public:
  bool supports(const DotBlock &block) const override {
    return block.sum.isF32() && block.lane.type.isBF16() && block.lane.interleave == 2 &&
           block.broadcast.type.isBF16() && getConstant(block.broadcast.stride) == 1;
  }
  bool widens() const override { return false; }
  bool multipliesPairs() const override { return true; }
};

/// How many k are written out in the loop's body.
constexpr int64_t kUnroll = 4;

} // namespace

Value mlir::fovea::asFloat(Emitter &b, Value loaded, Type element) {
  if (getElementTypeOrSelf(loaded.getType()) == element)
    return loaded;
  Type type = element;
  if (auto vector = dyn_cast<VectorType>(loaded.getType()))
    type = vector.clone(element);
  return arith::BitcastOp::create(b, type, loaded);
}

Value mlir::fovea::getFetchDistance(Emitter &b, Value stride, Value jump, Value step, Value steps,
                                    int64_t ahead) {
  if (!jump)
    return b.mul(stride, ahead);
  ahead = std::min(ahead, getConstant(steps).value_or(ahead));
  Value distance = b.mul(stride, ahead);
  Value isInside = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, b.add(step, ahead), steps);
  return arith::SelectOp::create(b, isInside, distance, b.add(distance, jump));
}

Value mlir::fovea::getPlaceOfWord(Emitter &b, const LaneOperand &lane, Value unit, int64_t word) {
  return word == 0 ? unit : b.add(unit, b.mul(b.div(lane.stride, lane.words()), word));
}

Value mlir::fovea::addLast(Emitter &b, Value begin, Value place, Value constant) {
  auto sum = begin.getDefiningOp<arith::AddIOp>();
  if (!sum || !getConstant(sum.getRhs()))
    return b.add(b.add(begin, place), constant);
  return b.add(b.add(sum.getLhs(), place), b.add(sum.getRhs(), constant));
}

StreamFetch::StreamFetch(Emitter &b, const DotBlock &block, Value k, Value place)
    : b(b), block(block) {
  const LaneOperand &lane = block.lane;
  if (lane.streams && lane.jump)
    this->place =
        b.add(place, getFetchDistance(b, lane.stride, lane.jump, b.div(k, lane.interleave),
                                      b.div(block.depth, lane.interleave), getStepsAhead(block)));
}

void StreamFetch::fetch(int64_t v, Value at, Value constant) const {
  const LaneOperand &lane = block.lane;
  // Of the shortest vectors four are a line, which is fetched once.
  if (lane.streams && (block.lanes > 4 || v % 4 == 0))
    b.prefetch(lane.memory,
               place ? b.add(b.add(lane.vectors[v], place), constant)
                     : b.add(at, b.mul(lane.stride, getStepsAhead(block))),
               getFetchLocality(block));
}

Value mlir::fovea::asPairs(Emitter &b, Value bits) {
  auto type = cast<VectorType>(bits.getType());
  int64_t halves = type.getNumElements() * type.getElementTypeBitWidth() / 16;
  return vector::BitCastOp::create(b, VectorType::get(halves, b.getBF16Type()), bits);
}

Value mlir::fovea::broadcastPair(Emitter &b, Value memory, Value at, bool isPair, int64_t lanes) {
  Value bits;
  if (isPair) {
    auto one = VectorType::get(1, b.getI32Type());
    Value pair = b.load(cast<MemRefType>(memory.getType()).getElementType(), memory, at, 2);
    bits = vector::ExtractOp::create(b, vector::BitCastOp::create(b, one, pair), 0);
  } else {
    Value last = memref::LoadOp::create(b, memory, at);
    if (!last.getType().isInteger())
      last = arith::BitcastOp::create(b, b.getI16Type(), last);
    bits = arith::ExtUIOp::create(b, b.getI32Type(), last);
  }
  return asPairs(b, b.splat(bits, lanes));
}

static Type elementOf(Value memory) { return cast<MemRefType>(memory.getType()).getElementType(); }

Value mlir::fovea::toFactors(Emitter &b, Value loaded, Type element) {
  if (!element.isInteger(8))
    return b.convert(asFloat(b, loaded, element), b.getF32Type());
  auto type = cast<VectorType>(loaded.getType());
  Value wide = arith::ExtSIOp::create(b, type.clone(b.getI32Type()), loaded);
  return arith::SIToFPOp::create(b, type.clone(b.getF32Type()), wide);
}

Value mlir::fovea::addBias(Emitter &b, Value scale, Value offset, int64_t bias) {
  if (bias == 0)
    return offset;
  auto type = cast<VectorType>(scale.getType());
  Value number = arith::ConstantOp::create(
      b, DenseElementsAttr::get(type,
                                b.getFloatAttr(type.getElementType(), static_cast<double>(bias))));
  return b.mulAdd(scale, number, offset);
}

/// A vector of f32: the factors of step k for vector v of a block, times those `ofBlocks` if there
/// are any.
static Value loadFactor(Emitter &b, const LaneScales &factors, const LaneScales &ofBlocks,
                        int64_t v, Value k, int64_t lanes) {
  if (!factors.loaded.empty())
    return factors.loaded[v];
  Value place = b.mul(b.div(k, factors.group), factors.stride);
  Value loaded =
      b.load(elementOf(factors.memory), factors.memory, b.add(factors.vectors[v], place), lanes);
  Value numbers = toFactors(b, loaded, factors.type);
  return ofBlocks.group == 0
             ? numbers
             : Value(arith::MulFOp::create(b, numbers, loadFactor(b, ofBlocks, {}, v, k, lanes)));
}

void mlir::fovea::loadFactors(Emitter &b, const DotBlock &block, LaneScales &factors, Value k) {
  SmallVector<Value> loaded;
  for (int64_t v = 0; v < block.vectors() && factors.group > 0; ++v)
    loaded.push_back(loadFactor(b, factors, {}, v, k, block.lanes));
  factors.loaded = loaded;
}

LaneFactors::LaneFactors(Emitter &b, const DotBlock &block, Value k) {
  for (int64_t v = 0; v < block.vectors(); ++v)
    add(b, block, v, k);
}

void LaneFactors::add(Emitter &b, const DotBlock &block, int64_t v, Value k) {
  const LaneOperand &lane = block.lane;
  Value scale = loadFactor(b, lane.scales, lane.blockScales, v, k, block.lanes);
  scales.push_back(b.convert(scale, block.sum));
  if (lane.offsets.group == 0)
    return;
  Value offset = loadFactor(b, lane.offsets, lane.blockOffsets, v, k, block.lanes);
  offsets.push_back(addBias(b, scales.back(), b.convert(offset, block.sum), lane.bias));
}

/// Shifted up by `left`, which may be known when the code runs only.
static Value extractIntegers(Emitter &b, Value words, Value left, int64_t bits) {
  auto type = cast<VectorType>(words.getType());
  Value right =
      arith::ConstantOp::create(b, DenseElementsAttr::get(type, b.getI32IntegerAttr(32 - bits)));
  return arith::ShRSIOp::create(b, left ? Value(arith::ShLIOp::create(b, words, left)) : words,
                                right);
}

Value mlir::fovea::extractIntegers(Emitter &b, Value words, int64_t i, int64_t bits) {
  auto type = cast<VectorType>(words.getType());
  int32_t left = 32 - bits * (i + 1);
  Value shift;
  if (left > 0)
    shift = arith::ConstantOp::create(b, DenseElementsAttr::get(type, b.getI32IntegerAttr(left)));
  return ::extractIntegers(b, words, shift, bits);
}

namespace {
/// One step: `count` neighbours in k from `k + ahead` on.
class BroadcastStep {
public:
  BroadcastStep(Emitter &b, const DotBlock &block, Value k, int64_t ahead, int64_t count,
                const LaneFactors &factors, bool pairs, MutableArrayRef<Value> acc)
      : b(b), block(block), lane(block.lane), k(k), ahead(ahead), count(count), factors(factors),
        pairs(pairs), acc(acc), interleave(lane.interleave),
        form(lane.isOfIntegers() ? lane.form() : FewBits()),
        words(VectorType::get(block.lanes, b.getI32Type())) {
    fetches = count == interleave;
    // What is constant in an address is added last, where the instruction adds it for nothing.
    place = b.mul(interleave == 1 ? k : b.div(k, interleave), lane.stride);
    constant = b.mul(lane.stride, ahead / interleave);
    if (fetches)
      stream.emplace(b, block, k, place);
  }

  /// What is held in registers beside the sums is kept small: of one row, its elements; else the
  /// vectors of one k.
  void run() {
    for (int64_t word = 0; word < lane.words() && lane.next && fetches; ++word)
      b.prefetch(lane.memory, b.add(b.add(lane.next, place), placeOfWord(word)), /*locality=*/2);
    if (pairs)
      return runPairs();
    block.rows() == 1 ? runRow() : runRows();
    if (lane.inOrder)
      b.keepOrder();
  }

private:
  void runRow() {
    SmallVector<Value> elements;
    for (int64_t i = 0; i < count; ++i)
      elements.push_back(broadcast(0, i));
    for (int64_t v = 0; v < block.vectors(); ++v) {
      Neighbours loaded = loadNeighbours(v);
      for (int64_t i = 0; i < count; ++i)
        multiply(0, v, elements[i], part(v, loaded, i));
    }
  }

  void runRows() {
    SmallVector<Neighbours> loaded;
    for (int64_t v = 0; v < block.vectors(); ++v)
      loaded.push_back(loadNeighbours(v));
    for (int64_t i = 0; i < count; ++i) {
      SmallVector<Value> parts;
      for (auto [v, several] : llvm::enumerate(loaded))
        parts.push_back(part(static_cast<int64_t>(v), several, i));
      for (int64_t r = 0; r < block.rows(); ++r) {
        Value x = broadcast(r, i);
        for (int64_t v = 0; v < block.vectors(); ++v)
          multiply(r, v, x, parts[v]);
      }
    }
  }

  void runPairs() {
    SmallVector<Value> loaded;
    if (block.rows() > 1)
      for (int64_t v = 0; v < block.vectors(); ++v)
        loaded.push_back(lanePair(v));
    for (int64_t r = 0; r < block.rows(); ++r) {
      Value x = broadcastPair(r);
      for (int64_t v = 0; v < block.vectors(); ++v) {
        Value &sum = acc[r * block.vectors() + v];
        Value y = block.rows() > 1 ? loaded[v] : lanePair(v);
        sum = multiplyPairs(b, sum, x, y);
      }
    }
  }

  /// What is left of a pair is multiplied by zero, whatever stands beside it.
  Value lanePair(int64_t v) {
    Value loaded = load(v);
    return asPairs(b, count == 2 ? loaded : Value(arith::AndIOp::create(b, loaded, word(0xffff))));
  }

  Value broadcastPair(int64_t r) {
    const BroadcastOperand &other = block.broadcast;
    Value at = b.add(b.add(other.rows[r], k), ahead);
    return ::broadcastPair(b, other.memory, at, count == 2, block.lanes);
  }

  /// What was loaded for a vector of outputs: elements or a word, or all integers of a unit.
  struct Neighbours {
    Value vector;
    std::optional<UnitIntegers> integers;
  };

  Neighbours loadNeighbours(int64_t v) {
    if (!lane.isOfIntegers() || interleave == 1 || count != interleave)
      return {load(v), std::nullopt};
    return {Value(), UnitIntegers(b, form, UnitWords([&](int64_t word) { return load(v, word); }))};
  }

  /// Elements of the level's vectors, or four bytes of each output.
  Value load(int64_t v, int64_t word = 0) {
    Value part = placeOfWord(word);
    Value at = b.add(b.add(lane.vectors[v], place), part);
    Type element = elementOf(lane.memory);
    int64_t ofWords = 32 * block.lanes / element.getIntOrFloatBitWidth();
    Value loaded =
        b.load(element, lane.memory, at, interleave == 1 ? block.lanes : ofWords, lane.alignment);
    if (stream)
      stream->fetch(v, at, part);
    if (interleave == 1 || lane.isOfIntegers())
      return loaded;
    return vector::BitCastOp::create(b, words, loaded);
  }

  /// Behind where the step begins.
  Value placeOfWord(int64_t word) { return getPlaceOfWord(b, lane, constant, word); }

  Value word(int32_t value) {
    return arith::ConstantOp::create(b, DenseElementsAttr::get(words, b.getI32IntegerAttr(value)));
  }

  /// Neighbour i of what was loaded for vector v. A bf16 is the upper half of an f32: the even one
  /// is had by a shift, the odd one by a mask.
  Value part(int64_t v, const Neighbours &loaded, int64_t i) {
    if (lane.isOfIntegers())
      return integerPart(v, loaded, i);
    if (interleave == 1)
      return b.convert(asFloat(b, loaded.vector, lane.type), block.sum);
    Value bits = i == 0 ? Value(arith::ShLIOp::create(b, loaded.vector, word(16)))
                        : Value(arith::AndIOp::create(b, loaded.vector, word(-65536)));
    auto floats = VectorType::get(block.lanes, b.getF32Type());
    return b.convert(arith::BitcastOp::create(b, floats, bits), block.sum);
  }

  Value integerPart(int64_t v, const Neighbours &loaded, int64_t i) {
    int64_t bits = lane.type.getIntOrFloatBitWidth();
    Value integers;
    if (interleave == 1) {
      integers = arith::ExtSIOp::create(b, words, loaded.vector);
    } else if (loaded.integers) {
      integers = loaded.integers->get(b, i);
    } else { // one, wherever it stands in its word
      Value place = b.mul(b.add(b.rem(k, interleave), 1), bits);
      Value left = arith::IndexCastOp::create(b, b.getI32Type(), b.sub(b.index(32), place));
      Value word = vector::BitCastOp::create(b, words, loaded.vector);
      integers = ::extractIntegers(b, word, b.splat(left, block.lanes), bits);
    }
    Value number = arith::SIToFPOp::create(b, VectorType::get(block.lanes, block.sum), integers);
    if (factors.scales.empty())
      return number;
    if (!factors.offsets.empty())
      return b.mulAdd(number, factors.scales[v], factors.offsets[v]);
    return arith::MulFOp::create(b, factors.scales[v], number);
  }

  Value broadcast(int64_t r, int64_t i) {
    Value at = b.add(block.broadcast.rows[r], b.mul(k, block.broadcast.stride));
    at = b.add(at, b.mul(block.broadcast.stride, ahead + i));
    Value scalar = memref::LoadOp::create(b, block.broadcast.memory, at);
    if (scalar.getType().isInteger(8) && block.broadcast.type.isInteger(8)) {
      Value point = arith::ConstantOp::create(b, b.getI32IntegerAttr(tile::DotOp::kZeroPoint));
      scalar = arith::SubIOp::create(b, arith::ExtUIOp::create(b, b.getI32Type(), scalar), point);
      return b.splat(arith::SIToFPOp::create(b, block.sum, scalar), block.lanes);
    }
    return b.splat(b.convert(asFloat(b, scalar, block.broadcast.type), block.sum), block.lanes);
  }

  void multiply(int64_t r, int64_t v, Value x, Value y) {
    Value &sum = acc[r * block.vectors() + v];
    sum = b.mulAdd(x, y, sum);
  }

  Emitter &b;
  const DotBlock &block;
  const LaneOperand &lane;
  Value k;
  int64_t ahead, count;
  const LaneFactors &factors;
  bool pairs;
  MutableArrayRef<Value> acc;
  int64_t interleave;
  FewBits form; ///< of integers
  VectorType words;
  bool fetches;
  Value place, constant;
  std::optional<StreamFetch> stream; ///< of whole vectors
};
} // namespace

void BroadcastAtom::step(Emitter &b, const DotBlock &block, Value k, int64_t ahead, int64_t count,
                         const LaneFactors &factors, MutableArrayRef<Value> acc) const {
  BroadcastStep(b, block, k, ahead, count, factors, multipliesPairs(), acc).run();
}

SmallVector<Value> BroadcastAtom::addRange(Emitter &b, const DotBlock &block, Value first,
                                           Value length, const LaneFactors &factors,
                                           SmallVector<Value> acc) const {
  int64_t interleave = block.lane.interleave;
  int64_t most = std::max(kUnroll, interleave);
  // Whole steps of the unrolled loop, then single vectors, then what is left of a word; where
  // groups begin within words, one at a time. Units of several words are whole, as groups are.
  Value done = b.index(0);
  SmallVector<std::pair<int64_t, int64_t>> loops;
  if (block.lane.scales.group % interleave == 0)
    loops = {{most, interleave}, {interleave, interleave}};
  if (interleave > 1 && block.lane.form().table.empty() && block.lane.words() == 1)
    loops.push_back({1, 1});
  for (auto [size, vectors] : loops) {
    int64_t unroll = size, count = vectors;
    Value end = unroll == 1 ? length : b.sub(length, b.rem(length, unroll));
    if (getConstant(end) && getConstant(end) == getConstant(done))
      continue;
    acc = b.loop(b.add(first, done), b.add(first, end), unroll, acc,
                 [&](Value k, ValueRange carried) {
                   SmallVector<Value> next(carried);
                   for (int64_t u = 0; u < unroll; u += count)
                     step(b, block, k, u, count, factors, next);
                   return next;
                 });
    done = end;
  }
  return acc;
}

SmallVector<Value> BroadcastAtom::emit(Emitter &b, const DotBlock &block,
                                       SmallVector<Value> acc) const {
  const LaneScales &scales = block.lane.scales;
  if (scales.group == 0)
    return addRange(b, block, b.index(0), block.depth, {}, acc);
  // A group's sums are scaled as a whole where they are few; of several rows, the lanes are, and
  // where something is added to each.
  bool wholeSums = block.rows() == 1 && block.lane.offsets.group == 0;
  return b.loop(b.index(0), block.depth, scales.group, acc, [&](Value k, ValueRange carried) {
    LaneFactors factors(b, block, k);
    std::optional<int64_t> depth = getConstant(block.depth);
    Value length = depth && *depth % scales.group == 0
                       ? b.index(scales.group)
                       : b.minimum(b.sub(block.depth, k), b.index(scales.group));
    if (!wholeSums)
      return addRange(b, block, k, length, factors, SmallVector<Value>(carried));
    SmallVector<Value> sums(carried.size(), b.zero(VectorType::get(block.lanes, block.sum)));
    sums = addRange(b, block, k, length, {}, sums);
    for (auto [sum, factor, before] : llvm::zip(sums, factors.scales, carried))
      sum = b.mulAdd(sum, factor, before);
    return sums;
  });
}

const DotAtom &mlir::fovea::getBroadcastAtom() {
  static const BroadcastAtom atom;
  return atom;
}

const DotAtom &mlir::fovea::getPairAtom() {
  static const Bf16PairAtom atom;
  return atom;
}

ArrayRef<const DotAtom *> mlir::fovea::getDotAtoms(const Level &level) {
  if (level.family == &kAarch64)
    return getNeonAtoms(level);
  // Multiply-and-add with a broadcast element saturates all levels in f32, and in bf16 with few
  // rows. AMX is a unit of matrices.
  static const DotAtom *const atoms[] = {&getByteAtom(), &getPairAtom(), &getBroadcastAtom()};
  static const DotAtom *const ofBytes[] = {&getByteAtom(), &getBroadcastAtom()};
  if (level.multipliesPairs)
    return atoms;
  return level.multipliesBytes ? ArrayRef(ofBytes) : ArrayRef(atoms).take_back();
}
