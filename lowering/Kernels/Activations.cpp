// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels of fovea.activation, glu and dropout, all elementwise.
#include "lowering/Kernels/TileBuilder.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fovea;

static Value sigmoid(KernelBuilder &k, Value x) {
  Type type = x.getType();
  Value e = math::ExpOp::create(k, arith::NegFOp::create(k, x));
  return k.div(k.real(type, 1), k.add(k.real(type, 1), e));
}

Value mlir::fovea::activate(KernelBuilder &k, ActivationKind kind, Value x) {
  Type type = x.getType();
  Value half = k.real(type, 0.5), one = k.real(type, 1), zero = k.real(type, 0);
  switch (kind) {
  case ActivationKind::Gelu: {
    Value e = math::ErfOp::create(k, k.mul(x, k.real(type, std::sqrt(0.5))));
    return k.mul(k.mul(x, half), k.add(one, e));
  }
  case ActivationKind::GeluTanh: {
    Value cube = k.mul(k.mul(x, x), x);
    Value inner = k.mul(k.add(x, k.mul(cube, k.real(type, 0.044715))),
                        k.real(type, std::sqrt(2.0 / 3.14159265358979323846)));
    return k.mul(k.mul(x, half), k.add(one, math::TanhOp::create(k, inner)));
  }
  case ActivationKind::GeluQuick:
    return k.mul(x, sigmoid(k, k.mul(x, k.real(type, 1.702))));
  case ActivationKind::Relu:
    return k.maximum(x, zero);
  case ActivationKind::ReluSquared: {
    Value y = k.maximum(x, zero);
    return k.mul(y, y);
  }
  case ActivationKind::Silu:
    return k.mul(x, sigmoid(k, x));
  case ActivationKind::Tanh:
    return math::TanhOp::create(k, x);
  case ActivationKind::Sigmoid:
    return sigmoid(k, x);
  }
  llvm_unreachable("all activations are handled");
}

namespace {
struct ActivationKernel : KernelOpInterface::ExternalModel<ActivationKernel, ActivationOp> {
  TileElement emitTile(Operation *operation, TileBuilder &b, TileColumns c,
                       TileLeaves &leaves) const {
    auto op = cast<ActivationOp>(operation);
    KernelBuilder &k = b.k;
    TileElement x =
        b.convert(b.operandOf(op.getInput(), c, leaves), getAccumulationType(op.getType()));
    return [&k, x, op](ValueRange e) mutable { return activate(k, op.getKind(), x(e)); };
  }
  void describe(Operation *op, raw_ostream &out) const {
    out << " " << stringifyEnum(cast<ActivationOp>(op).getKind());
  }
};

struct GluKernel : KernelOpInterface::ExternalModel<GluKernel, GluOp> {
  TileElement emitTile(Operation *operation, TileBuilder &b, TileColumns c,
                       TileLeaves &leaves) const {
    auto op = cast<GluOp>(operation);
    TileElement gate =
        b.convert(b.operandOf(op.getGate(), c, leaves), getAccumulationType(op.getType()));
    TileElement up =
        b.convert(b.operandOf(op.getUp(), c, leaves), getAccumulationType(op.getType()));
    auto open = [&k = b.k, gate, op](ValueRange e) mutable {
      return activate(k, op.getKind(), gate(e));
    };
    return b.mul(open, up);
  }
};

/// Its operand: models are compiled to be run, not trained.
struct DropoutKernel : KernelOpInterface::ExternalModel<DropoutKernel, DropoutOp> {
  TileElement emitTile(Operation *op, TileBuilder &b, TileColumns c, TileLeaves &leaves) const {
    return b.operandOf(cast<DropoutOp>(op).getInput(), c, leaves);
  }
};
} // namespace

void mlir::fovea::attachActivationKernels(MLIRContext &context) {
  ActivationOp::attachInterface<ActivationKernel>(context);
  GluOp::attachInterface<GluKernel>(context);
  DropoutOp::attachInterface<DropoutKernel>(context);
}
