// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What linears multiply: their inputs are rounded to bf16 where their weights have no more bits,
// once for all of them. Sums and results stay f32.
#include "passes/Passes.h"

namespace mlir::fovea {
#define GEN_PASS_DEF_CHOOSECOMPUTETYPESPASS
#include "passes/Passes.h.inc"
} // namespace mlir::fovea

using namespace mlir;
using namespace mlir::fovea;

namespace {
struct ChooseComputeTypesPass : fovea::impl::ChooseComputeTypesPassBase<ChooseComputeTypesPass> {
  using ChooseComputeTypesPassBase::ChooseComputeTypesPassBase;

  void runOnOperation() override {
    // One rounding for all readers, right behind what computes the numbers.
    DenseMap<Value, Value> rounded;
    getOperation()->walk([&](LinearOp op) {
      TypedValue<RankedTensorType> input = op.getInput();
      Type weight = op.getWeight().getType().getElementType();
      if (!(weight.isBF16() || op.getScales()) || !input.getType().getElementType().isF32())
        return;
      Value &known = rounded[input];
      if (!known) {
        OpBuilder b(op);
        b.setInsertionPointAfterValue(input);
        known =
            arith::TruncFOp::create(b, op.getLoc(), input.getType().clone(b.getBF16Type()), input);
      }
      op.getInputMutable().assign(known);
      ++numRounded;
    });
  }
};
} // namespace
