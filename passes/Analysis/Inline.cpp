// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/Analysis/Inline.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

void mlir::fovea::inlineCall(func::CallOp call, func::FuncOp callee) {
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
}
