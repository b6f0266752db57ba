// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a thread moves at once: neighbours in memory whose address is surely a multiple of their
// size. The buffers that a launch passes begin at multiples of 64 bytes, shared memory at multiples
// of 16.
#ifndef FOVEA_LOWERING_GPU_VECTORS_H
#define FOVEA_LOWERING_GPU_VECTORS_H

#include "lowering/GPU/Registers.h"
#include "lowering/Tile/TileMemory.h"

namespace mlir::fovea {

/// The most bytes that one instruction moves for a thread.
inline constexpr int64_t kVectorBytes = 16;

/// How many elements of a type fit into one vector; one of bits.
int64_t getVectorElements(Type element);

/// What the address of a vector must be a multiple of, or else LLVM takes it apart.
inline unsigned getBytes(VectorType type) {
  return type.getNumElements() * type.getElementTypeBitWidth() / 8;
}

/// Whether an element of a view, and every one below or above it along the other axis, begins a run
/// of `width` along `axis` at a multiple of their size. `several`: there are others along the other
/// axis.
bool isAligned(const ViewMemory &view, Value row, Value column, int64_t axis, bool several,
               int64_t width);

/// Registers of a tile in runs: `width` neighbours along `axis` each, by the first digit of the
/// axis.
struct RegisterRuns {
  /// The widest runs whose places lie in the tile as a whole or not at all, and that `isAligned`
  /// takes.
  RegisterRuns(tile::TileType type, int64_t axis, function_ref<bool(int64_t)> isAligned);
  /// Every register for itself.
  RegisterRuns() = default;

  int64_t axis = 1, width = 1;
  /// The numbers of a run's registers, if one begins with register `index`; else nothing.
  SmallVector<int64_t> from(const TileRegisters &registers, int64_t index) const;
};

/// A copy of a matrix in vectors. Vectors are counted in the order in which memory runs.
struct CopyOrder {
  /// From the place (row, column) of a view to shared memory, by vectors where both sides gain.
  /// `asynchronous`: a vector has to be one piece there.
  CopyOrder(const ViewMemory &view, Value row, Value column, tile::SharedType type,
            bool asynchronous);
  /// By single elements.
  CopyOrder(const ViewMemory &view, tile::SharedType type);

  /// The digits of a vector's number, fastest first: how many there are, along which axis and in
  /// which steps they count.
  int64_t sizes[4], axes[4], steps[4];
  /// Where a vector's elements lie from its first one on.
  SmallVector<std::array<int64_t, 2>> inside;
  /// A vector's elements go to shared memory in pieces of equal size: which ones, in its order.
  SmallVector<SmallVector<int64_t>> pieces;
  /// Whether `cp.async` copies such vectors: pieces of 4, 8 or 16 bytes.
  bool isAsynchronous() const { return isOnePiece() && width() * elementBytes >= 4; }
  /// Whether a vector's elements are in the view, or zero, as a whole or not at all.
  bool endsWithVectors = true;

  int64_t width() const { return inside.size(); }
  /// Whether a vector is one piece, as it is.
  bool isOnePiece() const { return pieces.size() == 1 && llvm::is_sorted(pieces.front()); }
  int64_t count() const { return sizes[0] * sizes[1] * sizes[2] * sizes[3]; }

private:
  int64_t elementBytes;
  /// Joins the first `width` elements. False if memory has no such runs.
  bool widen(const ViewMemory &view, Value row, Value column, tile::SharedType type, int64_t width);
  void cut(tile::SharedType type);
};

} // namespace mlir::fovea

#endif // FOVEA_LOWERING_GPU_VECTORS_H
