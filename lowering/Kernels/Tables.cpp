// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels of fovea.embedding and fovea.position_learned: rows of a table, found by a number each. A
// number outside of the table is a fault.
#include "lowering/Kernels/Blocks.h"
#include "lowering/Kernels/Cost.h"

using namespace mlir;
using namespace mlir::fovea;

/// The gathered rows, after a check of their numbers.
static TileElement emitRows(TileBuilder &b, Value table, Value numbers, int64_t offset,
                            TileColumns c, TileLeaves &leaves) {
  Value height = b.k.index(cast<RankedTensorType>(table.getType()).getDimSize(0));
  b.checkNumbers(numbers, offset, height);
  return b.leaf(b.gather(table, numbers, offset, c), c.width, leaves);
}

namespace {
struct EmbeddingKernel : KernelOpInterface::ExternalModel<EmbeddingKernel, EmbeddingOp> {
  TileElement emitTile(Operation *operation, TileBuilder &b, TileColumns c,
                       TileLeaves &leaves) const {
    auto op = cast<EmbeddingOp>(operation);
    if (getBlockFormat(op.getTable().getType())) {
      b.checkNumbers(op.getIds(), 0, b.k.index(op.getTable().getType().getDimSize(0)));
      return b.leaf(BlockWeight(b, op.getTable()).gatherRows(op.getIds(), c), c.width, leaves);
    }
    TileElement rows = emitRows(b, op.getTable(), op.getIds(), 0, c, leaves);
    if (!op.getScales())
      return rows;
    KernelBuilder &k = b.k;
    Value scales = b.numbersOfTable(op.getScales(), op.getIds());
    return b.mul(
        [rows, &k](ValueRange elements) -> Value {
          return arith::SIToFPOp::create(k, k.getF32Type(), rows(elements));
        },
        b.leaf(scales, c.width, leaves));
  }
  Value countElements(Operation *op, CostBuilder &cost, OpOperand &operand) const {
    return operand.getOperandNumber() == 1 ? cost.elements(op->getResult(0)) : Value();
  }
};

struct PositionLearnedKernel
    : KernelOpInterface::ExternalModel<PositionLearnedKernel, PositionLearnedOp> {
  TileElement emitTile(Operation *operation, TileBuilder &b, TileColumns c,
                       TileLeaves &leaves) const {
    auto op = cast<PositionLearnedOp>(operation);
    return emitRows(b, op.getTable(), op.getPositions(), op.getOffset(), c, leaves);
  }
  Value countElements(Operation *op, CostBuilder &cost, OpOperand &operand) const {
    return operand.getOperandNumber() == 1 ? cost.elements(op->getResult(0)) : Value();
  }
};
} // namespace

void mlir::fovea::attachTableKernels(MLIRContext &context) {
  EmbeddingOp::attachInterface<EmbeddingKernel>(context);
  PositionLearnedOp::attachInterface<PositionLearnedKernel>(context);
}
