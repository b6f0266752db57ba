// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Integers of weights for products of bytes by many rows: nibbles become bytes once for all rows,
// and what the zero point of the rows adds to each output is summed once. Refuses few rows, and
// panels that are no whole words.
#include "lowering/CPU/TileLowering.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::tile;

/// The two words of k that nibbles are, in their order: sixteen times what they stand for, or as
/// such where products of them are added in 16 bits.
static SmallVector<Value> unpackNibbles(Emitter &b, Value bytes) {
  int64_t count = cast<VectorType>(bytes.getType()).getNumElements();
  SmallVector<Value> halves, words;
  if (b.products->countShorts(4) > 0)
    for (Value half : shiftNibbles(b, bytes))
      halves.push_back(arith::SubIOp::create(b, half, splatByte(b, kNibbleZeroPoint, count)));
  else
    halves = separateNibbles(b, bytes);
  for (int64_t part : {0, 1}) {
    SmallVector<int64_t> order;
    for (int64_t word = 0; word < count; word += 4)
      for (int64_t i : {0, 1}) {
        order.push_back(word + 2 * part + i);
        order.push_back(count + word + 2 * part + i);
      }
    words.push_back(vector::ShuffleOp::create(b, halves[0], halves[1], order));
  }
  return words;
}

bool TileLowering::prepareBytes(DequantizeOp op) {
  bool hasAtom = llvm::any_of(atoms, [](const DotAtom *atom) { return atom->multipliesBytes(); });
  if (!hasAtom || !hasWholeWords(op) || !meetsManyRows(op, b.getI8Type()))
    return false;
  TileType type = op.getResult().getType();
  int64_t depth = type.getColumns(), panels = llvm::divideCeil(type.getRows(), lanes);
  int64_t groups = op.getScales() ? depth / op.getGroup() : 1, size = lanes * depth;
  const ViewMemory &view = viewOf(op.getLoad().getView());
  bool ofNibbles = view.isOfNibbles(),
       areSixteenfold = ofNibbles && b.products->countShorts(4) == 0;
  int64_t interleave = view.interleave, words = lanes * groups;
  int64_t factors = (op.getScales() || areSixteenfold) + (op.getOffsets() != nullptr);
  if (panels * (4 * words * (1 + factors) + (ofNibbles ? size : 0)) > kMostBytesOfPairs)
    return false;
  PreparedBytes result{{}, {}, {}, {}, size, groups};
  auto allocateAs = [&](Type element, int64_t count) { // one row, which no block reaches beyond
    return allocate(element, TileLayout(TileType::get(1, panels * count, element), lanes));
  };
  if (ofNibbles)
    result.memory = allocateAs(b.getI8Type(), size);
  // Of nibbles all are a sixteenth, those of whole rows too.
  if (op.getScales() || areSixteenfold)
    result.scales = allocateAs(b.getF32Type(), words);
  if (op.getOffsets())
    result.offsets = allocateAs(b.getF32Type(), words);
  result.zero = allocateAs(b.getI32Type(), words);
  forEachGroup(op, [&](const PanelGroup &group) {
    Value place = b.add(b.mul(group.panel, words), b.mul(b.div(group.first, group.length), lanes));
    Value scales = group.scales;
    if (areSixteenfold) {
      Value sixteenth = b.splat(arith::ConstantOp::create(b, b.getF32FloatAttr(0x1p-4)), lanes);
      scales = scales ? Value(arith::MulFOp::create(b, scales, sixteenth)) : sixteenth;
    }
    if (scales)
      b.store(scales, result.scales, place, 4 * lanes);
    if (result.offsets)
      b.store(group.offsets, result.offsets, place, 4 * lanes);
    Value none = b.zero(VectorType::get(lanes, b.getI32Type()));
    auto addWords = [&](Value within, ValueRange sums) {
      Value to = b.add(b.mul(group.panel, size), b.mul(b.add(group.first, within), lanes));
      return SmallVector<Value>{prepareWords(loadWords(group, within), op.getMostBits(),
                                             result.memory, to, sums.front())};
    };
    Value sum = b.loop(b.index(0), b.index(group.length), interleave, none, addWords).front();
    b.store(arith::SubIOp::create(b, none, sum), result.zero, place, 4 * lanes);
  });
  prepared.try_emplace(op.getResult(), result);
  return true;
}

/// Adds what the zero point adds for words of weights; where there is memory for them, they are
/// nibbles and are stored as bytes.
Value TileLowering::prepareWords(Value bytes, int64_t bits, Value memory, Value to, Value sum) {
  SmallVector<Value> words{bytes};
  if (memory)
    words = unpackNibbles(b, bytes);
  for (auto [i, word] : llvm::enumerate(words)) {
    Value points = splatByte(b, DotOp::kZeroPoint, 4 * lanes);
    sum = b.products->countShorts(bits) > 0
              ? b.products->addShorts(b, sum, b.products->multiplyToShorts(b, points, word))
              : multiplyBytes(b, sum, points, word);
    if (memory)
      b.store(word, memory, b.add(to, static_cast<int64_t>(4 * lanes * i)), 4 * lanes);
  }
  return sum;
}
