// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass that flattens layer calls; its text says what it refuses.
#include "lowering/Entries/Passes.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/Analysis/Inline.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::fovea {
#define GEN_PASS_DEF_INLINELAYERSPASS
#include "lowering/Entries/Passes.h.inc"
} // namespace mlir::fovea

using namespace mlir;
using namespace mlir::fovea;

namespace {

struct InlineLayersPass : fovea::impl::InlineLayersPassBase<InlineLayersPass> {
  using InlineLayersPassBase::InlineLayersPassBase;

  /// Replaces the calls in `function`, those of its callees first.
  LogicalResult flatten(func::FuncOp function, SymbolTable &symbols,
                        llvm::SetVector<Operation *> &active) {
    if (!active.insert(function))
      return function.emitOpError("calls itself, which cannot be flattened");
    SmallVector<func::CallOp> calls;
    function.walk([&](func::CallOp call) { calls.push_back(call); });
    for (func::CallOp call : calls) {
      auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
      if (!callee || callee.isExternal() || !callee.getBody().hasOneBlock())
        return call.emitOpError("expects a function of one block, got ") << call.getCalleeAttr();
      if (failed(flatten(callee, symbols, active)))
        return failure();
      inlineCall(call, callee);
      ++inlined;
    }
    active.pop_back();
    return success();
  }

  /// What a layer computed for a result that this caller does not read.
  static void eraseDead(func::FuncOp entry) {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(entry.getBody().front())))
      if (isOpTriviallyDead(&op))
        op.erase();
  }

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    llvm::SetVector<Operation *> active;
    SmallVector<func::FuncOp> others;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (!function->hasAttr(FoveaDialect::kEntryAttr))
        others.push_back(function);
      else if (failed(flatten(function, symbols, active)))
        return signalPassFailure();
      else if (!function.isExternal())
        eraseDead(function);
    }
    for (func::FuncOp function : others)
      function.erase();
  }
};

} // namespace
