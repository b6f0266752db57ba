// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Looks for softmaxes in a graph, and follows each to the product that would make it an attention.
#include "passes/Raise/Attention/Softmaxes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/Elements/Equivalence.h"
#include "passes/Raise/Attention/AttentionForm.h"
#include "llvm/ADT/SetVector.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::raise;

/// Whether the op may be the last of a softmax that is written out.
static bool mayNormalize(Operation *op) {
  auto isLast = [](Operation *scalar) {
    return isa<arith::DivFOp, arith::MulFOp, math::ExpOp, math::Exp2Op>(scalar);
  };
  if (op->getNumResults() != 1 || !isa<RankedTensorType>(op->getResult(0).getType()))
    return false;
  if (isLast(op))
    return true;
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  return structured && structured.getNumReductionLoops() == 0 && op->getNumRegions() == 1 &&
         llvm::any_of(*structured.getBlock(), [&](Operation &scalar) { return isLast(&scalar); });
}

/// The axis along which a tensor sums to one, by evaluating.
static std::optional<int64_t> getSoftmaxAxis(Value tensor) {
  Expressions e(tensor.getContext());
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!isa<FloatType>(type.getElementType()))
    return std::nullopt;
  SmallVector<Expr> indices;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    indices.push_back(e.dim(e.addDim(e.getSize(tensor, axis))));
  Expr element = e.at(tensor, indices);
  if (element->kind != Node::Kind::Compute)
    return std::nullopt;
  for (int64_t axis = type.getRank(); axis-- > 0;) {
    if (type.getDimSize(axis) == 1 || !hasExp(element, axis))
      continue;
    Expr sum = e.reduce(Combiner::Add, axis, element);
    int sound = 0;
    bool isOne = true;
    for (int seed = 1; seed <= 4 && isOne; ++seed) {
      Evaluator evaluate(e, seed);
      evaluate.place.assign(e.getNumDims(), 0);
      for (int64_t dim = 0; dim < type.getRank(); ++dim)
        evaluate.place[dim] = seed % std::max<int64_t>(evaluate.getExtent(dim), 1);
      std::optional<double> value = evaluate.evaluateReal(sum);
      if (!value)
        isOne = false;
      else if (std::isfinite(*value)) {
        isOne = std::fabs(*value - 1) < 1e-6;
        ++sound;
      }
    }
    if (isOne && sound >= 2)
      return axis;
  }
  return std::nullopt;
}

/// Why the softmax is no attention: said by the first product behind it.
static void explain(LooseSoftmax &softmax) {
  llvm::SetVector<Operation *> behind;
  behind.insert(softmax.op);
  bool meetsProduct = false;
  for (size_t i = 0; i < behind.size() && i < 32; ++i)
    for (Operation *user : behind[i]->getUsers()) {
      if (user->getNumResults() != 1 || !isa<RankedTensorType>(user->getResult(0).getType()))
        continue;
      if (!mayBeAttention(user->getResult(0))) {
        if (isMemoryEffectFree(user))
          behind.insert(user);
        continue;
      }
      meetsProduct |= isContraction(user);
      Expressions e(user->getContext());
      Refusal refusal;
      std::optional<AttentionForm> form =
          recognizeAttention(e, user->getResult(0), user->getResult(0), refusal);
      if (form)
        refusal = {"its mask or rule, " + describe(e, form->score) +
                       ", cannot be written as scalar code of one score",
                   ""};
      if (!refusal.reason.empty()) {
        softmax.reason = refusal.reason;
        softmax.change = refusal.change;
        return;
      }
    }
  if (meetsProduct) {
    softmax.reason = "the product behind it does not sum over the axis of the softmax";
    softmax.change = "sum weights times values over the axis that is normalised";
    return;
  }
  softmax.reason = "its probabilities meet no product with values";
  softmax.change = "";
}

SmallVector<LooseSoftmax> mlir::fovea::findLooseSoftmaxes(ModuleOp module) {
  SmallVector<LooseSoftmax> found;
  llvm::SmallPtrSet<Operation *, 8> behindOne;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<ElementRegionsOpInterface>(op) || op->getParentOfType<linalg::LinalgOp>())
      return WalkResult::skip();
    bool isSoftmax = isa<linalg::SoftmaxOp>(op) && op->getNumResults() == 1;
    // What only changes another softmax's layout or element type is the same one.
    for (Value operand : op->getOperands())
      if (Operation *source = operand.getDefiningOp(); source && behindOne.contains(source))
        behindOne.insert(op);
    if (!isSoftmax && !behindOne.contains(op) && mayNormalize(op))
      isSoftmax = getSoftmaxAxis(op->getResult(0)).has_value();
    if (!isSoftmax)
      return WalkResult::advance();
    found.push_back({op, "", ""});
    explain(found.back());
    behindOne.insert(op);
    return WalkResult::advance();
  });
  return found;
}
