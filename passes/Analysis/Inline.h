// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls of layers written out. MLIR's inliner asks each dialect for leave; ours all give it.
// Refused: a callee of more than one block, one that calls itself, and an external one.
#ifndef FOVEA_PASSES_ANALYSIS_INLINE_H
#define FOVEA_PASSES_ANALYSIS_INLINE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::fovea {

/// Replaces the calls in a function, and those in what they call, by the callees' bodies, which
/// stay as they are; gives how many. Locations say callee and call.
FailureOr<unsigned> inlineCalls(func::FuncOp function, const SymbolTable &symbols);

} // namespace mlir::fovea

#endif // FOVEA_PASSES_ANALYSIS_INLINE_H
