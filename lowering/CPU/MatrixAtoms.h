// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How one block of a `tile.dot` is computed by a unit that has registers for matrices: it reads its
// operands and sums from memory by rows, and sums go back there.
#ifndef FOVEA_LOWERING_CPU_MATRIXATOMS_H
#define FOVEA_LOWERING_CPU_MATRIXATOMS_H

#include "lowering/Tile/Emitter.h"

namespace mlir::fovea {

/// Rows in memory of rank 1: row r begins at `place + r * stride`, in elements.
struct MatrixRows {
  Value memory;
  Value place, stride;
  Type type;
};

/// An operand in panels: the vector of outputs v at step k of `interleave` neighbours in k is at
/// `vectors[v] + k * stride`, neighbours beside each other.
struct MatrixPanels {
  Value memory; ///< rank 1
  SmallVector<Value> vectors;
  int64_t stride;
  int64_t interleave;
  Type type;
  /// Like one of `vectors`, of what will be multiplied after this block, and which share of it this
  /// block fetches, an index. May be absent.
  Value next, share;
};

/// `sums[r][v] (+)= sum over k in [0, depth) of left[r, k] * right[v, k]` for the rows below
/// `rows`, an index.
struct MatrixBlock {
  MatrixRows left, sums;
  MatrixPanels right;
  int64_t depth;
  Value rows;
  bool begun; ///< whether sums are added to what is there
};

/// One unit. What it needs before and after its blocks stands once in a function.
class MatrixAtom {
public:
  virtual ~MatrixAtom();
  virtual bool supports(const MatrixBlock &block) const = 0;
  /// Of a block, at most; vectors of outputs.
  virtual int64_t rows() const = 0;
  virtual int64_t vectors() const = 0;
  /// Prepares the unit at `b`; what `emit` needs of that.
  virtual Value begin(Emitter &b) const = 0;
  virtual void end(Emitter &b) const = 0;
  virtual void emit(Emitter &b, const MatrixBlock &block, Value state) const = 0;
};

/// That of a level of instructions; null if it has none.
const MatrixAtom *getMatrixAtom(StringRef level);

} // namespace mlir::fovea

#endif // FOVEA_LOWERING_CPU_MATRIXATOMS_H
