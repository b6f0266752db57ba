// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The atoms that there are: a broadcast element times vectors, at every level. It refuses sums that
// are no floats, and neighbours in a lane of anything but bf16 and i4.
#include "lowering/CPU/DotAtoms.h"

using namespace mlir;
using namespace mlir::fovea;

DotAtom::~DotAtom() = default;

namespace {

/// The sums of a block live in registers over the whole depth; k is unrolled so that the loop's own
/// instructions and the addresses cost little beside the products.
class BroadcastAtom : public DotAtom {
public:
  StringRef getName() const override { return "broadcast"; }
  bool supports(const DotBlock &block) const override {
    return isa<FloatType>(block.sum) &&
           (block.lane.type.isInteger(4)
                ? block.lane.interleave == 2
                : block.lane.interleave == 1 ||
                      (block.lane.interleave == 2 && block.lane.type.isBF16()));
  }
  SmallVector<Value> emit(Emitter &b, const DotBlock &block, SmallVector<Value> acc) const override;

private:
  /// Adds the products of `count` neighbours in k, at most `interleave`, from k + `ahead` on; lanes
  /// times `factors`, if there are any.
  static void step(Emitter &b, const DotBlock &block, Value k, int64_t ahead, int64_t count,
                   ArrayRef<Value> factors, MutableArrayRef<Value> acc);
  /// Those of `length` k from `first` on.
  static SmallVector<Value> addRange(Emitter &b, const DotBlock &block, Value first, Value length,
                                     ArrayRef<Value> factors, SmallVector<Value> acc);
};

/// How many k are written out in the loop's body.
constexpr int64_t kUnroll = 4;
/// How far ahead of its use a stream is fetched, in vectors.
constexpr int64_t kPrefetch = 16;

} // namespace

/// Memory may hold narrow floats as integers of their width.
static Value asFloat(Emitter &b, Value loaded, Type element) {
  if (getElementTypeOrSelf(loaded.getType()) == element)
    return loaded;
  Type type = element;
  if (auto vector = dyn_cast<VectorType>(loaded.getType()))
    type = vector.clone(element);
  return arith::BitcastOp::create(b, type, loaded);
}

static Type elementOf(Value memory) { return cast<MemRefType>(memory.getType()).getElementType(); }

/// How many steps of a lane's operand lie in one line of the cache, if they are less than one each.
static int64_t getStepsOfLine(const LaneOperand &lane) {
  constexpr int64_t kLine = 64;
  std::optional<int64_t> stride = getConstant(lane.stride);
  return lane.isOfIntegers() && stride ? std::max<int64_t>(1, kLine / *stride) : 1;
}

namespace {
/// One step: `count` neighbours in k from `k + ahead` on.
class BroadcastStep {
public:
  BroadcastStep(Emitter &b, const DotBlock &block, Value k, int64_t ahead, int64_t count,
                ArrayRef<Value> factors, MutableArrayRef<Value> acc)
      : b(b), block(block), lane(block.lane), k(k), ahead(ahead), count(count), factors(factors),
        acc(acc), interleave(lane.interleave), line(getStepsOfLine(lane)),
        words(VectorType::get(block.lanes, b.getI32Type())) {
    bool beginsLine = ahead / interleave % line == 0;
    fetches = count == interleave && beginsLine;
    // What is constant in an address is added last, where the instruction adds it for nothing.
    place = b.mul(interleave == 1 ? k : b.div(k, interleave), lane.stride);
    constant = b.mul(lane.stride, ahead / interleave);
  }

  /// What is held in registers beside the sums is kept small: of one row, its elements; else the
  /// vectors of one k.
  void run() {
    if (lane.next && fetches)
      memref::PrefetchOp::create(b, lane.memory, b.add(b.add(lane.next, place), constant),
                                 /*isWrite=*/false, /*localityHint=*/2, /*isDataCache=*/true);
    block.rows() == 1 ? runRow() : runRows();
  }

private:
  void runRow() {
    SmallVector<Value> elements;
    for (int64_t i = 0; i < count; ++i)
      elements.push_back(broadcast(0, i));
    for (int64_t v = 0; v < block.vectors(); ++v) {
      Value loaded = load(v);
      for (int64_t i = 0; i < count; ++i)
        multiply(0, v, elements[i], part(v, loaded, i));
    }
  }

  void runRows() {
    SmallVector<Value> loaded;
    for (int64_t v = 0; v < block.vectors(); ++v)
      loaded.push_back(load(v));
    for (int64_t i = 0; i < count; ++i) {
      SmallVector<Value> parts;
      for (auto [v, several] : llvm::enumerate(loaded))
        parts.push_back(part(v, several, i));
      for (int64_t r = 0; r < block.rows(); ++r) {
        Value x = broadcast(r, i);
        for (int64_t v = 0; v < block.vectors(); ++v)
          multiply(r, v, x, parts[v]);
      }
    }
  }

  Value load(int64_t v) {
    Value at = b.add(b.add(lane.vectors[v], place), constant);
    int64_t elements = lane.type.isInteger(4) ? block.lanes : block.lanes * interleave;
    Value loaded = b.load(elementOf(lane.memory), lane.memory, at, elements, lane.alignment);
    if (lane.streams && fetches) {
      Value later = b.add(at, b.mul(lane.stride, kPrefetch * line));
      memref::PrefetchOp::create(b, lane.memory, later, /*isWrite=*/false, /*localityHint=*/3,
                                 /*isDataCache=*/true);
    }
    if (lane.isOfIntegers())
      return arith::ExtSIOp::create(b, words, loaded);
    return interleave == 1 ? loaded : Value(vector::BitCastOp::create(b, words, loaded));
  }

  Value word(int32_t value) {
    return arith::ConstantOp::create(b, DenseElementsAttr::get(words, b.getI32IntegerAttr(value)));
  }

  /// Neighbour i of what was loaded for vector v. A bf16 is the upper half of an f32: the even one
  /// is had by a shift, the odd one by a mask.
  Value part(int64_t v, Value loaded, int64_t i) {
    if (lane.isOfIntegers())
      return integerPart(v, loaded, i);
    if (interleave == 1)
      return b.convert(asFloat(b, loaded, lane.type), block.sum);
    Value bits = i == 0 ? Value(arith::ShLIOp::create(b, loaded, word(16)))
                        : Value(arith::AndIOp::create(b, loaded, word(-65536)));
    auto floats = VectorType::get(block.lanes, b.getF32Type());
    return b.convert(arith::BitcastOp::create(b, floats, bits), block.sum);
  }

  /// Of a byte's two i4 the even one is the lower.
  Value integerPart(int64_t v, Value loaded, int64_t i) {
    if (interleave == 2 && i == 0)
      loaded = arith::ShLIOp::create(b, loaded, word(28));
    if (interleave == 2)
      loaded = arith::ShRSIOp::create(b, loaded, word(i == 0 ? 28 : 4));
    Value number = arith::SIToFPOp::create(b, VectorType::get(block.lanes, block.sum), loaded);
    return factors.empty() ? number : Value(arith::MulFOp::create(b, factors[v], number));
  }

  Value broadcast(int64_t r, int64_t i) {
    Value at = b.add(block.broadcast.rows[r], b.mul(k, block.broadcast.stride));
    at = b.add(at, b.mul(block.broadcast.stride, ahead + i));
    Value scalar = memref::LoadOp::create(b, block.broadcast.memory, at);
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
  ArrayRef<Value> factors;
  MutableArrayRef<Value> acc;
  int64_t interleave, line;
  VectorType words;
  bool fetches;
  Value place, constant;
};
} // namespace

void BroadcastAtom::step(Emitter &b, const DotBlock &block, Value k, int64_t ahead, int64_t count,
                         ArrayRef<Value> factors, MutableArrayRef<Value> acc) {
  BroadcastStep(b, block, k, ahead, count, factors, acc).run();
}

SmallVector<Value> BroadcastAtom::addRange(Emitter &b, const DotBlock &block, Value first,
                                           Value length, ArrayRef<Value> factors,
                                           SmallVector<Value> acc) {
  int64_t interleave = block.lane.interleave;
  int64_t most = std::max(kUnroll, interleave * getStepsOfLine(block.lane));
  // Whole steps of the unrolled loop, then single vectors, then what is left of a pair.
  Value done = b.index(0);
  SmallVector<std::pair<int64_t, int64_t>> loops{{most, interleave}, {interleave, interleave}};
  if (interleave > 1)
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
  // A group's sums are scaled as a whole where they are few; of several rows, the lanes are.
  bool wholeSums = block.rows() == 1;
  return b.loop(b.index(0), block.depth, scales.group, acc, [&](Value k, ValueRange carried) {
    Value place = b.mul(b.div(k, scales.group), scales.stride);
    SmallVector<Value> factors;
    for (Value vector : scales.vectors)
      factors.push_back(b.convert(asFloat(b,
                                          b.load(elementOf(scales.memory), scales.memory,
                                                 b.add(vector, place), block.lanes),
                                          scales.type),
                                  block.sum));
    std::optional<int64_t> depth = getConstant(block.depth);
    Value length = depth && *depth % scales.group == 0
                       ? b.index(scales.group)
                       : b.minimum(b.sub(block.depth, k), b.index(scales.group));
    if (!wholeSums)
      return addRange(b, block, k, length, factors, SmallVector<Value>(carried));
    SmallVector<Value> sums(carried.size(), b.zero(VectorType::get(block.lanes, block.sum)));
    sums = addRange(b, block, k, length, {}, sums);
    for (auto [sum, factor, before] : llvm::zip(sums, factors, carried))
      sum = b.mulAdd(sum, factor, before);
    return sums;
  });
}

const DotAtom &mlir::fovea::getBroadcastAtom() {
  static const BroadcastAtom atom;
  return atom;
}

ArrayRef<const DotAtom *> mlir::fovea::getDotAtoms(StringRef level) {
  // Multiply-and-add with a broadcast element saturates all three levels in f32, and in bf16 with
  // few rows. Pair products (AVX512_BF16), VNNI and AMX join here.
  static const DotAtom *const atoms[] = {&getBroadcastAtom()};
  if (level == "avx512" || level == "avx2" || level == "sse")
    return atoms;
  return {};
}
