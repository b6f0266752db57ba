// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which elements of a tile a thread holds, by the tile's layout; how a reduction meets across
// threads. Arithmetic on digits, without code.
#ifndef FOVEA_LOWERING_GPU_REGISTERS_H
#define FOVEA_LOWERING_GPU_REGISTERS_H

#include "dialects/Tile/TileDialect.h"
#include <optional>

namespace mlir::fovea {

inline constexpr int64_t kWarp = 32, kWarpgroup = 4 * kWarp;
/// Of what streams from memory: that many loads of each thread are under way at once, each of so
/// many bits.
inline constexpr int64_t kLoads = 4, kLoadBits = 128;

/// A load, or what loaded integers stand for, that products read where it lies, and nothing else
/// does: no thread holds it.
bool isReadInPlace(Value tile);

/// Whether only products that sum along its rows read it, on their way to which integers become
/// floats.
bool isReadByRows(tile::DequantizeOp op);

/// How many times the threads that hold a tile are in a block, where these are its first ones and
/// the next ones hold copies in the same order; else 1.
int64_t countCopies(tile::LayoutAttr layout, int64_t threads);

/// The warps of a block that multiplies by atoms: `rows` of them below each other, each with its
/// own 16 rows, and `columns` of these beside each other.
struct TensorWarps {
  int64_t rows = 1, columns = 1;
  /// For a kernel of `threads` whose products, of tiles or staged, have at most so many rows; none
  /// if no product has an atom.
  static std::optional<TensorWarps> find(tile::KernelOp kernel, int64_t threads);
};

/// A thread's registers of a tile, which must have a layout. Register (r, c) has number
/// `r * columns + c`; its place along an axis is `place(axis, r or c)` plus what the thread adds,
/// at most `reach(axis)`.
class TileRegisters {
public:
  explicit TileRegisters(tile::TileType type);
  int64_t count() const { return counts[0] * counts[1]; }
  int64_t count(int64_t axis) const { return counts[axis]; }
  /// The number along `axis` of register `index`.
  int64_t along(int64_t axis, int64_t index) const {
    return axis == 0 ? index / counts[1] : index % counts[1];
  }
  int64_t index(int64_t row, int64_t column) const { return row * counts[1] + column; }
  int64_t place(int64_t axis, int64_t number) const { return places[axis][number]; }
  int64_t reach(int64_t axis) const { return reaches[axis]; }
  /// Whether places of that number along `axis` are the tile's, whatever the thread, or no
  /// thread's.
  bool surelyInside(int64_t axis, int64_t number) const {
    return place(axis, number) + reach(axis) < sizes[axis];
  }
  bool surelyOutside(int64_t axis, int64_t number) const {
    return place(axis, number) >= sizes[axis];
  }
  bool surelyOutside(int64_t index) const {
    return surelyOutside(0, along(0, index)) || surelyOutside(1, along(1, index));
  }
  /// Whether every register of every thread holds an element.
  bool isFull() const;

private:
  int64_t counts[2], sizes[2], reaches[2] = {0, 0};
  SmallVector<int64_t> places[2];
};

using Digits = SmallVector<tile::LayoutAttr::Digit>;

bool beginsWith(ArrayRef<tile::LayoutAttr::Digit> digits, ArrayRef<tile::LayoutAttr::Digit> first);

/// Whether an atom with such sums takes a tile of layout `held` as its left operand: of the same
/// rows, its depth counted as the sums' columns are and in registers.
bool isLeftOperand(tile::LayoutAttr held, tile::LayoutAttr sums);

/// A reduction's threads along its axis: digits within a warp, which shuffles can exchange (powers
/// of two, fastest first), and the others, which meet in shared memory.
struct ReduceDigits {
  ReduceDigits(tile::LayoutAttr layout, int64_t axis);
  Digits lanes, across;
  /// Numbers that meet in memory for each element of the result. One: no scratch is needed.
  int64_t parts() const;
};

} // namespace mlir::fovea

#endif // FOVEA_LOWERING_GPU_REGISTERS_H
