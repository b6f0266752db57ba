// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel of fovea.cache_append: rows behind the length of a cache `[batch, heads, capacity,
// size]`. TileKernel.cpp stores them.
#include "lowering/Kernels/Cost.h"
#include "lowering/Kernels/KernelInterface.h"

using namespace mlir;
using namespace mlir::fovea;

namespace {
struct CacheAppendKernel : KernelOpInterface::ExternalModel<CacheAppendKernel, CacheAppendOp> {
  Value countElements(Operation *operation, CostBuilder &cost, OpOperand &operand) const {
    auto op = cast<CacheAppendOp>(operation);
    if (!isa<CacheType>(operand.get().getType()))
      return {};
    return cost.elements(op.getInput(), /*dropLast=*/operand.get() == op.getScales() ? 1 : 0);
  }
};
} // namespace

void mlir::fovea::attachCacheKernels(MLIRContext &context) {
  CacheAppendOp::attachInterface<CacheAppendKernel>(context);
}
