// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints IR whose values are called what the model calls them.
#ifndef FOVEA_TOOLS_COMPILE_NAMES_H
#define FOVEA_TOOLS_COMPILE_NAMES_H

#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace mlir::fovea {

/// The name that a place gives: the last part of a module's, or what the author of a .mlir file
/// called the value; empty if it has none.
std::string nameOf(Location loc);

/// The module's text. Arguments, and results that are tensors, caches or buffers, are named by the
/// last part of the place that they come from: `%q_proj`. With --mlir-print-debuginfo places are
/// printed instead.
std::string printWithNames(ModuleOp module);

} // namespace mlir::fovea

#endif // FOVEA_TOOLS_COMPILE_NAMES_H
