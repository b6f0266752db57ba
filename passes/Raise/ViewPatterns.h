// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rewrites of views that more than one raising pass needs.
#ifndef FOVEA_PASSES_RAISE_VIEWPATTERNS_H
#define FOVEA_PASSES_RAISE_VIEWPATTERNS_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::fovea::raise {

/// `value` with its axes in the order `axes`.
Value transpose(OpBuilder &builder, Location loc, Value value, ArrayRef<int64_t> axes);

/// Chains of `tensor.expand_shape` and `tensor.collapse_shape` become shorter; collapses move
/// behind elementwise ops and norms, where they meet the expansions that undo them.
void populateReshapePatterns(RewritePatternSet &patterns);

/// Transposes move behind elementwise ops, and into the indices of contractions, elementwise
/// generics and reductions.
void populateTransposePatterns(RewritePatternSet &patterns);

} // namespace mlir::fovea::raise

#endif // FOVEA_PASSES_RAISE_VIEWPATTERNS_H
