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
