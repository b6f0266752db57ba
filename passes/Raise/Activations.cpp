// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Activations, found by what they compute: the expression of an element as a function of one of its
// parts is tested beside each formula, for numbers of all sizes. Refuses what is a function of two
// values, and what changes the element type.
#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/Elements/Equivalence.h"
#include "passes/Raise/Identity.h"
#include "passes/Raise/NearMisses.h"
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

constexpr ActivationKind kKinds[] = {ActivationKind::Gelu,      ActivationKind::GeluTanh,
                                     ActivationKind::GeluQuick, ActivationKind::Relu,
                                     ActivationKind::Silu,      ActivationKind::Tanh,
                                     ActivationKind::Sigmoid,   ActivationKind::ReluSquared};

/// Activations of one value as expressions, in f64, as docs of `fovea.activation` say.
class ActivationFormula {
public:
  ActivationFormula(Expressions &e, Expr input)
      : e(e), type(Float64Type::get(e.getContext())), x(e.convert(input, type)) {}

  Expr make(ActivationKind kind) {
    switch (kind) {
    case ActivationKind::Gelu:
      return gate(apply<math::ErfOp>(multiply(x, number(M_SQRT1_2))));
    case ActivationKind::GeluTanh: {
      Expr cube = multiply(multiply(x, x), multiply(x, number(0.044715)));
      return gate(apply<math::TanhOp>(multiply(number(std::sqrt(2 / M_PI)), add(x, cube))));
    }
    case ActivationKind::GeluQuick:
      return multiply(x, sigmoid(multiply(x, number(1.702))));
    case ActivationKind::Relu:
      return positive();
    case ActivationKind::Silu:
      return multiply(x, sigmoid(x));
    case ActivationKind::Tanh:
      return apply<math::TanhOp>(x);
    case ActivationKind::Sigmoid:
      return sigmoid(x);
    case ActivationKind::ReluSquared:
      return multiply(positive(), positive());
    }
    llvm_unreachable("an activation");
  }

  /// What rounding is in proportion to: 1 + erf(x) and its like lose what is small beside one.
  Expr makeSize(ActivationKind kind) {
    Expr size = apply<math::AbsFOp>(make(kind));
    if (kind == ActivationKind::Sigmoid)
      return add(size, number(0.01));
    bool isExact = kind == ActivationKind::Relu || kind == ActivationKind::ReluSquared ||
                   kind == ActivationKind::Tanh;
    return isExact ? size : add(size, multiply(apply<math::AbsFOp>(x), number(0.01)));
  }

private:
  Expr number(double value) { return e.constant(value, type); }
  template <typename OpT> Expr apply(Expr a) { return e.compute<OpT>(type, {a}); }
  Expr add(Expr a, Expr b) { return e.compute<arith::AddFOp>(type, {a, b}); }
  Expr multiply(Expr a, Expr b) { return e.compute<arith::MulFOp>(type, {a, b}); }
  Expr positive() { return e.compute<arith::MaximumFOp>(type, {x, number(0)}); }
  Expr sigmoid(Expr a) {
    Expr exp = apply<math::ExpOp>(apply<arith::NegFOp>(a));
    return e.compute<arith::DivFOp>(type, {number(1), add(number(1), exp)});
  }
  /// x / 2 * (1 + a)
  Expr gate(Expr a) { return multiply(multiply(x, number(0.5)), add(number(1), a)); }

  Expressions &e;
  FloatType type;
  Expr x;
};

/// Where a function of one value is looked at: closely where formulas bend, at all sizes that
/// floats have, and on both sides of each constant in it.
SmallVector<double> getPoints(Expr root) {
  SmallVector<double> points;
  for (int i = -48; i <= 48; ++i)
    points.push_back(i * 0.1875 + 0.03125);
  for (int power = -126; power <= 127; power += power > -12 && power < 12 ? 1 : 5)
    for (double sign : {1.25, -1.25})
      points.push_back(sign * std::ldexp(1.0, power));
  for (Expr part : collect(root))
    if (part->isConstant() && part->real && std::isfinite(part->getNumber()))
      for (double factor : {1.0, -1.0, 0.999, 1.001, -0.999, -1.001, 0.5, 2.0, -0.5, -2.0})
        points.push_back(part->getNumber() * factor);
  points.push_back(0);
  return points;
}

/// What keeps an expression from being a formula that it comes near to.
struct Against {
  Verdict verdict;
  ActivationKind kind = ActivationKind::Gelu;
};

/// The activation that `root` is of its part `input`; of several that rounded constants leave the
/// nearest. What keeps one that is near from being it goes to `against`.
std::optional<ActivationKind> match(Expressions &e, Expr root, Expr input, Against &against) {
  auto type = dyn_cast<FloatType>(input->type);
  if (!type || input == root || input->type != root->type)
    return std::nullopt;
  Expr x = e.variable(e.addVariable({}), type, {});
  llvm::DenseMap<Expr, Expr> parts{{input, x}};
  Claim claim;
  claim.source = e.replace(root, parts);
  claim.rounding = type.getWidth();
  SmallVector<double> points = getPoints(claim.source);
  for (uint64_t i = 0; i < points.size(); ++i)
    claim.rounds.push_back({i, 1, 1, 0, 0});
  claim.steered = claim.rounds;
  claim.isScalable = false;
  claim.draw = [&](Expr leaf, ArrayRef<int64_t>, const Draw &how) -> std::optional<Number> {
    return leaf == x ? std::optional(Number{points[how.seed], 0}) : std::nullopt;
  };
  ActivationFormula formula(e, x);
  SmallVector<double> tolerances{1e-6};
  if (double rounding = getTolerance(root); rounding > 1e-6)
    tolerances.push_back(rounding);
  for (double tolerance : tolerances)
    for (ActivationKind kind : kKinds) {
      claim.formula = formula.make(kind);
      claim.size = formula.makeSize(kind);
      claim.tolerance = tolerance;
      Verdict verdict = decide(e, claim);
      if (verdict)
        return kind;
      if (verdict.culprit && verdict.kind != Verdict::Unevaluated)
        against = {verdict, kind};
    }
  return std::nullopt;
}

/// Whether two tensors are outputs of one input: of two linears that read it, or columns of one.
bool areProjectionsOfOne(Value a, Value b) {
  auto getSource = [](Value value) -> std::pair<Value, bool> {
    if (auto slice = value.getDefiningOp<tensor::ExtractSliceOp>())
      return {slice.getSource(), true};
    Operation *op = value.getDefiningOp();
    auto axes = dyn_cast_or_null<AxesOpInterface>(op);
    if (axes && getTileNeeds(op).kind == TileNeeds::Product)
      return {axes.getAxesOperand(), true};
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
      Against against;
      std::optional<ActivationKind> kind = match(e, root, input, against);
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

SmallVector<NearMiss> mlir::fovea::findNearActivations(ModuleOp module) {
  SmallVector<NearMiss> found;
  llvm::DenseSet<Operation *> told;
  module.walk([&](Operation *op) {
    if (!isElementwise(op))
      return;
    Expressions e(op->getContext());
    Expr root = e.at(op->getResult(0), makeIndices(e, op->getResult(0)));
    if (isLeaf(root) || root->isConstant() || getPiecewise(root).empty())
      return;
    for (Expr input : getCuts(root, [](Expr) { return true; })) {
      Against against;
      if (match(e, root, input, against) || !against.verdict.culprit ||
          !told.insert(e.getOrigin(against.verdict.culprit)).second)
        continue;
      found.push_back(
          {op, stringifyActivationKind(against.kind).str(), describe(e, against.verdict)});
      return;
    }
  });
  return found;
}
