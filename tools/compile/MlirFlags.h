// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MLIR's own command-line flags: taken by Compile.h's parseMlirFlags, applied here.
#ifndef FOVEA_TOOLS_COMPILE_MLIRFLAGS_H
#define FOVEA_TOOLS_COMPILE_MLIRFLAGS_H

#include "mlir/Pass/PassManager.h"
#include "mlir/Support/Timing.h"

namespace mlir::fovea {

/// --mlir-print-ir-..., --mlir-pass-statistics, ...
LogicalResult applyMlirFlags(PassManager &manager);
/// --mlir-timing.
void applyMlirFlags(DefaultTimingManager &timing);

} // namespace mlir::fovea

#endif // FOVEA_TOOLS_COMPILE_MLIRFLAGS_H
