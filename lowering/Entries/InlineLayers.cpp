// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass that flattens layer calls; its text says what it refuses.
#include "lowering/Entries/Passes.h"
#include "mlir/IR/IRMapping.h"
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
      IRMapping mapping;
      Block &body = callee.getBody().front();
      mapping.map(body.getArguments(), call.getOperands());
      OpBuilder builder(call);
      for (Operation &op : body.without_terminator()) {
        Operation *copy = builder.clone(op, mapping);
        // Which layer this is, and what in it.
        copy->setLoc(CallSiteLoc::get(op.getLoc(), call.getLoc()));
      }
      for (auto [result, value] : llvm::zip(call.getResults(), body.getTerminator()->getOperands()))
        result.replaceAllUsesWith(mapping.lookupOrDefault(value));
      call.erase();
      ++inlined;
    }
    active.pop_back();
    return success();
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
    }
    for (func::FuncOp function : others)
      function.erase();
  }
};

} // namespace
