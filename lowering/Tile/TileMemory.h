// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the elements of tiles and views lie in memory.
#ifndef FOVEA_LOWERING_TILE_TILEMEMORY_H
#define FOVEA_LOWERING_TILE_TILEMEMORY_H

#include "dialects/ElementTypes.h"
#include "dialects/Tile/TileDialect.h"
#include "lowering/Tile/Emitter.h"

namespace mlir::fovea {

/// How a tile lies in its buffer: `outer` rows of `pitch` elements, of which `inner` are the
/// tile's. Along a tile's `lanes` unless its size there is one: then along the other axis, so that
/// a column is as good as a row.
struct TileLayout {
  explicit TileLayout(tile::TileType type, int64_t vectorLanes);
  int64_t axis; ///< of the tile, that lies in lanes
  int64_t outer, inner;
  int64_t pitch; ///< `inner` rounded up to whole vectors
  /// The same tile with its other axis in lanes.
  TileLayout turned(int64_t vectorLanes) const;
  bool operator==(const TileLayout &other) const {
    return axis == other.axis && outer == other.outer && inner == other.inner;
  }
};

/// A view as flat memory. Places are counted in elements, also where two of i4 share a byte; of i2,
/// i5 and i6 they are bytes.
struct ViewMemory {
  Value flat; ///< rank-1 memref from the buffer's beginning; of bytes for less than these
  Type type;
  Value base;      ///< of element (0, 0)
  Value stride[2]; ///< by axis; of a packed view not used
  Value extent[2]; ///< by axis
  /// Packed: outputs of a panel, neighbours in k; else 0.
  int64_t panel = 0, interleave = 1;
  Value panelStride; ///< places of a panel
  int64_t panels = 0;

  bool isOfNibbles() const { return type.isInteger(4); }
  /// Whether only units of several words tell where an element is (dialects/PackedIntegers.h).
  bool liesInUnits() const { return getUnits(type).has_value(); }
  /// Of a unit of `interleave` neighbours.
  int64_t words() const { return liesInUnits() ? getUnits(type)->words() : 1; }
  /// Places that one output has of a word, and that a panel has of a unit.
  int64_t wordSize() const { return liesInUnits() ? 4 : interleave; }
  int64_t unitSize() const { return words() * panel * wordSize(); }
  /// An element, of any bits.
  Value load(Emitter &b, Value row, Value column) const;
  /// The element at a place, if places are elements'.
  Value load(Emitter &b, Value place) const;
  bool isUnit(int64_t axis) const { return panel == 0 && getConstant(stride[axis]) == 1; }
  /// Element (row, column) as an index into `flat`; likewise.
  Value place(Emitter &b, Value row, Value column) const;
  /// The element `inner` along `axis` and `outer` along the other from element `first` (row,
  /// column).
  Value place(Emitter &b, const Value (&first)[2], int64_t axis, Value outer, Value inner) const;
  /// How many of `size` places along `axis` from `first` on are inside; null if surely all.
  Value inside(Emitter &b, Value first, int64_t size, int64_t axis) const;
};

/// Describes what a `tile.view` or a `tile.packed` sees; emits at `b`.
ViewMemory describeView(Emitter &b, Operation *view);

/// Whether an index is surely a multiple of `factor`, as far as loops, arithmetic and what types
/// say of strides show it.
bool isMultipleOf(Value index, int64_t factor);

} // namespace mlir::fovea

#endif // FOVEA_LOWERING_TILE_TILEMEMORY_H
