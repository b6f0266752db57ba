// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels of fovea.positions, position_sinusoidal and alibi_slopes, the arithmetic of
// fovea.relative_bias, and tables of constants on the stack.
#include "lowering/Kernels/TileBuilder.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
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

struct AlibiSlopesKernel : KernelOpInterface::ExternalModel<AlibiSlopesKernel, AlibiSlopesOp> {
  LogicalResult emitLoops(Operation *operation, KernelBuilder &k) const {
    auto op = cast<AlibiSlopesOp>(operation);
    int64_t heads = op.getSlopes().getType().getDimSize(0);
    int64_t power = int64_t(1) << llvm::Log2_64(heads);
    k.parallelNest(k.index(1), [&](ValueRange) {
      for (int64_t h = 0; h < heads; ++h) {
        // Past the power of two: the odd slopes of twice as many heads.
        double exponent =
            h < power ? -8.0 * (h + 1) / power : -8.0 * (2 * (h - power) + 1) / (2 * power);
        k.storeTo(k.outputs[0], k.index(h),
                  k.real(getAccumulationType(op.getSlopes().getType().getElementType()),
                         std::exp2(exponent)));
      }
    });
    return success();
  }
};
} // namespace

Value mlir::fovea::emitRelativeBucket(KernelBuilder &k, RelativeBiasOp op, Value query, Value key) {
  Type i32 = k.getI32Type(), f64 = k.getF64Type();
  int64_t buckets = op.getBuckets();
  Value zero = k.integer(i32, 0);
  Value distance = k.sub(key, query);
  Value base = zero;
  if (op.getBidirectional()) {
    buckets /= 2;
    base = k.select(k.less(zero, distance), k.integer(i32, buckets), zero);
    distance = k.select(k.less(distance, zero), k.sub(zero, distance), distance);
  } else {
    distance = k.select(k.less(distance, zero), k.sub(zero, distance), zero);
  }
  int64_t exact = buckets / 2;
  // Past `exact`, buckets grow with the logarithm up to max_distance.
  Value safe = arith::MaxSIOp::create(k, distance, k.integer(i32, 1));
  Value ratio = k.div(arith::SIToFPOp::create(k, f64, safe), k.real(f64, exact));
  double perLog = (buckets - exact) / std::log(static_cast<double>(op.getMaxDistance()) / exact);
  // Where the exact number is whole, the computed one may lie a rounding error below it.
  Value far = k.add(k.mul(math::LogOp::create(k, ratio), k.real(f64, perLog)), k.real(f64, 1e-12));
  Value farBucket = k.add(arith::FPToSIOp::create(k, i32, far), k.integer(i32, exact));
  farBucket = arith::MinSIOp::create(k, farBucket, k.integer(i32, buckets - 1));
  Value bucket = k.select(k.less(distance, k.integer(i32, exact)), distance, farBucket);
  return k.toIndex(k.add(base, bucket));
}

Value mlir::fovea::emitRelativeBias(OpBuilder &builder, RelativeBiasOp op) {
  KernelBuilder k(op.getLoc(), builder, 0);
  Value bucket = emitRelativeBucket(k, op, op.getQueryPosition(), op.getKeyPosition());
  Value element = tensor::ExtractOp::create(k, op.getTable(), ValueRange{bucket, op.getHead()});
  return k.convert(element, op.getBias().getType());
}

void mlir::fovea::attachPositionKernels(MLIRContext &context) {
  PositionsOp::attachInterface<PositionsKernel>(context);
  AlibiSlopesOp::attachInterface<AlibiSlopesKernel>(context);
  PositionSinusoidalOp::attachInterface<SinusoidKernel>(context);
}
