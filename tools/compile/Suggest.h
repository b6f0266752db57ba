// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the author of IR text may have meant by a name that MLIR does not know.
#ifndef FOVEA_TOOLS_COMPILE_SUGGEST_H
#define FOVEA_TOOLS_COMPILE_SUGGEST_H

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace mlir::fovea {

/// For the end of a diagnostic that says that a name is unknown: "; did you mean
/// 'fovea.mask_causal'?". Empty for any other, and if nothing is near.
std::string suggestName(MLIRContext &context, StringRef diagnostic);

/// Whether no op of this project has an attribute that it does not know and that is named nearly as
/// one that it does: MLIR keeps those and nobody reads them. Else a diagnostic.
bool areAttributesKnown(ModuleOp module);

} // namespace mlir::fovea

#endif // FOVEA_TOOLS_COMPILE_SUGGEST_H
