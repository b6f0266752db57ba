// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
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
  // [vector][which of the neighbours]
  SmallVector<SmallVector<Value, 2>> vectors;
  for (Value start : lane.vectors) {
    Value at = b.add(b.add(start, place), constant);
    Value loaded =
        b.load(elementOf(lane.memory), lane.memory, at, block.lanes * interleave, lane.alignment);
    if (lane.streams && count == interleave) {
      Value later = b.add(at, b.mul(lane.stride, kPrefetch));
      memref::PrefetchOp::create(b, lane.memory, later, /*isWrite=*/false, /*localityHint=*/3,
                                 /*isDataCache=*/true);
    }
    SmallVector<Value, 2> &parts = vectors.emplace_back();
    if (interleave == 1) {
      parts.push_back(b.convert(asFloat(b, loaded, lane.type), block.sum));
      continue;
    }
    // A bf16 is the upper half of an f32: the even k by a shift, the odd one by a mask.
    auto words = VectorType::get(block.lanes, b.getI32Type());
    auto floats = VectorType::get(block.lanes, b.getF32Type());
    Value pairs = vector::BitCastOp::create(b, words, loaded);
    auto word = [&](int32_t value) {
      return arith::ConstantOp::create(b,
                                       DenseElementsAttr::get(words, b.getI32IntegerAttr(value)));
    };
    Value even = arith::ShLIOp::create(b, pairs, word(16));
    parts.push_back(b.convert(arith::BitcastOp::create(b, floats, even), block.sum));
    if (count == 2) {
      Value odd = arith::AndIOp::create(b, pairs, word(-65536));
      parts.push_back(b.convert(arith::BitcastOp::create(b, floats, odd), block.sum));
    }
  }
  for (int64_t r = 0; r < block.rows(); ++r)
    for (int64_t i = 0; i < count; ++i) {
      Value at = b.add(block.broadcast.rows[r], b.mul(k, block.broadcast.stride));
      at = b.add(at, b.mul(block.broadcast.stride, ahead + i));
      Value scalar = memref::LoadOp::create(b, block.broadcast.memory, at);
      Value x =
          b.splat(b.convert(asFloat(b, scalar, block.broadcast.type), block.sum), block.lanes);
      for (int64_t v = 0; v < block.vectors(); ++v) {
        Value &sum = acc[r * block.vectors() + v];
        sum = b.mulAdd(x, vectors[v][i], sum);
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
