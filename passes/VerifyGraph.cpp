// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `graph` stage's promises on masks and caches. It changes nothing.
#include "passes/Passes.h"

namespace mlir::fovea {
#define GEN_PASS_DEF_VERIFYGRAPHPASS
#include "passes/Passes.h.inc"
} // namespace mlir::fovea

using namespace mlir;
using namespace mlir::fovea;

/// Whether the value and the op that uses it stand in one region.
static bool isLocal(Value mask, Operation *user) {
  return mask.getParentRegion() == user->getParentRegion();
}

static LogicalResult verifyOp(Operation *op) {
  if (isa<CacheReadOp>(op))
    return op->emitOpError("expects attentions alone to read it, as their keys or values");
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (BlockArgument argument : block.getArguments())
        if (isa<MaskType>(argument.getType()))
          return op->emitOpError("expects no mask to enter its region, got one as argument ")
                 << argument.getArgNumber();
  if (!isa<MaskOpInterface>(op))
    for (OpResult result : op->getResults())
      if (isa<MaskType>(result.getType()))
        return op->emitOpError("expects masks to be made by mask ops, got one as result ")
               << result.getResultNumber();
  if (op->hasTrait<OpTrait::IsTerminator>() || isa<CallOpInterface>(op))
    for (OpOperand &operand : op->getOpOperands())
      if (isa<MaskType>(operand.get().getType()))
        return op->emitOpError("expects no mask to cross it, got one as operand ")
               << operand.getOperandNumber();
  for (OpOperand &operand : op->getOpOperands())
    if (isa<MaskType>(operand.get().getType()) && !isLocal(operand.get(), op)) {
      InFlightDiagnostic diag =
          op->emitOpError("expects the mask to be made in the region that uses it");
      diag.attachNote(operand.get().getLoc()) << "the mask is made here";
      return diag;
    }
  return success();
}

namespace {
struct VerifyGraphPass : fovea::impl::VerifyGraphPassBase<VerifyGraphPass> {
  using VerifyGraphPassBase::VerifyGraphPassBase;
  void runOnOperation() override {
    bool sound = true;
    getOperation()->walk([&](Operation *op) { sound &= succeeded(verifyOp(op)); });
    if (!sound)
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
