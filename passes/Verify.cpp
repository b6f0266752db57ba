// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MLIR's verifier as a pass. It changes nothing.
#include "mlir/IR/Verifier.h"
#include "passes/Passes.h"

namespace mlir::fovea {
#define GEN_PASS_DEF_VERIFYPASS
#include "passes/Passes.h.inc"
} // namespace mlir::fovea

namespace {
struct VerifyPass : mlir::fovea::impl::VerifyPassBase<VerifyPass> {
  using VerifyPassBase::VerifyPassBase;
  void runOnOperation() override {
    if (failed(mlir::verify(getOperation())))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
