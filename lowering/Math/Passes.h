// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes of lowering/Math/Passes.td.
#ifndef FOVEA_LOWERING_MATH_PASSES_H
#define FOVEA_LOWERING_MATH_PASSES_H

#include "dialects/Fovea/FoveaDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::fovea {

#define GEN_PASS_DECL
#include "lowering/Math/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "lowering/Math/Passes.h.inc"

} // namespace mlir::fovea

#endif // FOVEA_LOWERING_MATH_PASSES_H
