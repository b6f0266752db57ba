// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Views of columns, and rows that all batches share, as tiles: code for nothing but where a tile
// begins.
#include "lowering/Kernels/TileBuilder.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::fovea;

namespace {
struct SliceKernel : KernelOpInterface::ExternalModel<SliceKernel, tensor::ExtractSliceOp> {
  TileElement emitTile(Operation *operation, TileBuilder &b, TileColumns c,
                       TileLeaves &leaves) const {
    auto op = cast<tensor::ExtractSliceOp>(operation);
    return b.element(op.getSource(), c.shifted(op.getStaticOffsets().back()), leaves);
  }
};

template <typename OpTy>
struct ReshapeKernel : KernelOpInterface::ExternalModel<ReshapeKernel<OpTy>, OpTy> {
  TileElement emitTile(Operation *op, TileBuilder &b, TileColumns c, TileLeaves &leaves) const {
    return b.element(cast<OpTy>(op).getSrc(), c, leaves);
  }
};

struct BroadcastKernel : KernelOpInterface::ExternalModel<BroadcastKernel, linalg::BroadcastOp> {
  TileElement emitTile(Operation *op, TileBuilder &b, TileColumns c, TileLeaves &leaves) const {
    Value source = getBroadcastSource(op);
    if (cast<RankedTensorType>(source.getType()).getRank() == 3)
      return b.element(source, c, leaves);
    TileBuilder::Rows rows = b.rowsOf(b.k.buffer(source), /*shared=*/true);
    return b.leaf(b.loadRows(rows, b.column(c), c.width), c.width, leaves);
  }
};
} // namespace

void mlir::fovea::attachViewKernels(MLIRContext &context) {
  tensor::ExtractSliceOp::attachInterface<SliceKernel>(context);
  tensor::ExpandShapeOp::attachInterface<ReshapeKernel<tensor::ExpandShapeOp>>(context);
  tensor::CollapseShapeOp::attachInterface<ReshapeKernel<tensor::CollapseShapeOp>>(context);
  linalg::BroadcastOp::attachInterface<BroadcastKernel>(context);
}
