// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Integers of weights for products of bytes by many rows: nibbles become bytes once for all rows,
// and what the zero point of the rows adds to each output is summed once. Refuses few rows, and
// panels that are no whole words.
#include "lowering/CPU/TileLowering.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::tile;

/// Whether all that reads it multiplies it by many rows of bytes.
bool TileLowering::meetsBytes(DequantizeOp op) {
  return llvm::all_of(op->getUsers(), [&](Operation *user) {
    auto dot = cast<DotOp>(user);
    DotOperands operands(dot, layoutOf(dot.getResult()));
    return layoutOf(dot.getResult()).outer >= kLeastRowsOfPairs &&
           typeOf(operands.other).getElementType().isInteger(8);
  });
}

/// The two words of k that nibbles are from `at` on, in their order, sixteen times what they stand
/// for.
static SmallVector<Value> unpackNibbles(Emitter &b, Value bytes) {
  SmallVector<Value> halves = separateNibbles(b, bytes), words;
  int64_t count = cast<VectorType>(bytes.getType()).getNumElements();
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
  TileType type = op.getResult().getType();
  int64_t depth = type.getColumns(), panels = llvm::divideCeil(type.getRows(), lanes);
  if (!hasAtom || !meetsBytes(op) || !readsPanels(op) || depth == 0)
    return false;
  int64_t group = op.getScales() ? op.getGroup() : depth, groups = depth / group;
  LoadOp load = op.getLoad(), scalesLoad = op.getScalesLoad();
  const ViewMemory view = viewOf(load.getView());
  int64_t unit = view.isOfNibbles() ? 2 : 1, bytes = lanes * depth;
  int64_t words = lanes * groups * 4, all = words + (unit == 2 ? bytes + words : 0);
  if (view.panel != lanes || depth % view.interleave != 0 || group % view.interleave != 0 ||
      panels * all > kMostBytesOfPairs)
    return false;
  PreparedBytes result{{}, {}, {}, bytes, groups};
  auto allocateAs = [&](Type element, int64_t size) { // one row, which no block reaches beyond
    return allocate(element, TileLayout(TileType::get(1, panels * size, element), lanes));
  };
  if (unit == 2)
    result.memory = allocateAs(b.getI8Type(), bytes);
  // Of nibbles all are a sixteenth, those of whole rows too.
  if (scalesLoad || unit == 2)
    result.scales = allocateAs(b.getF32Type(), groups * lanes);
  result.zero = allocateAs(b.getI32Type(), groups * lanes);
  b.loop(b.index(0), b.index(panels), 1, [&](Value number) {
    // Panels past the last are those of the last.
    Value panel = b.minimum(b.add(b.div(load.getRow(), lanes), number), b.index(view.panels - 1));
    Value from = b.div(b.mul(panel, view.panelStride), unit), to = b.mul(number, bytes);
    b.loop(b.index(0), b.index(depth), group, [&](Value first) {
      Value place = b.add(b.mul(number, groups * lanes), b.mul(b.div(first, group), lanes));
      Value scale;
      if (unit == 2)
        scale = b.splat(arith::ConstantOp::create(b, b.getF32FloatAttr(0x1p-4)), lanes);
      if (scalesLoad) {
        const ViewMemory &of = viewOf(scalesLoad.getView());
        Value at = b.add(b.mul(panel, of.panelStride), b.mul(b.div(first, group), of.panel));
        Value own =
            b.load(cast<MemRefType>(of.flat.getType()).getElementType(), of.flat, at, lanes);
        own = b.convert(fromStorage(own, of.type), b.getF32Type());
        scale = scale ? Value(arith::MulFOp::create(b, own, scale)) : own;
      }
      if (scale)
        b.store(scale, result.scales, place, 4 * lanes);
      Value none = b.zero(VectorType::get(lanes, b.getI32Type()));
      Value sum = b.loop(b.index(0), b.index(group), view.interleave, none,
                         [&](Value within, ValueRange sums) {
                           Value k = b.add(first, within);
                           return SmallVector<Value>{prepareWord(
                               view, b.add(from, b.mul(b.div(k, unit), lanes)), result.memory,
                               b.add(to, b.mul(k, lanes)), sums.front())};
                         })
                      .front();
      b.store(arith::SubIOp::create(b, none, sum), result.zero, place, 4 * lanes);
    });
  });
  prepared.try_emplace(op.getResult(), result);
  return true;
}

/// Adds what the zero point adds for a word of weights; nibbles are stored as bytes.
Value TileLowering::prepareWord(const ViewMemory &view, Value at, Value memory, Value to,
                                Value sum) {
  Value bytes = b.load(b.getI8Type(), view.flat, at, 4 * lanes);
  SmallVector<Value> words{bytes};
  if (view.isOfNibbles())
    words = unpackNibbles(b, bytes);
  for (auto [i, word] : llvm::enumerate(words)) {
    sum = multiplyBytes(b, sum, splatByte(b, DotOp::kZeroPoint), word);
    if (memory)
      b.store(word, memory, b.add(to, static_cast<int64_t>(4 * lanes * i)), 4 * lanes);
  }
  return sum;
}
