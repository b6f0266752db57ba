// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products on NEON, whose instructions take one operand as an element of a vector: four words of a
// row, each a number of f32 or a pair of bf16, are one load, where an element in all lanes would
// take an instruction of the unit that multiplies. Refuses rows whose neighbours in k do not lie
// beside each other; what is left of four words is another atom's.
#include "lowering/CPU/NeonMatrices.h"

using namespace mlir;
using namespace mlir::fovea;

namespace {

/// Words of a vector.
constexpr int64_t kWords = 4;

class ElementAtom : public DotAtom {
public:
  explicit ElementAtom(const DotAtom &rest) : rest(rest) {}
  SmallVector<Value> emit(Emitter &b, const DotBlock &block, SmallVector<Value> acc) const override;

protected:
  static bool fits(const DotBlock &block) {
    return block.lanes == kWords && block.sum.isF32() && getConstant(block.broadcast.stride) == 1 &&
           block.lane.scales.group == 0;
  }

private:
  const DotAtom &rest;
};

class FloatElementAtom : public ElementAtom {
public:
  using ElementAtom::ElementAtom;
  bool supports(const DotBlock &block) const override {
    return fits(block) && block.broadcast.type.isF32() && block.lane.type.isF32() &&
           block.lane.interleave == 1;
  }
};

class PairElementAtom : public ElementAtom {
public:
  using ElementAtom::ElementAtom;
  bool supports(const DotBlock &block) const override {
    return fits(block) && block.broadcast.type.isBF16() && block.lane.type.isBF16() &&
           block.lane.interleave == 2;
  }
  bool multipliesPairs() const override { return true; }
};

/// The products of four words from k on.
class FourWords {
public:
  FourWords(Emitter &b, const DotBlock &block, Value k, MutableArrayRef<Value> acc)
      : b(b), block(block), lane(block.lane), k(k), acc(acc),
        place(b.mul(b.div(k, lane.interleave), lane.stride)), stream(b, block, k, place) {}

  void run() {
    for (Value row : block.broadcast.rows)
      rows.push_back(load(block.broadcast.memory, b.add(row, k), 0));
    for (int64_t word = 0; word < kWords; ++word) {
      Value constant = b.mul(lane.stride, word);
      if (lane.next)
        b.prefetch(lane.memory, b.add(b.add(lane.next, place), constant), /*locality=*/2);
      SmallVector<Value> vectors;
      for (int64_t v = 0; v < block.vectors(); ++v) {
        vectors.push_back(loadLane(v, constant));
        if (rows.size() == 1)
          multiply(0, v, word, vectors.back());
      }
      for (size_t r = 0; r < rows.size() && rows.size() > 1; ++r)
        for (int64_t v = 0; v < block.vectors(); ++v)
          multiply(r, v, word, vectors[v]);
    }
  }

private:
  Value load(Value memory, Value at, int64_t alignment) {
    Type element = cast<MemRefType>(memory.getType()).getElementType();
    return b.load(element, memory, at, kWords * lane.interleave, alignment);
  }

  Value loadLane(int64_t v, Value constant) {
    Value at = addLast(b, lane.vectors[v], place, constant);
    stream.fetch(v, at, constant);
    return load(lane.memory, at, lane.alignment);
  }

  void multiply(int64_t r, int64_t v, int64_t word, Value y) {
    Value &sum = acc[r * block.vectors() + v];
    if (lane.interleave == 1) {
      sum = b.mulAdd(shuffle(rows[r], word), y, sum);
      return;
    }
    // As f32: LLVM knows an element that BFDOT takes as one of these.
    Value words = vector::BitCastOp::create(b, VectorType::get(kWords, block.sum), rows[r]);
    sum = multiplyPairs(b, sum, asPairs(b, shuffle(words, word)), asPairs(b, y));
  }

  Value shuffle(Value vector, int64_t word) {
    return vector::ShuffleOp::create(b, vector, vector, SmallVector<int64_t>(kWords, word));
  }

  Emitter &b;
  const DotBlock &block;
  const LaneOperand &lane;
  Value k;
  MutableArrayRef<Value> acc;
  Value place;
  StreamFetch stream;
  SmallVector<Value> rows;
};

} // namespace

/// The block's products from `begin` on, which is a whole number of words.
static DotBlock dropFront(Emitter &b, DotBlock block, Value begin) {
  Value place = b.mul(b.div(begin, block.lane.interleave), block.lane.stride);
  for (Value &row : block.broadcast.rows)
    row = b.add(row, begin);
  for (Value &vector : block.lane.vectors)
    vector = b.add(vector, place);
  block.depth = b.sub(block.depth, begin);
  block.lane.streams = false;
  block.lane.next = Value();
  return block;
}

SmallVector<Value> ElementAtom::emit(Emitter &b, const DotBlock &block,
                                     SmallVector<Value> acc) const {
  int64_t step = kWords * block.lane.interleave;
  Value whole = b.sub(block.depth, b.rem(block.depth, step));
  bool byMatrices = multipliesPairs() && multipliesMatrices(b, block);
  if (byMatrices)
    acc = toMatrices(b, block, acc);
  acc = b.loop(b.index(0), whole, step, acc, [&](Value k, ValueRange carried) {
    SmallVector<Value> sums(carried);
    if (byMatrices)
      multiplyMatrices(b, block, k, sums);
    else
      FourWords(b, block, k, sums).run();
    return sums;
  });
  if (byMatrices)
    acc = fromMatrices(b, block, acc);
  if (getConstant(whole) && getConstant(whole) == getConstant(block.depth))
    return acc;
  return rest.emit(b, dropFront(b, block, whole), acc);
}

//===-- Bytes --------------------------------------------------------------------------------===//

ByteElements::ByteElements(Emitter &b, Value memory, Value at, const FewBits &lanes, int64_t pieces,
                           bool isSigned) {
  constexpr int64_t kBytes = 4 * kWords;
  auto load = [&](Value from) {
    Value bytes = b.load(b.getI8Type(), memory, from, kBytes);
    return isSigned ? shiftByZeroPoint(b, bytes) : bytes;
  };
  Value first = load(at);
  if (lanes.areBytes()) {
    vectors = {first};
    return;
  }
  bool isOne = pieces * lanes.piece() <= kBytes;
  Value second = isOne ? first : load(b.add(at, kBytes));
  for (int64_t odd : {0, 1}) {
    SmallVector<int64_t> order;
    for (int64_t i = 0; i < kBytes; ++i)
      order.push_back(2 * i + odd);
    vectors.push_back(vector::ShuffleOp::create(b, first, second, order));
  }
}

SmallVector<Value> ByteElements::get(Emitter &b, int64_t i) const {
  auto words = VectorType::get(kWords, b.getI32Type());
  SmallVector<Value> result;
  for (Value vector : vectors) {
    Value all = vector::BitCastOp::create(b, words, vector);
    all = vector::ShuffleOp::create(b, all, all, SmallVector<int64_t>(kWords, i));
    result.push_back(vector::BitCastOp::create(b, cast<VectorType>(vector.getType()), all));
  }
  return result;
}

ArrayRef<const DotAtom *> mlir::fovea::getNeonAtoms(const Level &level) {
  static const FloatElementAtom floats(getBroadcastAtom());
  static const PairElementAtom pairs(getPairAtom());
  static const DotAtom *const atoms[] = {&getByteAtom(), &pairs, &floats, &getBroadcastAtom()};
  static const DotAtom *const ofBytes[] = {&getByteAtom(), &floats, &getBroadcastAtom()};
  if (level.multipliesPairs)
    return atoms;
  return level.multipliesBytes ? ArrayRef(ofBytes) : ArrayRef(ofBytes).drop_front();
}
