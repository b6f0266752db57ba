// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel of linalg.softmax along rows: `exp(x - max) / sum exp(x - max)`, in the type of sums.
// Refuses nothing: other axes and rows that no tile holds are fovea-decompose's.
#include "lowering/Kernels/TileBuilder.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::fovea;

namespace {
struct SoftmaxKernel : KernelOpInterface::ExternalModel<SoftmaxKernel, linalg::SoftmaxOp> {
  TileElement emitTile(Operation *op, TileBuilder &b, TileColumns c, TileLeaves &leaves) const {
    KernelBuilder &k = b.k;
    Type type = getAccumulationType(op->getResult(0).getType());
    tile::TileType whole = b.tileType(b.tileRows, c.width, type);
    Value x = b.castTo(b.tile(op->getOperand(0), c), type);
    Value most = b.broadcast(b.reduce(tile::ReduceKind::Maximum, x), b.tileRows, c.width);
    Value powers = b.map(whole, {x, most}, [&](ValueRange e) -> Value {
      return math::ExpOp::create(k, k.sub(e[0], e[1]));
    });
    TileElement power = b.leaf(powers, c.width, leaves),
                sum = b.leaf(b.reduce(tile::ReduceKind::Sum, powers), c.width, leaves);
    return [&k, power, sum](ValueRange e) { return k.div(power(e), sum(e)); };
  }
};
} // namespace

void mlir::fovea::attachSoftmaxKernel(MLIRContext &context) {
  linalg::SoftmaxOp::attachInterface<SoftmaxKernel>(context);
}
