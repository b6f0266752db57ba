// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A call of a layer written out. MLIR's inliner asks each dialect for leave; ours all give it.
#ifndef FOVEA_PASSES_ANALYSIS_INLINE_H
#define FOVEA_PASSES_ANALYSIS_INLINE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::fovea {

/// Replaces a call by the body of `callee`, which has one block. Locations say both.
void inlineCall(func::CallOp call, func::FuncOp callee);

} // namespace mlir::fovea

#endif // FOVEA_PASSES_ANALYSIS_INLINE_H
