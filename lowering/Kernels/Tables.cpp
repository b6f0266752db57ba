// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels of fovea.embedding and fovea.position_learned: rows of a table, found by a number each. A
// number outside of the table is a fault.
#include "lowering/Kernels/TileBuilder.h"

using namespace mlir;
using namespace mlir::fovea;

/// Copies table[id] to the row `at` of `out`; an id outside the table is a fault and reads its
/// first row.
static void emitRow(KernelBuilder &k, TypedValue<RankedTensorType> table, Value id, Value out,
                    ValueRange at) {
  Value rows = k.index(table.getType().getDimSize(0)), zero = k.index(0);
  Value outside = arith::CmpIOp::create(k, arith::CmpIPredicate::uge, id, rows);
  FaultOp::create(k, outside);
  Value row = k.select(outside, zero, id);
  Type type = getAccumulationType(elementOf(out));
  k.loop(zero, k.index(table.getType().getDimSize(1)),
         [&](Value d) { k.storeTo(out, append(at, d), k.loadWeight(type, table, row, d)); });
}

/// The gathered rows, after a check of their numbers.
static TileElement emitRows(TileBuilder &b, Operation *op, Value table, Value numbers,
                            int64_t offset, TileColumns c, TileLeaves &leaves) {
  b.checkNumbers(op, numbers, offset, table);
  return b.leaf(b.gather(table, numbers, offset, c), c.width, leaves);
}

namespace {
struct EmbeddingKernel : KernelOpInterface::ExternalModel<EmbeddingKernel, EmbeddingOp> {
  TileElement emitTile(Operation *operation, TileBuilder &b, TileColumns c,
                       TileLeaves &leaves) const {
    auto op = cast<EmbeddingOp>(operation);
    return emitRows(b, op, op.getTable(), op.getIds(), 0, c, leaves);
  }
  LogicalResult emitLoops(Operation *operation, KernelBuilder &k) const {
    auto op = cast<EmbeddingOp>(operation);
    Value ids = k.buffer(op.getIds());
    k.parallelNest(k.sizes(ids), [&](ValueRange at) {
      emitRow(k, op.getTable(), k.toIndex(k.load(ids, at)), k.outputs[0], at);
    });
    return success();
  }
  /// A row is one copy.
  int64_t getParallelLoops(Operation *op) const { return getResultAxes(op) - 1; }
  bool readsSomeRows(Operation *, OpOperand &operand) const {
    return operand.getOperandNumber() == 1;
  }
};

struct PositionLearnedKernel
    : KernelOpInterface::ExternalModel<PositionLearnedKernel, PositionLearnedOp> {
  TileElement emitTile(Operation *operation, TileBuilder &b, TileColumns c,
                       TileLeaves &leaves) const {
    auto op = cast<PositionLearnedOp>(operation);
    return emitRows(b, op, op.getTable(), op.getPositions(), op.getOffset(), c, leaves);
  }
  LogicalResult emitLoops(Operation *operation, KernelBuilder &k) const {
    auto op = cast<PositionLearnedOp>(operation);
    Value positions = k.buffer(op.getPositions());
    k.parallelNest(k.sizes(positions), [&](ValueRange at) {
      Value position = k.toIndex(k.load(positions, at));
      emitRow(k, op.getTable(), k.add(position, k.index(op.getOffset())), k.outputs[0], at);
    });
    return success();
  }
  int64_t getParallelLoops(Operation *op) const { return getResultAxes(op) - 1; }
  bool readsSomeRows(Operation *, OpOperand &operand) const {
    return operand.getOperandNumber() == 1;
  }
};
} // namespace

void mlir::fovea::attachTableKernels(MLIRContext &context) {
  EmbeddingOp::attachInterface<EmbeddingKernel>(context);
  PositionLearnedOp::attachInterface<PositionLearnedKernel>(context);
}
