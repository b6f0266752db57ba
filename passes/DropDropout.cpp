// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dropout in inference: its input.
#include "passes/Passes.h"

namespace mlir::fovea {
#define GEN_PASS_DEF_DROPDROPOUTPASS
#include "passes/Passes.h.inc"
} // namespace mlir::fovea

using namespace mlir;
using namespace mlir::fovea;

namespace {
struct DropDropoutPass : fovea::impl::DropDropoutPassBase<DropDropoutPass> {
  using DropDropoutPassBase::DropDropoutPassBase;
  void runOnOperation() override {
    getOperation()->walk([&](DropoutOp op) {
      op.getResult().replaceAllUsesWith(op.getInput());
      op.erase();
      ++numDropped;
    });
  }
};
} // namespace
