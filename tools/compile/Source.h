// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads what MODEL names into a module: a Hugging Face folder, or a .mlir file.
#ifndef FOVEA_TOOLS_COMPILE_SOURCE_H
#define FOVEA_TOOLS_COMPILE_SOURCE_H

#include "frontend/ModelDescription.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/OwningOpRef.h"
#include "tools/compile/Report.h"

namespace mlir::fovea {

/// All dialects of all stages.
void registerCompilerDialects(DialectRegistry &registry);

/// True for a .mlir file, by its name.
bool isIrFile(llvm::StringRef path);

/// The description of a model's folder; nothing after errors. `all`: report all errors as such.
std::optional<::fovea::ModelDescription> readModel(const std::string &path, Reporter &reporter,
                                                   bool all = false);

/// Reads and verifies; null after an error.
OwningOpRef<ModuleOp> readSource(MLIRContext &context, const std::string &path, Reporter &reporter);

} // namespace mlir::fovea

#endif // FOVEA_TOOLS_COMPILE_SOURCE_H
