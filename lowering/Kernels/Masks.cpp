// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Masks outside of attention's own loops: how many pairs they leave, and kernels of
// fovea.mask_materialize.
#include "lowering/Kernels/Cost.h"
#include "lowering/Kernels/KernelBuilder.h"
#include "lowering/Kernels/KernelInterface.h"

using namespace mlir;
using namespace mlir::fovea;

namespace {
/// What a mask leaves of all pairs, as far as it does not depend on data.
struct MaskShape {
  bool causal = false;
  std::optional<int64_t> width; ///< keys that a query sees at most
};
} // namespace

/// Masks joined by "and"; of "or" and "not" nothing is concluded.
static void readMask(Value mask, MaskShape &shape) {
  Operation *op = mask ? mask.getDefiningOp() : nullptr;
  if (isa_and_nonnull<MaskCausalOp>(op)) {
    shape.causal = true;
  } else if (auto window = dyn_cast_or_null<MaskWindowOp>(op)) {
    std::optional<int64_t> left = window.getLeft(), right = window.getRight();
    if (right && *right == 0)
      shape.causal = true;
    if (left && (right || shape.causal))
      shape.width = std::min(*left + right.value_or(0) + 1, shape.width.value_or(INT64_MAX));
  } else if (auto both = dyn_cast_or_null<MaskAndOp>(op)) {
    // Twice: a window's open side may be closed by a later causal mask.
    for (int round = 0; round < 2; ++round)
      for (Value inner : both.getMasks())
        readMask(inner, shape);
  }
}

Value mlir::fovea::countPairs(CostBuilder &cost, Value mask, bool haveQueryPositions, Value queries,
                              Value keys) {
  ImplicitLocOpBuilder &b = cost.b;
  MaskShape shape;
  readMask(mask, shape);
  Value count = cost.mul(queries, keys);
  if (shape.causal) {
    // Query i sees i + 1 keys, or, after a cache, those of the cache too.
    Value fewer = arith::MinUIOp::create(b, queries, keys);
    Value triangle = arith::ShRUIOp::create(b, cost.mul(fewer, cost.sum(fewer, cost.constant(1))),
                                            cost.constant(1));
    Value others = haveQueryPositions
                       ? cost.mul(fewer, arith::SubIOp::create(b, keys, fewer).getResult())
                       : cost.mul(arith::SubIOp::create(b, queries, fewer), keys);
    count = cost.sum(triangle, others);
  }
  if (shape.width && *shape.width > 0)
    count = arith::MinUIOp::create(b, count, cost.mul(queries, cost.constant(*shape.width)));
  return count;
}

namespace {
struct MaskMaterializeKernel
    : KernelOpInterface::ExternalModel<MaskMaterializeKernel, MaskMaterializeOp> {
  LogicalResult emitLoops(Operation *operation, KernelBuilder &k) const {
    auto op = cast<MaskMaterializeOp>(operation);
    Value mask = k.cloneIn(op.getMask());
    Value queryPositions = k.buffer(op.getQueryPositions()),
          keyPositions = k.buffer(op.getKeyPositions());
    k.parallelNest(k.sizes(k.outputs[0]), [&](ValueRange at) {
      MaskPoint point{at[0],
                      at[1],
                      at[2],
                      at[3],
                      loadPosition(k, queryPositions, at[0], at[2]),
                      loadPosition(k, keyPositions, at[0], at[3])};
      k.storeTo(k.outputs[0], at, buildPredicate(k, k.getLoc(), mask, point));
    });
    return success();
  }
};
} // namespace

void mlir::fovea::attachMaskKernel(MLIRContext &context) {
  MaskMaterializeOp::attachInterface<MaskMaterializeKernel>(context);
}
