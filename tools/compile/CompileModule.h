// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiling a module that is already in memory.
#ifndef FOVEA_TOOLS_COMPILE_COMPILEMODULE_H
#define FOVEA_TOOLS_COMPILE_COMPILEMODULE_H

#include "mlir/IR/BuiltinOps.h"
#include "tools/compile/Compile.h"

namespace mlir::fovea {

/// As `compile`, for a module of the import stage, which is changed. `options.model` is where it
/// came from, for messages and for files that it names.
::fovea::compile::Outcome compileModule(ModuleOp module, const ::fovea::compile::Options &options,
                                        const ::fovea::compile::Log &log);

} // namespace mlir::fovea

#endif // FOVEA_TOOLS_COMPILE_COMPILEMODULE_H
