// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// USMMLA and BFMMLA (Arm Architecture Reference Manual for A-profile, C7): twice the products of
// USDOT and BFDOT. A matrix is [row 0, output 0], [row 0, output 1], [row 1, output 0], [row 1,
// output 1]; of two words its operands have those of two rows, or of two outputs, beside each
// other. Panels lie word by word, so two vectors become two such operands by two instructions, for
// all rows of a block; rows become one by a load of each, for all its outputs.
#include "lowering/CPU/NeonMatrices.h"

using namespace mlir;
using namespace mlir::fovea;

bool mlir::fovea::multipliesMatrices(Emitter &b, const DotBlock &block) {
  return b.products && b.products->hasMatrices() && block.lanes == 4 && block.rows() > 1;
}

/// Elements of both vectors, as many as one has, by groups of `size` bytes: the lower halves, or
/// the upper ones, in turns.
static Value interleave(Emitter &b, Value x, Value y, int64_t size, bool upper) {
  auto type = cast<VectorType>(x.getType());
  int64_t count = type.getNumElements(), group = size * 8 / type.getElementTypeBitWidth();
  SmallVector<int64_t> order;
  for (int64_t at = upper ? count / 2 : 0; order.size() < static_cast<size_t>(count); at += group)
    for (int64_t from : {at, count + at})
      for (int64_t i = 0; i < group; ++i)
        order.push_back(from + i);
  return vector::ShuffleOp::create(b, x, y, order);
}

/// The second row of the pair that begins with r.
static int64_t getPartner(const DotBlock &block, int64_t r) {
  return std::min(r + 1, block.rows() - 1);
}

SmallVector<Value> mlir::fovea::toMatrices(Emitter &b, const DotBlock &block, ValueRange sums) {
  SmallVector<Value> matrices;
  for (int64_t r = 0; r < block.rows(); r += 2)
    for (int64_t v = 0; v < block.vectors(); ++v)
      for (bool upper : {false, true})
        matrices.push_back(interleave(b, sums[r * block.vectors() + v],
                                      sums[getPartner(block, r) * block.vectors() + v], 8, upper));
  return matrices;
}

SmallVector<Value> mlir::fovea::fromMatrices(Emitter &b, const DotBlock &block,
                                             ValueRange matrices) {
  SmallVector<Value> sums;
  for (int64_t r = 0; r < block.rows(); ++r)
    for (int64_t v = 0; v < block.vectors(); ++v) {
      ValueRange two = matrices.slice(2 * (r / 2 * block.vectors() + v), 2);
      sums.push_back(interleave(b, two[0], two[1], 8, /*upper=*/r % 2 == 1));
    }
  return sums;
}

static Value loadBits(Emitter &b, Value memory, Value at, int64_t bits, int64_t alignment = 0) {
  auto element = cast<MemRefType>(memory.getType()).getElementType();
  return b.load(element, memory, at, bits / element.getIntOrFloatBitWidth(), alignment);
}

/// Two words of row r from `at` on, and those of its partner.
static Value loadRows(Emitter &b, const DotBlock &block, int64_t r, Value at) {
  auto load = [&](int64_t row) {
    return loadBits(b, block.broadcast.memory, b.add(block.broadcast.rows[row], at), 64);
  };
  Value first = load(r);
  int64_t count = cast<VectorType>(first.getType()).getNumElements();
  return vector::ShuffleOp::create(b, first, load(getPartner(block, r)),
                                   llvm::to_vector(llvm::seq<int64_t>(2 * count)));
}

void mlir::fovea::multiplyMatrices(Emitter &b, const DotBlock &block, Value k,
                                   MutableArrayRef<Value> matrices) {
  const LaneOperand &lane = block.lane;
  Value place = b.mul(b.div(k, lane.interleave), lane.stride);
  StreamFetch stream(b, block, k, place);
  for (int64_t word = 0; word < kMatrixWords; word += 2) {
    SmallVector<Value> pairs;
    for (int64_t r = 0; r < block.rows(); r += 2)
      pairs.push_back(loadRows(b, block, r, b.add(k, word * lane.interleave)));
    for (int64_t v = 0; v < block.vectors(); ++v) {
      Value words[2];
      for (int64_t i : {0, 1}) {
        Value constant = b.mul(lane.stride, word + i);
        if (lane.next && v == 0)
          b.prefetch(lane.memory, b.add(b.add(lane.next, place), constant), /*locality=*/2);
        Value at = addLast(b, lane.vectors[v], place, constant);
        stream.fetch(v, at, constant);
        words[i] = loadBits(b, lane.memory, at, 128, lane.alignment);
      }
      for (bool upper : {false, true}) {
        Value outputs = interleave(b, words[0], words[1], 4, upper);
        for (auto [pair, operand] : llvm::enumerate(pairs)) {
          Value &matrix = matrices[2 * (pair * block.vectors() + v) + upper];
          matrix = b.products->multiplyMatrices(b, matrix, operand, outputs);
        }
      }
    }
  }
}
