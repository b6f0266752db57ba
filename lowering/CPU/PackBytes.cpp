// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Integers of weights for products of bytes by many rows: those of less become bytes once for all
// rows, and what the zero point of the rows adds to each output is summed once. Refuses few rows,
// and panels that are no whole units.
#include "lowering/CPU/TileLowering.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::tile;

/// The two words of k that a piece of less than bytes is, in their order: shifted up, or as such
/// where products of them are added in 16 bits.
static SmallVector<Value> unpackPiece(Emitter &b, const FewBits &form, int64_t piece,
                                      UnitWords &words, bool isShifted) {
  SmallVector<Value> halves, bytes;
  for (int64_t part : {2 * piece, 2 * piece + 1})
    halves.push_back(form.unpackSigned(b, part, words, isShifted));
  int64_t count = getLanes(halves.front());
  for (int64_t half : {0, 1}) {
    SmallVector<int64_t> order;
    for (int64_t word = 0; word < count; word += 4)
      for (int64_t i : {0, 1}) {
        order.push_back(word + 2 * half + i);
        order.push_back(count + word + 2 * half + i);
      }
    bytes.push_back(vector::ShuffleOp::create(b, halves[0], halves[1], order));
  }
  return bytes;
}

bool TileLowering::prepareBytes(DequantizeOp op) {
  bool hasAtom = llvm::any_of(atoms, [](const DotAtom *atom) { return atom->multipliesBytes(); });
  if (!hasAtom || !hasWholeUnits(op) || !meetsManyRows(op, b.getI8Type()))
    return false;
  TileType type = op.getResult().getType();
  int64_t depth = type.getColumns(), panels = llvm::divideCeil(type.getRows(), lanes);
  int64_t group = op.getGroup(), groups = group == 0 ? 1 : depth / group, size = lanes * depth;
  const ViewMemory &view = viewOf(op.getLoad().getView());
  FewBits form = getForm(op);
  bool unpacks = !form.areBytes();
  int64_t shift = getShift(b, form, op.getMostBits());
  int64_t interleave = view.interleave, words = lanes * groups;
  int64_t factors = (op.getScales() || shift > 0) + (op.getOffsets() != nullptr);
  if (panels * (4 * words * (1 + factors) + (unpacks ? size : 0)) > kMostBytesOfPairs)
    return false;
  PreparedBytes result{{}, {}, {}, {}, size, groups};
  auto allocateAs = [&](Type element, int64_t count) { // one row, which no block reaches beyond
    return allocate(element, TileLayout(TileType::get(1, panels * count, element), lanes));
  };
  if (unpacks)
    result.memory = allocateAs(b.getI8Type(), size);
  // Of what is shifted up all are as much less, those of whole rows too.
  if (op.getScales() || shift > 0)
    result.scales = allocateAs(b.getF32Type(), words);
  if (op.getOffsets())
    result.offsets = allocateAs(b.getF32Type(), words);
  result.zero = allocateAs(b.getI32Type(), words);
  forEachGroup(op, [&](const PanelGroup &group) {
    Value place = b.add(b.mul(group.panel, words), b.mul(b.div(group.first, group.length), lanes));
    Value scales = group.scales;
    if (shift > 0)
      scales = byPowerOfTwo(b, scales, -shift, lanes);
    if (scales)
      b.store(scales, result.scales, place, 4 * lanes);
    if (result.offsets)
      b.store(group.offsets, result.offsets, place, 4 * lanes);
    Value none = b.zero(VectorType::get(lanes, b.getI32Type()));
    auto addWords = [&](Value within, ValueRange sums) {
      Value to = b.add(b.mul(group.panel, size), b.mul(b.add(group.first, within), lanes));
      UnitWords words([&](int64_t word) { return loadWord(group, within, word); });
      SmallVector<Value> unit;
      for (int64_t piece = 0; unpacks && piece < interleave / form.piece(); ++piece)
        llvm::append_range(unit, unpackPiece(b, form, piece, words, shift > 0));
      if (!unpacks)
        unit = {words.load(0)};
      return SmallVector<Value>{
          prepareWords(unit, op.getMostBits(), result.memory, to, sums.front())};
    };
    Value sum = b.loop(b.index(0), b.index(group.length), interleave, none, addWords).front();
    b.store(arith::SubIOp::create(b, none, sum), result.zero, place, 4 * lanes);
  });
  prepared.try_emplace(op.getResult(), result);
  return true;
}

/// Adds what the zero point adds for words of weights, and stores them where there is memory.
Value TileLowering::prepareWords(ArrayRef<Value> words, int64_t bits, Value memory, Value to,
                                 Value sum) {
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
