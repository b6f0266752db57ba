// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel of fovea.cache_append: rows behind the length of a cache `[batch, heads, capacity,
// size]`. As tiles they are stored by TileKernel.cpp.
#include "lowering/Kernels/Cost.h"
#include "lowering/Kernels/KernelBuilder.h"
#include "lowering/Kernels/KernelInterface.h"

using namespace mlir;
using namespace mlir::fovea;

namespace {
struct CacheAppendKernel : KernelOpInterface::ExternalModel<CacheAppendKernel, CacheAppendOp> {
  LogicalResult emitLoops(Operation *operation, KernelBuilder &k) const {
    auto op = cast<CacheAppendOp>(operation);
    Value x = k.buffer(op.getInput());
    CacheBuffer cache = k.cache(op.getCache());
    Type type = getAccumulationType(elementOf(x));
    k.parallelNest(k.sizes(x), [&](ValueRange at) {
      Value place = k.add(cache.length, at[1]);
      k.storeTo(cache.memory, {at[0], at[2], place, at[3]}, k.loadAs(type, x, at));
    });
    return success();
  }
  int64_t getParallelLoops(Operation *op) const { return getResultAxes(op) - 1; }
  Value countCacheElements(Operation *op, CostBuilder &cost, OpOperand &) const {
    return cost.elements(cast<CacheAppendOp>(op).getInput());
  }
};
} // namespace

void mlir::fovea::attachCacheKernels(MLIRContext &context) {
  CacheAppendOp::attachInterface<CacheAppendKernel>(context);
}
