// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The vocabulary of TileableOpInterface: domains of tile programs, and what an op asks of one.
#ifndef FOVEA_DIALECTS_FOVEA_TILEABLE_H
#define FOVEA_DIALECTS_FOVEA_TILEABLE_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"

namespace mlir::fovea {

/// What an op asks of the domain that it is computed in. In the order of the list an op needs more
/// of its row; a group's domain is that of the op that needs most.
struct TileNeeds {
  enum Kind {
    View,     ///< nothing: its elements are some of another tensor's
    Elements, ///< each element by itself
    Table,    ///< rows that are found by a number each
    WholeRow, ///< all columns of a row at once
    Product,  ///< whole rows of the input, for each column of the result
    Sequence  ///< rows at all places: no tile program has the op beside others
  };
  Kind kind = View;
  /// How many leading axes of its tensors are rows; of no meaning for `View` and `Elements`.
  int64_t rowAxes = 0;
  /// Whether the op asks which batch row and which place in the sequence a row is: the row axes are
  /// then these two, whatever `kind` says.
  bool located = false;
  /// Whether heads of a row are computed apart.
  bool heads = false;
  /// Columns of a head at which its tiles must be cut.
  SmallVector<int64_t> cuts = {};
  /// Of the row axes, how many leading ones are never joined with others: another operand has them
  /// too.
  int64_t outerAxes = 0;
  /// Where parts of the rows begin that have weights of their own (`experts` of `fovea.linear`), or
  /// null.
  Value parts = {};
};

/// Which kind of tile program computes a group.
enum class TileKind {
  None,        ///< none does
  Elements,    ///< each element on its own
  Rows,        ///< whole rows, heads of them, or rows that have a place
  Contraction, ///< products and what surrounds them
};

/// The iteration domain of a tile program. The leading axes of its tensors are rows, all others
/// together are columns.
struct TileDomain {
  TileKind kind = TileKind::None;
  int64_t rowAxes = 0;
  bool located = false;
  int64_t outerAxes = 0; ///< row axes that are not joined, at least
  Value parts = {};      ///< a tile has rows of one of these parts
};

/// An axis of a tensor.
struct TensorAxis {
  Value tensor;
  int64_t axis;
};

/// In which form a tile of a result asks for an operand.
enum class TileRole {
  Tile,      ///< the same rows and, up to views, columns
  RowBuffer, ///< whole rows, from memory
  RowMatrix, ///< the same, whose length may be known only when called
  Parameter, ///< numbers that all rows share, from memory: a weight of any narrow float, a table
  Ids,       ///< a row's number in a table each, from memory
  RowsOfIds, ///< several such numbers each
  Matrix,    ///< rows that are found by such numbers, from memory: all axes but the last are joined
  Offsets,   ///< numbers that all rows share, from memory
  Positions, ///< positions of the rows, from memory or consecutive
  SharedRows, ///< from memory, and not by the group's rows: those that all batches share, a matrix
};

/// Columns of a tile that has whole rows: what is computed of them may lie on a thread's stack,
/// half a megabyte for each tile of f32.
inline constexpr int64_t kMostColumns = 1 << 17;

/// Asked by an op's `visitTileOperands`.
class TileVisitor {
public:
  virtual ~TileVisitor() = default;
  virtual const TileDomain &getDomain() const = 0;
  /// Whether the operand can be had in this role. Absent operands (null) can.
  virtual bool visit(Value operand, TileRole role) = 0;
  /// Numbers that all blocks of the program need are computed before it, for this op.
  virtual void requirePhaseBefore(Operation *op) = 0;
  /// The program is at fault where two axes of operands in memory differ in size.
  virtual void requireEqualSizes(TensorAxis a, TensorAxis b) = 0;

  /// Whether the columns of `input` are one whole row each, and a row is no longer than a tile.
  bool hasWholeRows(Value input) const {
    auto type = cast<RankedTensorType>(input.getType());
    return getDomain().kind == TileKind::Rows && type.getRank() == getDomain().rowAxes + 1 &&
           type.getShape().back() <= kMostColumns;
  }
};

/// All axes of a tensor but the last, as rows.
inline int64_t getLeadingAxes(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getRank() - 1;
}

} // namespace mlir::fovea

#endif // FOVEA_DIALECTS_FOVEA_TILEABLE_H
