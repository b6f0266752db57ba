// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products by NEON's instructions for matrices: two rows by two outputs in one vector.
#ifndef FOVEA_LOWERING_CPU_NEONMATRICES_H
#define FOVEA_LOWERING_CPU_NEONMATRICES_H

#include "lowering/CPU/DotAtoms.h"

namespace mlir::fovea {

/// Words of four bytes that are multiplied at a time: 16 bytes of each row are one load.
constexpr int64_t kMatrixWords = 4;

/// Whether the level multiplies so, and a block has rows enough.
bool multipliesMatrices(Emitter &b, const DotBlock &block);

/// Vectors of sums, row by row, as matrices and back; there is a row more where they are odd.
SmallVector<Value> toMatrices(Emitter &b, const DotBlock &block, ValueRange sums);
SmallVector<Value> fromMatrices(Emitter &b, const DotBlock &block, ValueRange matrices);

/// Adds the products of kMatrixWords words from k on to matrices.
void multiplyMatrices(Emitter &b, const DotBlock &block, Value k, MutableArrayRef<Value> matrices);

} // namespace mlir::fovea

#endif // FOVEA_LOWERING_CPU_NEONMATRICES_H
