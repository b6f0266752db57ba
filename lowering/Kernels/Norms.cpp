// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels of fovea.layer_norm, rms_norm, gated_norm and l2_norm: numbers of whole rows, then
// elementwise.
#include "lowering/Kernels/TileBuilder.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::fovea;
using tile::TileType;

namespace {
/// The norms differ in what they subtract and multiply by: each is a number for a row.
struct NormTiles {
  NormTiles(TileBuilder &b, Value input, TileColumns c)
      : b(b), k(b.k), c(c),
        type(getAccumulationType(cast<TileType>(input.getType()).getElementType())),
        one(b.tileType(b.tileRows, 1, type)), whole(b.tileType(b.tileRows, c.width, type)),
        x(b.castTo(input, type)) {}

  Value squares(ValueRange operands) {
    return b.reduce(tile::ReduceKind::Sum, b.map(whole, operands, [&](ValueRange e) {
      Value y = e.size() == 1 ? e[0] : k.sub(e[0], e[1]);
      return k.mul(y, y);
    }));
  }
  Value inverseRoot(Value sum, double eps) {
    return b.map(one, sum, [&](ValueRange e) {
      Value variance = k.mul(e[0], k.real(type, 1.0 / c.width));
      return k.div(k.real(type, 1), math::SqrtOp::create(k, k.add(variance, k.real(type, eps))));
    });
  }
  Value mean() {
    Value sum = b.reduce(tile::ReduceKind::Sum, x);
    return b.broadcast(
        b.map(one, sum, [&](ValueRange e) { return k.mul(e[0], k.real(type, 1.0 / c.width)); }),
        b.tileRows, c.width);
  }
  /// (x - mean) * factor * (weight + offset) + bias.
  TileElement finish(Value mean, Value factor, Value weight, double offset, Value bias,
                     TileLeaves &leaves) {
    KernelBuilder &k = this->k;
    TileElement result = b.leaf(x, c.width, leaves);
    if (mean) {
      TileElement m = b.leaf(mean, c.width, leaves);
      result = [&k, result, m](ValueRange e) { return k.sub(result(e), m(e)); };
    }
    result = b.mul(result, b.leaf(factor, c.width, leaves));
    if (weight) {
      TileElement w = b.leaf(b.parameter(weight, c, type), c.width, leaves);
      result = [&k, result, w, offset](ValueRange e) {
        Value factor = w(e);
        if (offset != 0)
          factor = k.add(factor, k.real(factor.getType(), offset));
        return k.mul(result(e), factor);
      };
    }
    if (bias)
      result = b.add(result, b.leaf(b.parameter(bias, c, type), c.width, leaves));
    return result;
  }

  TileBuilder &b;
  KernelBuilder &k;
  TileColumns c;
  Type type;
  TileType one, whole;
  Value x;
};

/// What all norms share.
template <typename Model, typename OpTy>
struct NormKernel : KernelOpInterface::ExternalModel<Model, OpTy> {
  unsigned getNameRank(Operation *) const { return 1; }

private:
  NormKernel() = default;
  friend Model;
};

struct LayerNormKernel : NormKernel<LayerNormKernel, LayerNormOp> {
  TileElement emitTile(Operation *operation, TileBuilder &b, TileColumns c,
                       TileLeaves &leaves) const {
    auto op = cast<LayerNormOp>(operation);
    NormTiles norm(b, b.tile(op.getInput(), c), c);
    Value mean = norm.mean();
    Value factor = norm.inverseRoot(norm.squares({norm.x, mean}), op.getEps().convertToDouble());
    return norm.finish(mean, factor, op.getWeight(), 0, op.getBias(), leaves);
  }
};

struct RmsNormKernel : NormKernel<RmsNormKernel, RmsNormOp> {
  TileElement emitTile(Operation *operation, TileBuilder &b, TileColumns c,
                       TileLeaves &leaves) const {
    auto op = cast<RmsNormOp>(operation);
    NormTiles norm(b, b.tile(op.getInput(), c), c);
    Value factor = norm.inverseRoot(norm.squares(norm.x), op.getEps().convertToDouble());
    return norm.finish({}, factor, op.getWeight(), op.getWeightOffset().convertToDouble(), {},
                       leaves);
  }
  /// 1 / sqrt(mean of squares + eps) of each row, for the linears that apply it.
  void emitPhaseBefore(Operation *operation, TileBuilder &b) const {
    auto op = cast<RmsNormOp>(operation);
    KernelBuilder &k = b.k;
    Value x = k.buffer(op.getInput());
    int64_t size = cast<MemRefType>(x.getType()).getShape().back();
    Type type = getAccumulationType(elementOf(x));
    b.emitPhaseOfRows(op, x, {{type}}, "row_factor", [&]() -> SmallVector<Value> {
      return {emitRowFactor(b, op, b.loadRows(b.rowsOf(x), k.index(0), size))};
    });
  }
};

struct GatedNormKernel : NormKernel<GatedNormKernel, GatedNormOp> {
  TileElement emitTile(Operation *operation, TileBuilder &b, TileColumns c,
                       TileLeaves &leaves) const {
    auto op = cast<GatedNormOp>(operation);
    NormTiles norm(b, b.tile(op.getInput(), c), c);
    Value factor = norm.inverseRoot(norm.squares(norm.x), op.getEps().convertToDouble());
    TileElement y = norm.finish({}, factor, op.getWeight(), 0, {}, leaves);
    TileElement gate = b.convert(b.operandOf(op.getGate(), c, leaves), norm.type);
    return b.mul(
        y, [&k = b.k, gate](ValueRange e) { return activate(k, ActivationKind::Silu, gate(e)); });
  }
};

struct L2NormKernel : NormKernel<L2NormKernel, L2NormOp> {
  TileElement emitTile(Operation *operation, TileBuilder &b, TileColumns c,
                       TileLeaves &leaves) const {
    auto op = cast<L2NormOp>(operation);
    NormTiles norm(b, b.tile(op.getInput(), c), c);
    KernelBuilder &k = b.k;
    double eps = op.getEps().convertToDouble();
    Value factor = b.map(norm.one, norm.squares(norm.x), [&](ValueRange e) {
      return k.div(k.real(norm.type, 1),
                   k.maximum(math::SqrtOp::create(k, e[0]), k.real(norm.type, eps)));
    });
    return norm.finish({}, factor, {}, 0, {}, leaves);
  }
};
} // namespace

Value mlir::fovea::emitRowFactor(TileBuilder &b, Operation *op, Value rows) {
  NormTiles norm(b, rows, {b.k.index(0), 0, cast<TileType>(rows.getType()).getColumns()});
  return norm.inverseRoot(norm.squares(norm.x), cast<RmsNormOp>(op).getEps().convertToDouble());
}

void mlir::fovea::attachNormKernels(MLIRContext &context) {
  LayerNormOp::attachInterface<LayerNormKernel>(context);
  RmsNormOp::attachInterface<RmsNormKernel>(context);
  GatedNormOp::attachInterface<GatedNormKernel>(context);
  L2NormOp::attachInterface<L2NormKernel>(context);
}
