// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Activations, found by what they compute: the expression of an element is evaluated as a function
// of one of its parts and compared with each formula. Refuses what is a function of two values, and
// what changes the element type.
#include "passes/Raise/Identity.h"
#include "passes/Raise/Passes.h"
#include <cmath>

namespace mlir::fovea {
#define GEN_PASS_DEF_RAISEACTIVATIONSPASS
#include "passes/Raise/Passes.h.inc"
} // namespace mlir::fovea

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::raise;

namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// As docs of `fovea.activation` say.
double apply(ActivationKind kind, double x) {
  switch (kind) {
  case ActivationKind::Gelu:
    return x / 2 * (1 + std::erf(x * M_SQRT1_2));
  case ActivationKind::GeluTanh:
    return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  case ActivationKind::GeluQuick:
    return x * sigmoid(1.702 * x);
  case ActivationKind::Relu:
    return std::max(x, 0.0);
  case ActivationKind::Silu:
    return x * sigmoid(x);
  case ActivationKind::Tanh:
    return std::tanh(x);
  case ActivationKind::Sigmoid:
    return sigmoid(x);
  case ActivationKind::ReluSquared:
    return x > 0 ? x * x : 0;
  }
  llvm_unreachable("an activation");
}

constexpr ActivationKind kKinds[] = {ActivationKind::Gelu,      ActivationKind::GeluTanh,
                                     ActivationKind::GeluQuick, ActivationKind::Relu,
                                     ActivationKind::Silu,      ActivationKind::Tanh,
                                     ActivationKind::Sigmoid,   ActivationKind::ReluSquared};

/// Where formulas are compared: more closely near zero, and far out, where they are straight.
SmallVector<double> getPoints() {
  SmallVector<double> points{1, -1, 0, -30, 30, -12.5, 12.5};
  for (int i = -32; i <= 32; ++i)
    points.push_back(i * 0.1875 + 0.03125); // exact in all float types
  // A ReLU that ends at 255 is none; so far out, exp may overflow, which `match` leaves out.
  points.append({300, -300, 70000, -70000});
  return points;
}

/// The activation that `root` is of its part `input`.
std::optional<ActivationKind> match(Expressions &e, Expr root, Expr input) {
  auto type = dyn_cast<FloatType>(input->type);
  if (!type || input == root || input->type != root->type)
    return std::nullopt;
  struct Candidate {
    ActivationKind kind;
    double distance;
  };
  SmallVector<Candidate> candidates;
  for (ActivationKind kind : kKinds)
    candidates.push_back({kind, 0});
  double tolerance = getTolerance(root);
  for (double x : getPoints()) {
    llvm::DenseMap<Expr, Expr> parts;
    parts[input] = e.constant(x, type);
    Expr at = e.replace(root, parts);
    Evaluator evaluator(e, /*seed=*/1);
    std::optional<double> y = evaluator.evaluateReal(at);
    if (!y)
      return std::nullopt;
    if (!std::isfinite(*y) && std::abs(x) > 30)
      continue;
    llvm::erase_if(candidates, [&](Candidate &candidate) {
      double wanted = apply(candidate.kind, x);
      double distance = std::abs(*y - wanted) / std::max(1.0, std::abs(wanted));
      candidate.distance = std::max(candidate.distance, distance);
      return !(distance <= tolerance);
    });
    if (candidates.empty())
      return std::nullopt;
  }
  return llvm::min_element(candidates, [](const Candidate &a,
                                          const Candidate &b) { return a.distance < b.distance; })
      ->kind;
}

/// Whether two tensors are outputs of one input: of two linears that read it, or columns of one.
bool areProjectionsOfOne(Value a, Value b) {
  auto getSource = [](Value value) -> std::pair<Value, bool> {
    if (auto slice = value.getDefiningOp<tensor::ExtractSliceOp>())
      return {slice.getSource(), true};
    if (auto linear = value.getDefiningOp<LinearOp>())
      return {linear.getInput(), true};
    return {value, false};
  };
  auto [first, knowsFirst] = getSource(a);
  auto [second, knowsSecond] = getSource(b);
  return knowsFirst && knowsSecond && first == second;
}

struct RaiseActivationsPass : fovea::impl::RaiseActivationsPassBase<RaiseActivationsPass> {
  using RaiseActivationsPassBase::RaiseActivationsPassBase;

  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (isElementwise(op))
        ops.push_back(op);
    });
    raiseLastFirst(getOperation(), ops, [&](Operation *op) { return raise(op); });
    SmallVector<Operation *> products;
    getOperation()->walk([&](arith::MulFOp op) { products.push_back(op); });
    raiseLastFirst(getOperation(), products,
                   [&](Operation *op) { return raiseGate(cast<arith::MulFOp>(op)); });
  }

private:
  bool raise(Operation *op) {
    Value result = op->getResult(0);
    Expressions e(op->getContext());
    Expr root = e.at(result, makeIndices(e, result));
    if (isLeaf(root) || root->isConstant())
      return false;
    for (Expr input : getCuts(root, [](Expr) { return true; })) {
      std::optional<ActivationKind> kind = match(e, root, input);
      if (!kind)
        continue;
      OpBuilder builder(op);
      Value tensor = getTensor(e, builder, input, result);
      if (!tensor || tensor == result)
        continue;
      Value raised = ActivationOp::create(builder, op->getLoc(), result.getType(), *kind, tensor);
      result.replaceAllUsesWith(raised);
      ++numActivations;
      return true;
    }
    return false;
  }

  /// activation(gate) * up of two projections of one input.
  bool raiseGate(arith::MulFOp product) {
    for (unsigned number : {0, 1}) {
      auto activation = product->getOperand(number).getDefiningOp<ActivationOp>();
      Value up = product->getOperand(1 - number);
      if (!activation || !activation.getResult().hasOneUse() ||
          !areProjectionsOfOne(activation.getInput(), up))
        continue;
      OpBuilder builder(product);
      Value gated = GluOp::create(builder, product.getLoc(), product.getType(),
                                  activation.getKind(), activation.getInput(), up);
      product.getResult().replaceAllUsesWith(gated);
      ++numGates;
      return true;
    }
    return false;
  }
};
} // namespace
