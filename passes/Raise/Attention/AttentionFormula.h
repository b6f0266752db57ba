// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The formula of attention, and what the source gives for rows without a key.
#ifndef FOVEA_PASSES_RAISE_ATTENTION_ATTENTIONFORMULA_H
#define FOVEA_PASSES_RAISE_ATTENTION_ATTENTIONFORMULA_H

#include "passes/Raise/Attention/AttentionForm.h"

namespace mlir::fovea::raise {

/// sum_j softmax_j(score) * value, with a sink's logit in the denominator perhaps; without a value
/// the probabilities. In f64, and without a maximum: only for numbers that exponentials survive.
Expr makeAttention(Expressions &e, Expr score, Expr value, Expr sink, unsigned key);

/// What the source gives for a row in which masks choose a very negative number for every key.
struct EmptyRow {
  bool isKnown = false;     ///< it could be evaluated
  std::optional<Fill> fill; ///< nothing: none of them
};

/// What the caller gives and the score is added to: elements of arguments, which may be minus
/// infinity to forbid a key.
SmallVector<Expr> getGivenSummands(Expr score);

/// Evaluates such a row; `allowed` is the mask that was found.
EmptyRow evaluateEmptyRow(Expressions &e, const AttentionForm &form, Expr allowed);

} // namespace mlir::fovea::raise

#endif // FOVEA_PASSES_RAISE_ATTENTION_ATTENTIONFORMULA_H
