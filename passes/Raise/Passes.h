// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes that recognise what plain linalg, arith and tensor code means. What each does and refuses
// is said in Passes.td.
#ifndef FOVEA_PASSES_RAISE_PASSES_H
#define FOVEA_PASSES_RAISE_PASSES_H

#include "dialects/Fovea/FoveaDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"

namespace mlir::fovea {

#define GEN_PASS_DECL
#include "passes/Raise/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/Raise/Passes.h.inc"

} // namespace mlir::fovea

#endif // FOVEA_PASSES_RAISE_PASSES_H
