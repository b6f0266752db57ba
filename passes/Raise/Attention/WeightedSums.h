// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums over keys inside an expression, read as weights times values.
#ifndef FOVEA_PASSES_RAISE_ATTENTION_WEIGHTEDSUMS_H
#define FOVEA_PASSES_RAISE_ATTENTION_WEIGHTEDSUMS_H

#include "passes/Elements/Expression.h"

namespace mlir::fovea::raise {

/// A sum over keys, read as weights times values.
struct WeightedSum {
  Expr node;
  unsigned key;
  Expr weight; ///< all factors but the value
  Expr value;
};

/// The readings of a sum, likelier ones first; `dims` are the result's.
SmallVector<WeightedSum> readWeightedSum(Expressions &e, Expr node, ArrayRef<unsigned> dims);

/// Whether the scores also stand in another sum of exponentials, what they are divided by; a sum
/// around this one, as a convolution has of several axes, is none.
bool hasDenominator(Expressions &e, Expr whole, const WeightedSum &sum, Expr score);

/// The product of these factors, in `type`.
Expr multiply(Expressions &e, ArrayRef<Expr> factors, FloatType type);

/// The tensors nearest to `root` that hold parts of it.
void addHomes(Expressions &e, Expr root, SmallVectorImpl<Value> &homes);

} // namespace mlir::fovea::raise

#endif // FOVEA_PASSES_RAISE_ATTENTION_WEIGHTEDSUMS_H
