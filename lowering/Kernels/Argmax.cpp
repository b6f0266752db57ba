// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel of fovea.argmax as loops, and the order by which NaN is found on the way.
#include "lowering/Kernels/KernelBuilder.h"
#include "lowering/Kernels/KernelInterface.h"

using namespace mlir;
using namespace mlir::fovea;

Value mlir::fovea::isGreater(KernelBuilder &k, Value l, Value r) {
  Value greater = arith::CmpFOp::create(k, arith::CmpFPredicate::UGT, l, r);
  Value isNumber = arith::CmpFOp::create(k, arith::CmpFPredicate::ORD, r, r);
  return arith::AndIOp::create(k, greater, isNumber);
}

namespace {
/// Where its tiles are a product's, TileArgmax.cpp has them.
struct ArgmaxKernel : KernelOpInterface::ExternalModel<ArgmaxKernel, ArgmaxOp> {
  LogicalResult emitLoops(Operation *operation, KernelBuilder &k) const {
    auto op = cast<ArgmaxOp>(operation);
    Value x = k.buffer(op.getInput());
    Type type = getAccumulationType(elementOf(x));
    k.parallelNest(k.sizes(x, 1), [&](ValueRange row) {
      auto load = [&](Value i) { return k.loadAs(type, x, append(row, i)); };
      Value first = k.index(0);
      // Carried: the greatest so far, and where it stands.
      SmallVector<Value> best = k.loopCarried(
          k.index(1), k.size(x, row.size()), {load(first), first},
          [&](Value i, ValueRange carried) -> SmallVector<Value> {
            Value element = load(i), better = isGreater(k, element, carried[0]);
            return {k.select(better, element, carried[0]), k.select(better, i, carried[1])};
          });
      Value place = arith::IndexCastOp::create(k, k.getI64Type(), best[1]);
      Value isNumber = arith::CmpFOp::create(k, arith::CmpFPredicate::ORD, best[0], best[0]);
      k.storeTo(k.outputs[0], row, k.select(isNumber, place, k.integer(k.getI64Type(), -1)));
    });
    return success();
  }
};
} // namespace

void mlir::fovea::attachArgmaxKernel(MLIRContext &context) {
  ArgmaxOp::attachInterface<ArgmaxKernel>(context);
}
