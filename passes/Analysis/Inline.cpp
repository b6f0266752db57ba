// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/Analysis/Inline.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::fovea;

static SmallVector<func::CallOp> findCalls(Operation *op) {
  SmallVector<func::CallOp> calls;
  op->walk([&](func::CallOp call) { calls.push_back(call); });
  return calls;
}

/// Replaces a call by the body of `callee`, and gives the calls in that.
static SmallVector<func::CallOp> inlineCall(func::CallOp call, func::FuncOp callee) {
  IRMapping mapping;
  Block &body = callee.getBody().front();
  mapping.map(body.getArguments(), call.getOperands());
  OpBuilder builder(call);
  SmallVector<func::CallOp> inner;
  for (Operation &op : body.without_terminator()) {
    Operation *copy = builder.clone(op, mapping);
    // Which layer this is, and what in it.
    copy->setLoc(CallSiteLoc::get(op.getLoc(), call.getLoc()));
    llvm::append_range(inner, findCalls(copy));
  }
  for (auto [result, value] : llvm::zip(call.getResults(), body.getTerminator()->getOperands()))
    result.replaceAllUsesWith(mapping.lookupOrDefault(value));
  call.erase();
  return inner;
}

/// `active` are the functions that the calls stand in.
static FailureOr<unsigned> inlineAll(ArrayRef<func::CallOp> calls, const SymbolTable &symbols,
                                     SmallVectorImpl<func::FuncOp> &active) {
  unsigned count = 0;
  for (func::CallOp call : calls) {
    auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
    if (!callee || callee.isExternal() || !callee.getBody().hasOneBlock())
      return call.emitOpError("expects a function of one block, got ") << call.getCalleeAttr();
    if (llvm::is_contained(active, callee))
      return callee.emitOpError("calls itself, which cannot be flattened");
    SmallVector<func::CallOp> inner = inlineCall(call, callee);
    active.push_back(callee);
    FailureOr<unsigned> more = inlineAll(inner, symbols, active);
    if (failed(more))
      return failure();
    active.pop_back();
    count += 1 + *more;
  }
  return count;
}

FailureOr<unsigned> mlir::fovea::inlineCalls(func::FuncOp function, const SymbolTable &symbols) {
  SmallVector<func::FuncOp> active{function};
  return inlineAll(findCalls(function), symbols, active);
}
