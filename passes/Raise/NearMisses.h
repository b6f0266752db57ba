// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What nearly is a norm or an activation, and why it is none: for reports.
#ifndef FOVEA_PASSES_RAISE_NEARMISSES_H
#define FOVEA_PASSES_RAISE_NEARMISSES_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::fovea {

/// Elementwise code that agrees with a formula but for one op.
struct NearMiss {
  Operation *op;      ///< the last one of it
  std::string kind;   ///< "rms_norm", "gelu"
  std::string reason; ///< "'arith.minimumf' with 2.5 at model.py:12 changes it"
};

/// Asks of each elementwise op that is left in a module of the `graph` stage. Each op that is in
/// the way is told once.
SmallVector<NearMiss> findNearNorms(ModuleOp module);
SmallVector<NearMiss> findNearActivations(ModuleOp module);

} // namespace mlir::fovea

#endif // FOVEA_PASSES_RAISE_NEARMISSES_H
