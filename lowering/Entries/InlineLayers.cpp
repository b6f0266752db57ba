// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass that flattens layer calls; its text says what it refuses.
#include "lowering/Entries/Passes.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/Analysis/Inline.h"

namespace mlir::fovea {
#define GEN_PASS_DEF_INLINELAYERSPASS
#include "lowering/Entries/Passes.h.inc"
} // namespace mlir::fovea

using namespace mlir;
using namespace mlir::fovea;

namespace {

struct InlineLayersPass : fovea::impl::InlineLayersPassBase<InlineLayersPass> {
  using InlineLayersPassBase::InlineLayersPassBase;

  /// What a layer computed for a result that this caller does not read.
  static void eraseDead(func::FuncOp entry) {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(entry.getBody().front())))
      if (isOpTriviallyDead(&op))
        op.erase();
  }

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    SmallVector<func::FuncOp> others;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (!function->hasAttr(FoveaDialect::kEntryAttr)) {
        others.push_back(function);
        continue;
      }
      FailureOr<unsigned> count = inlineCalls(function, symbols);
      if (failed(count))
        return signalPassFailure();
      inlined += *count;
      if (!function.isExternal())
        eraseDead(function);
    }
    for (func::FuncOp function : others)
      function.erase();
  }
};

} // namespace
