// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The atoms that there are: a broadcast element times vectors, at every level. It refuses sums that
// are no floats and pairs of anything but bf16.
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
           (block.lane.interleave == 1 || (block.lane.interleave == 2 && block.lane.type.isBF16()));
  }
  SmallVector<Value> emit(Emitter &b, const DotBlock &block, SmallVector<Value> acc) const override;

private:
  /// Adds the products of `count` neighbours in k, at most `interleave`, from k + `ahead` on.
  static void step(Emitter &b, const DotBlock &block, Value k, int64_t ahead, int64_t count,
                   MutableArrayRef<Value> acc);
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

void BroadcastAtom::step(Emitter &b, const DotBlock &block, Value k, int64_t ahead, int64_t count,
                         MutableArrayRef<Value> acc) {
  const LaneOperand &lane = block.lane;
  int64_t interleave = lane.interleave;
  // What is constant in an address is added last, where the instruction adds it for nothing.
  Value place = b.mul(interleave == 1 ? k : b.div(k, interleave), lane.stride);
  Value constant = b.mul(lane.stride, ahead / interleave);
  auto words = VectorType::get(block.lanes, b.getI32Type());
  auto floats = VectorType::get(block.lanes, b.getF32Type());
  auto load = [&](int64_t v) -> Value {
    Value at = b.add(b.add(lane.vectors[v], place), constant);
    Value loaded =
        b.load(elementOf(lane.memory), lane.memory, at, block.lanes * interleave, lane.alignment);
    if (lane.streams && count == interleave) {
      Value later = b.add(at, b.mul(lane.stride, kPrefetch));
      memref::PrefetchOp::create(b, lane.memory, later, /*isWrite=*/false, /*localityHint=*/3,
                                 /*isDataCache=*/true);
    }
    return interleave == 1 ? loaded : Value(vector::BitCastOp::create(b, words, loaded));
  };
  // Neighbour i of what was loaded. A bf16 is the upper half of an f32: the even one is had by a
  // shift, the odd one by a mask.
  auto part = [&](Value loaded, int64_t i) -> Value {
    if (interleave == 1)
      return b.convert(asFloat(b, loaded, lane.type), block.sum);
    auto word = [&](int32_t value) -> Value {
      return arith::ConstantOp::create(b,
                                       DenseElementsAttr::get(words, b.getI32IntegerAttr(value)));
    };
    Value bits = i == 0 ? Value(arith::ShLIOp::create(b, loaded, word(16)))
                        : Value(arith::AndIOp::create(b, loaded, word(-65536)));
    return b.convert(arith::BitcastOp::create(b, floats, bits), block.sum);
  };
  auto broadcast = [&](int64_t r, int64_t i) -> Value {
    Value at = b.add(block.broadcast.rows[r], b.mul(k, block.broadcast.stride));
    at = b.add(at, b.mul(block.broadcast.stride, ahead + i));
    Value scalar = memref::LoadOp::create(b, block.broadcast.memory, at);
    return b.splat(b.convert(asFloat(b, scalar, block.broadcast.type), block.sum), block.lanes);
  };
  auto multiply = [&](int64_t r, int64_t v, Value x, Value y) {
    Value &sum = acc[r * block.vectors() + v];
    sum = b.mulAdd(x, y, sum);
  };
  if (lane.next && count == interleave)
    memref::PrefetchOp::create(b, lane.memory, b.add(b.add(lane.next, place), constant),
                               /*isWrite=*/false, /*localityHint=*/2, /*isDataCache=*/true);
  // What is held in registers beside the sums is kept small: of one row, its elements; else the
  // vectors of one k.
  if (block.rows() == 1) {
    SmallVector<Value> elements;
    for (int64_t i = 0; i < count; ++i)
      elements.push_back(broadcast(0, i));
    for (int64_t v = 0; v < block.vectors(); ++v) {
      Value loaded = load(v);
      for (int64_t i = 0; i < count; ++i)
        multiply(0, v, elements[i], part(loaded, i));
    }
    return;
  }
  SmallVector<Value> loaded;
  for (int64_t v = 0; v < block.vectors(); ++v)
    loaded.push_back(load(v));
  for (int64_t i = 0; i < count; ++i) {
    SmallVector<Value> parts;
    for (Value pair : loaded)
      parts.push_back(part(pair, i));
    for (int64_t r = 0; r < block.rows(); ++r) {
      Value x = broadcast(r, i);
      for (int64_t v = 0; v < block.vectors(); ++v)
        multiply(r, v, x, parts[v]);
    }
  }
}

SmallVector<Value> BroadcastAtom::emit(Emitter &b, const DotBlock &block,
                                       SmallVector<Value> acc) const {
  int64_t interleave = block.lane.interleave;
  // Whole steps of the unrolled loop, then single vectors, then what is left of a pair.
  Value begin = b.index(0);
  SmallVector<std::pair<int64_t, int64_t>> loops{{kUnroll, interleave}, {interleave, interleave}};
  if (interleave > 1)
    loops.push_back({1, 1});
  for (auto [size, vectors] : loops) {
    int64_t unroll = size, count = vectors;
    Value end = unroll == 1 ? block.depth : b.sub(block.depth, b.rem(block.depth, unroll));
    acc = b.loop(begin, end, unroll, acc, [&](Value k, ValueRange carried) {
      SmallVector<Value> next(carried);
      for (int64_t u = 0; u < unroll; u += count)
        step(b, block, k, u, count, next);
      return next;
    });
    begin = end;
  }
  return acc;
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
