// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What of a hand-written module no stage computes.
#ifndef FOVEA_TOOLS_COMPILE_CHECKMODULE_H
#define FOVEA_TOOLS_COMPILE_CHECKMODULE_H

#include "artifact/FileView.h"
#include "frontend/Problem.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::fovea {

/// Adds a problem for each op, type and stored tensor of a module of the first stages that cannot
/// be compiled: foreign ops with the nearest that is known, element types without kernels or that a
/// caller cannot give, weights that the files below `folder` do not hold. `path` names the module.
void checkModule(ModuleOp module, const std::string &path, const std::string &folder,
                 ::fovea::artifact::FileAccess access, ::fovea::Problems &problems);

} // namespace mlir::fovea

#endif // FOVEA_TOOLS_COMPILE_CHECKMODULE_H
