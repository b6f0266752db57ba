// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Erases weights without users.
#include "passes/Passes.h"

namespace mlir::fovea {
#define GEN_PASS_DEF_DROPUNUSEDWEIGHTSPASS
#include "passes/Passes.h.inc"
} // namespace mlir::fovea

using namespace mlir;
using namespace mlir::fovea;

namespace {
struct DropUnusedWeightsPass : fovea::impl::DropUnusedWeightsPassBase<DropUnusedWeightsPass> {
  using DropUnusedWeightsPassBase::DropUnusedWeightsPassBase;
  void runOnOperation() override {
    SymbolTableCollection tables;
    SymbolUserMap users(tables, getOperation());
    for (WeightOp weight : llvm::make_early_inc_range(getOperation().getOps<WeightOp>())) {
      if (!users.useEmpty(weight))
        continue;
      weight.erase();
      ++numDropped;
    }
  }
};
} // namespace
