// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles of bf16 that lie in lanes of a product, as pairs of neighbours in k: the layout that packed
// weights have from the start, for what is computed or given by the caller. Refuses targets without
// products of pairs, and products of few rows, for which packing is not worth while.
#include "lowering/CPU/TileLowering.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::tile;

UnpackedPanels TileLowering::allocatePanels(int64_t panels, int64_t size) {
  auto shape = TileType::get(1, panels * size, b.getBF16Type()); // no block reaches beyond it
  return {allocate(b.getBF16Type(), TileLayout(shape, lanes)), size};
}

/// Where k is along rows of memory: each loaded vector has pairs of one lane, and squares of such
/// words are turned.
void TileLowering::turnPairs(LoadOp load, int64_t axis, const UnpackedPanels &panels) {
  const ViewMemory view = viewOf(load.getView());
  int64_t width = typeOf(load).getSize(axis), depth = typeOf(load).getSize(1 - axis);
  Value validInner = validAlong(load, axis), validOuter = validAlong(load, 1 - axis);
  Value innerEnd = validInner ? validInner : b.index(width);
  Value outerEnd = validOuter ? validOuter : b.index(depth);
  Value first[2] = {load.getRow(), load.getColumn()};
  auto words = VectorType::get(lanes, b.getI32Type());
  Value last = b.maximum(b.sub(innerEnd, b.index(1)), b.index(0));
  b.loop(b.index(0), b.index(llvm::alignTo(width, lanes)), lanes, [&](Value inner) {
    b.loop(b.index(0), b.index(llvm::alignTo(depth, 2 * lanes)), 2 * lanes, [&](Value k) {
      Value mask;
      if (validOuter || depth % (2 * lanes) != 0)
        mask = b.lanesBelow(b.sub(outerEnd, k), 2 * lanes);
      SmallVector<Value> rows;
      for (int64_t i = 0; i < lanes; ++i) {
        Value place = view.place(b, first, axis, k, b.minimum(b.add(inner, i), last));
        Value row = mask ? b.loadMasked(b.getBF16Type(), view.flat, place, mask)
                         : b.load(b.getBF16Type(), view.flat, place, 2 * lanes);
        rows.push_back(vector::BitCastOp::create(b, words, row));
      }
      rows = b.transpose(rows);
      for (int64_t i = 0; i < lanes; ++i)
        storePairs(panels, inner, b.add(k, 2 * i), rows[i]);
    });
  });
}

/// The vector of pairs at an even k, of the lanes from `inner` on.
void TileLowering::storePairs(const UnpackedPanels &panels, Value inner, Value k, Value words) {
  Value at = b.add(b.mul(b.div(inner, lanes), panels.size), b.mul(k, lanes));
  Value halves = vector::BitCastOp::create(b, VectorType::get(2 * lanes, b.getI16Type()), words);
  b.store(halves, panels.memory, at, 4 * lanes);
}

std::optional<UnpackedPanels> TileLowering::packPairs(Value tile, int64_t axis) {
  auto found = pairs.find({tile, axis});
  if (found != pairs.end())
    return found->second;
  int64_t panels = llvm::divideCeil(typeOf(tile).getSize(axis), lanes);
  int64_t size = llvm::alignTo(typeOf(tile).getSize(1 - axis), 2 * lanes) * lanes;
  if (panels * size * 2 > kMostBytesOfPairs)
    return std::nullopt;
  OpBuilder::InsertionGuard guard(b);
  if (Operation *op = tile.getDefiningOp())
    b.setInsertionPointAfter(op);
  UnpackedPanels result = allocatePanels(panels, size);
  auto load = tile.getDefiningOp<LoadOp>();
  if (load && viewOf(load.getView()).panel == 0 && viewOf(load.getView()).isUnit(1 - axis)) {
    turnPairs(load, axis, result);
  } else {
    // Two rows of lanes, of which a word has the lower in its low bits.
    Scratch rows = materialize(tile, axis);
    auto words = VectorType::get(lanes, b.getI32Type());
    Value sixteen =
        arith::ConstantOp::create(b, DenseElementsAttr::get(words, b.getI32IntegerAttr(16)));
    auto read = [&](Value k, Value inner) -> Value {
      Value place = b.add(b.mul(k, rows.layout.pitch), inner);
      return arith::ExtUIOp::create(b, words, b.load(b.getI16Type(), rows.memory, place, lanes));
    };
    b.loop(b.index(0), endAlong(tile, 1 - axis), 2, [&](Value k) {
      b.loop(b.index(0), b.index(rows.layout.pitch), lanes, [&](Value inner) {
        // There is no row behind the last; what its pairs have in its place is multiplied by
        // nothing.
        Value next = b.add(k, 1);
        if (rows.layout.outer % 2 != 0)
          next = b.minimum(next, b.index(rows.layout.outer - 1));
        Value high = arith::ShLIOp::create(b, read(next, inner), sixteen);
        storePairs(result, inner, k, arith::OrIOp::create(b, read(k, inner), high));
      });
    });
  }
  pairs.try_emplace({tile, axis}, result);
  return result;
}
