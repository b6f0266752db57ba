// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How one register block of a `tile.dot` is computed: the only place that knows a processor's
// product instructions.
#ifndef FOVEA_LOWERING_CPU_DOTATOMS_H
#define FOVEA_LOWERING_CPU_DOTATOMS_H

#include "lowering/Tile/Emitter.h"

namespace mlir::fovea {

/// The operand of which one element at a time meets a whole vector: element (r, k) of the block is
/// at `rows[r] + k * stride`.
struct BroadcastOperand {
  Value memory; ///< rank 1
  SmallVector<Value> rows;
  Value stride; ///< between neighbours in k
  Type type;
};

/// What integers are multiplied by: vector v of step k's factors is at `vectors[v] + (k / group) *
/// stride`.
struct LaneScales {
  Value memory; ///< rank 1
  SmallVector<Value> vectors;
  Value stride;
  int64_t group = 0; ///< 0: there are none
  Type type;
};

/// The operand that lies in lanes: vector v of step k is at `vectors[v] + (k / interleave) *
/// stride`, `interleave` neighbours in k beside each other in each lane. Of i4 two neighbours are
/// one byte, and places are those of bytes.
struct LaneOperand {
  Value memory; ///< rank 1
  SmallVector<Value> vectors;
  Value stride;
  int64_t interleave = 1;
  int64_t alignment = 0; ///< of every vector, in bytes; 0: that of an element
  bool streams = false;  ///< comes from far away: worth fetching ahead
  /// Like one of `vectors`, of what will be multiplied after this block: fetched meanwhile. May be
  /// absent.
  Value next;
  Type type;
  LaneScales scales;

  bool isOfIntegers() const { return isa<IntegerType>(type); }
};

/// `acc[r][v] += sum over k in [0, depth) of broadcast[r, k] * lane[v, k]`.
struct DotBlock {
  BroadcastOperand broadcast;
  LaneOperand lane;
  Value depth;
  Type sum;
  int64_t lanes; ///< of a vector of sums
  int64_t rows() const { return broadcast.rows.size(); }
  int64_t vectors() const { return lane.vectors.size(); }
};

/// One way to compute a block.
class DotAtom {
public:
  virtual ~DotAtom();
  /// Whether it computes products of these elements.
  virtual bool supports(const DotBlock &block) const = 0;
  /// Whether it multiplies and adds two neighbours in k of bf16 by one instruction.
  virtual bool multipliesPairs() const { return false; }
  /// Whether it widens what it broadcasts, element by element: better done once, before.
  virtual bool widens() const { return false; }
  /// The block's sums, row by row, begun with `acc`.
  virtual SmallVector<Value> emit(Emitter &b, const DotBlock &block,
                                  SmallVector<Value> acc) const = 0;
};

/// Of vectors of i32 that hold a byte of two i4 each, the even one (`i` = 0), which is the lower,
/// or the odd one.
Value extractNibbles(Emitter &b, Value bytes, int64_t i);

/// The atoms of a level of vectors, best first; none for another name.
ArrayRef<const DotAtom *> getDotAtoms(StringRef level);

/// Multiply-and-add of a broadcast element and a vector, any target, f32 and f64 sums, narrower
/// elements widened.
const DotAtom &getBroadcastAtom();

} // namespace mlir::fovea

#endif // FOVEA_LOWERING_CPU_DOTATOMS_H
