// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The formula of attention, and whether an expression is it: both are evaluated at random places of
// random tensors, at small sizes and at such as the constants in its masks.
#ifndef FOVEA_PASSES_RAISE_ATTENTIONFORMULA_H
#define FOVEA_PASSES_RAISE_ATTENTIONFORMULA_H

#include "passes/Raise/AttentionForm.h"

namespace mlir::fovea::raise {

/// The formula of attention, and what it is made of.
struct Formula {
  Expr value, greatest, sum;
  Expr ofKeys; ///< greatest without the sink
  unsigned key;
};

/// sum_j softmax_j(score) * value, with a sink's logit in the denominator perhaps; without a value
/// the probabilities.
Formula makeAttention(Expressions &e, Expr score, Expr value, Expr sink, unsigned key);

/// How an expression agrees with a formula.
enum class Agreement {
  None,
  OfOneKey,     ///< no row sees more than one key: the weight is one, with or without a denominator
  OfSeveralKeys ///< some rows do
};

/// Whether an expression and the formula agree at random places of random tensors, and mean
/// something at some. `dims` are those that places are drawn for, `booleans` tensors whose elements
/// are zeros and ones.
Agreement compare(Expressions &e, Expr a, const Formula &formula, ArrayRef<unsigned> dims,
                  ArrayRef<Value> booleans = {});

} // namespace mlir::fovea::raise

#endif // FOVEA_PASSES_RAISE_ATTENTIONFORMULA_H
