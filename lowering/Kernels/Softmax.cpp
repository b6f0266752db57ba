// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel of linalg.softmax along any axis: `exp(x - max) / sum exp(x - max)`. Threads share the
// other axes. Narrow floats are computed in f32; then e is computed twice, since the result could
// not hold it exactly.
#include "lowering/Kernels/Elements.h"
#include "lowering/Kernels/TileBuilder.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <limits>

using namespace mlir;
using namespace mlir::fovea;

static LogicalResult buildSoftmax(KernelBuilder &k, Operation *op) {
  auto softmax = cast<linalg::SoftmaxOp>(op);
  if (op->getNumResults() != 1)
    return op->emitOpError("expects one result, got ") << op->getNumResults();
  ElementReader reader(k, op);
  Value output = k.outputs.front();
  Type element = cast<MemRefType>(output.getType()).getElementType();
  if (!isa<FloatType>(element))
    return op->emitOpError("expects floats, got ") << element;
  Type type = getAccumulationType(element);
  SmallVector<Value> sizes = k.sizes(output);
  for (auto [axis, size] : llvm::enumerate(sizes))
    reader.requireEqual(size, reader.size(softmax.getInput(), axis));
  int64_t axis = softmax.getDimension();
  Value length = sizes[axis], zero = k.index(0);
  sizes.erase(sizes.begin() + axis);
  size_t others = sizes.size();
  k.parallelNest(reader.guarded(sizes), [&](ValueRange rest) {
    auto place = [&](Value i) {
      SmallVector<Value> at(rest.take_front(others));
      at.insert(at.begin() + axis, i);
      return at;
    };
    auto input = [&](Value i) {
      return k.convert(reader.read(softmax.getInput(), place(i)), type);
    };
    Value least = k.real(type, -std::numeric_limits<double>::infinity());
    Value greatest = k.loopCarried(zero, length, least, [&](Value i, ValueRange carried) {
                        return SmallVector<Value>{k.maximum(carried[0], input(i))};
                      }).front();
    auto power = [&](Value i) -> Value {
      return math::ExpOp::create(k, k.sub(input(i), greatest));
    };
    bool keeps = element == type;
    Value sum = k.sum(type, length, [&](Value i) {
      Value e = power(i);
      if (keeps)
        memref::StoreOp::create(k, e, output, place(i));
      return e;
    });
    k.loop(zero, length, [&](Value i) {
      Value e = keeps ? k.load(output, place(i)) : power(i);
      k.storeTo(output, place(i), k.div(e, sum));
    });
  });
  return reader.result();
}

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
  LogicalResult emitLoops(Operation *op, KernelBuilder &k) const { return buildSoftmax(k, op); }
  /// The axes besides its own.
  int64_t getParallelLoops(Operation *op) const {
    return std::max<int64_t>(getResultAxes(op) - 1, 0);
  }
};
} // namespace

void mlir::fovea::attachSoftmaxKernel(MLIRContext &context) {
  linalg::SoftmaxOp::attachInterface<SoftmaxKernel>(context);
}
