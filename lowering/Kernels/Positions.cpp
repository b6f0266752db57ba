// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels of fovea.positions and position_sinusoidal, and tables of constants on the stack.
#include "lowering/Kernels/TileBuilder.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fovea;

Value mlir::fovea::emitTable(KernelBuilder &k, ArrayRef<double> numbers) {
  Type f64 = k.getF64Type();
  int64_t size = numbers.size();
  Value table = memref::AllocaOp::create(k, MemRefType::get({size}, f64));
  for (auto [i, number] : llvm::enumerate(numbers))
    k.storeTo(table, k.index(i), k.real(f64, number));
  return table;
}

namespace {
struct PositionsKernel : KernelOpInterface::ExternalModel<PositionsKernel, PositionsOp> {
  TileElement emitTile(Operation *op, TileBuilder &b, TileColumns c, TileLeaves &leaves) const {
    KernelBuilder &k = b.k;
    Value first = b.atTop([&] { return k.cloneIn(cast<PositionsOp>(op).getFirst()); });
    tile::TileType type = b.tileType(b.tileRows, c.width, k.getI32Type());
    Value places = tile::IotaOp::create(k, type, k.add(first, b.column(c)), 1);
    return b.leaf(places, c.width, leaves);
  }
  LogicalResult emitLoops(Operation *operation, KernelBuilder &k) const {
    auto op = cast<PositionsOp>(operation);
    Value first = k.cloneIn(op.getFirst());
    k.parallelNest(k.sizes(k.outputs[0]), [&](ValueRange at) {
      k.storeTo(k.outputs[0], at, k.toI32(k.add(first, at[1])));
    });
    return success();
  }
};

struct SinusoidKernel : KernelOpInterface::ExternalModel<SinusoidKernel, PositionSinusoidalOp> {
  LogicalResult emitLoops(Operation *operation, KernelBuilder &k) const {
    auto op = cast<PositionSinusoidalOp>(operation);
    Value positions = k.buffer(op.getPositions()), y = k.outputs[0];
    Type f64 = k.getF64Type();
    int64_t width = cast<RankedTensorType>(op.getResult().getType()).getDimSize(2);
    SmallVector<double> frequencies;
    for (int64_t i = 0; i < width / 2; ++i)
      frequencies.push_back(std::pow(op.getTheta().convertToDouble(), -2.0 * i / width));
    Value table = emitTable(k, frequencies);
    k.parallelNest(k.sizes(positions), [&](ValueRange at) {
      Value position = arith::SIToFPOp::create(k, f64, k.load(positions, at));
      k.loop(k.index(0), k.index(width / 2), [&](Value i) {
        Value angle = k.mul(position, k.load(table, i));
        bool halves = op.getLayout() == SinusoidLayout::Halves;
        Value sine = halves ? i : k.mul(i, k.index(2));
        Value cosine = k.add(sine, k.index(halves ? width / 2 : 1));
        k.storeTo(y, {at[0], at[1], sine}, math::SinOp::create(k, angle));
        k.storeTo(y, {at[0], at[1], cosine}, math::CosOp::create(k, angle));
      });
    });
    return success();
  }
};
} // namespace

void mlir::fovea::attachPositionKernels(MLIRContext &context) {
  PositionsOp::attachInterface<PositionsKernel>(context);
  PositionSinusoidalOp::attachInterface<SinusoidKernel>(context);
}
