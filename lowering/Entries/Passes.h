// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes of lowering/Entries/Passes.td.
#ifndef FOVEA_LOWERING_ENTRIES_PASSES_H
#define FOVEA_LOWERING_ENTRIES_PASSES_H

#include "dialects/Fovea/FoveaDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::fovea {

#define GEN_PASS_DECL
#include "lowering/Entries/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "lowering/Entries/Passes.h.inc"

} // namespace mlir::fovea

#endif // FOVEA_LOWERING_ENTRIES_PASSES_H
