// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The instructions that multiply narrow numbers and add to wide sums, by the processor's family and
// level.
#ifndef FOVEA_LOWERING_CPU_PRODUCTINSTRUCTIONS_H
#define FOVEA_LOWERING_CPU_PRODUCTINSTRUCTIONS_H

#include "lowering/Targets/Table.h"
#include "lowering/Tile/Emitter.h"

namespace mlir::fovea {

class ProductInstructions {
public:
  virtual ~ProductInstructions();
  /// Whether one operand may be an element of a vector, four bytes of 16, for nothing.
  virtual bool takesElements() const { return false; }
  /// Whether there are instructions for matrices of two rows by two outputs.
  virtual bool hasMatrices() const { return false; }
  /// Sums of i32, of unsigned rows by signed outputs; or of f32, of bf16.
  virtual Value multiplyMatrices(Emitter &b, Value sums, Value rows, Value outputs) const;
  virtual Value multiplyPairs(Emitter &b, Value sum, Value x, Value y) const = 0;
  virtual Value multiplyBytes(Emitter &b, Value sum, Value unsignedBytes,
                              Value signedBytes) const = 0;

  /// Whether there are products of signed by signed bytes, which need no zero point.
  virtual bool multipliesSigned() const { return false; }
  virtual Value multiplySigned(Emitter &b, Value sum, Value x, Value y) const;
  /// Whether bytes are shifted as such; else words are, whose bits in the next byte are cut off.
  /// Of shifted bytes LLVM makes GF2P8AFFINEQB where it may, with one more constant in a register.
  virtual bool shiftsBytes() const { return false; }
  /// Whether one instruction makes numbers of f32 of integers with bits behind the point.
  virtual bool convertsFixedPoint() const { return false; }
  virtual Value convertFixedPoint(Emitter &b, Value integers, int64_t bits) const;

  /// The entry, of sixteen, of each number below sixteen; all are bytes.
  virtual Value lookUp(Emitter &b, ArrayRef<int8_t> entries, Value numbers) const = 0;

  /// How many products of unsigned bytes by integers of so many bits, which are bytes too, are
  /// added in 16 bits before these go to sums of 32; 0: each goes there by itself.
  virtual int64_t countShorts(int64_t /*bits*/) const { return 0; }
  /// Numbers of 16 bits, of two products each. The unsigned bytes are any and the signed ones have
  /// the bits that were counted for, or the signed ones are any, and the unsigned ones have these.
  virtual Value multiplyToShorts(Emitter &b, Value unsignedBytes, Value signedBytes) const;
  /// To a sum of i32, two numbers of 16 bits in each lane.
  virtual Value addShorts(Emitter &b, Value sum, Value shorts) const;
};

/// Null for a level that has none.
const ProductInstructions *getProductInstructions(const Level &level);

/// Vectors of pairs of bf16: their products are added to a sum of f32.
Value multiplyPairs(Emitter &b, Value sum, Value x, Value y);

/// Vectors of bytes, four in each lane: their products are added to a sum of i32. Instructions of
/// signed bytes alone take the zero point off the unsigned ones first, so that the products of the
/// zero point by itself, which callers take off, are zero.
Value multiplyBytes(Emitter &b, Value sum, Value unsignedBytes, Value signedBytes);

} // namespace mlir::fovea

#endif // FOVEA_LOWERING_CPU_PRODUCTINSTRUCTIONS_H
