// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scores up to what all keys share, and further logits that only the denominator sees.
#ifndef FOVEA_PASSES_RAISE_ATTENTION_SINKS_H
#define FOVEA_PASSES_RAISE_ATTENTION_SINKS_H

#include "passes/Raise/Attention/AttentionForm.h"

namespace mlir::fovea::raise {

/// `expr` up to summands that do not depend on `dim`, or the outermost `most` of these.
Expr dropIndependent(Expressions &e, Expr expr, unsigned dim, unsigned most = ~0u);

/// The exponent of `exp`, or a part of it, as one to base e. The logarithm of two has more bits
/// than the exponent's type.
Expr toNatural(Expressions &e, Expr exp, Expr exponent);

/// What may be a sink beside the score of `form` in `whole`, the likeliest first; zero at last.
SmallVector<Expr> findSinks(Expressions &e, const AttentionForm &form, Expr whole);

} // namespace mlir::fovea::raise

#endif // FOVEA_PASSES_RAISE_ATTENTION_SINKS_H
