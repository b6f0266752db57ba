// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Asks what an element of a product is, as raising does. What is not understood is not named.
#include "tools/compile/AttentionKinds.h"
#include "dialects/Fovea/FoveaDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "passes/Elements/Evaluate.h"
#include "passes/Raise/Attention/AttentionForm.h"
#include "llvm/ADT/SetVector.h"
#include <cmath>
#include <set>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::raise;

/// Ops that are followed behind a softmax, as far as raising does for its reasons.
static constexpr size_t kMaxFollowed = 32;
/// Parts of an expression that are tried as a function of the score.
static constexpr size_t kMaxParts = 64;

/// An element of a sum of products; null if the tensor is something else.
static Expr getSum(Expressions &e, Value tensor) {
  SmallVector<Expr> indices;
  for (int64_t axis = 0; axis < cast<RankedTensorType>(tensor.getType()).getRank(); ++axis)
    indices.push_back(e.dim(e.addDim(e.getSize(tensor, axis))));
  Expr sum = e.product(tensor, indices);
  return sum && sum->kind == Node::Kind::Reduce && sum->combiner == Combiner::Add ? sum : Expr();
}

/// Whether a leaf is an element of a product of two computed tensors.
static bool isProduct(Expr leaf) {
  Operation *op =
      leaf->kind == Node::Kind::Element && leaf->tensor ? leaf->tensor.getDefiningOp() : nullptr;
  return op && isContraction(op);
}

static bool hasProduct(Expr root) {
  return llvm::any_of(collect(root), [](Expr part) { return isProduct(part); });
}

//===-- Softmaxes ----------------------------------------------------------------------------===//

/// Whether something else than what the exponentials are of stands beside them, where no
/// contraction says so: -sum p log p has none.
static bool hasValues(Expr body, unsigned dim) {
  DenseSet<Value> scores;
  SmallVector<Expr> parts = collect(body);
  for (Expr part : parts)
    if (isExp(part))
      for (Expr leaf : collect(part))
        if (leaf->kind == Node::Kind::Element)
          scores.insert(leaf->tensor);
  return llvm::any_of(parts, [&](Expr part) {
    return part->kind == Node::Kind::Element && part->dependsOn(dim) &&
           !scores.contains(part->tensor);
  });
}

/// Whether a sum weighs values by probabilities.
static bool sumsProbabilities(Operation *op) {
  Expressions e(op->getContext());
  Expr sum = getSum(e, op->getResult(0));
  if (!sum || !hasExp(sum->args[0], sum->dim) ||
      (!isContraction(op) && !hasValues(sum->args[0], sum->dim)))
    return false;
  return llvm::any_of(collect(sum->args[0]), [&](Expr part) {
    bool normalises = isSumOfExps(part) && !part->dependsOn(sum->dim);
    return normalises || (isExp(part) && hasProduct(part));
  });
}

bool mlir::fovea::weighsValues(Operation *softmax) {
  llvm::SetVector<Operation *> behind;
  behind.insert(softmax);
  for (size_t i = 0; i < behind.size() && i < kMaxFollowed; ++i)
    for (Operation *user : behind[i]->getUsers()) {
      if (user->getNumResults() != 1 || !isa<RankedTensorType>(user->getResult(0).getType()))
        continue;
      if (!mayBeAttention(user->getResult(0)) && isMemoryEffectFree(user))
        behind.insert(user);
      else if (mayBeAttention(user->getResult(0)) && sumsProbabilities(user))
        return true;
    }
  return false;
}

//===-- Attention without a softmax ----------------------------------------------------------===//

/// Without casts, and what does not depend on the product: factors, a denominator, a mask.
static Expr strip(Expr expr) {
  for (;;) {
    if (expr->kind != Node::Kind::Compute)
      return expr;
    Expr inner = nullptr;
    size_t with = llvm::count_if(expr->args, [](Expr arg) { return hasProduct(arg); });
    bool isPlain = isCast(expr) || expr->is<arith::MulFOp>() || expr->is<arith::SelectOp>() ||
                   (expr->is<arith::DivFOp>() && hasProduct(expr->args[0]));
    if (isPlain && with == 1)
      inner = *llvm::find_if(expr->args, [](Expr arg) { return hasProduct(arg); });
    if (!inner || !isa<FloatType>(inner->type))
      return expr;
    expr = inner;
  }
}

/// Whether `expr` is `function` of its part `x`.
static bool isFunction(Expressions &e, Expr expr, Expr x, double (*function)(double)) {
  Expr unknown = e.variable(e.addVariable({}), x->type, {});
  DenseMap<Expr, Expr> parts{{x, unknown}};
  Expr replaced = e.replace(expr, parts);
  if (llvm::any_of(collect(replaced), [&](Expr part) {
        return part != unknown && !part->isConstant() && part->kind != Node::Kind::Compute;
      }))
    return false;
  for (double number : {-3.0, -0.5, 0.25, 2.0}) {
    Evaluator evaluate(e, 1);
    evaluate.given = [&](Expr leaf, ArrayRef<int64_t>) -> std::optional<Number> {
      return leaf == unknown ? std::optional(Number{number, 0}) : std::nullopt;
    };
    std::optional<double> found = evaluate.evaluateReal(replaced);
    if (!found || !(std::fabs(*found - function(number)) < 1e-6))
      return false;
  }
  return true;
}

static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
static double reluSquared(double x) { return x > 0 ? x * x : 0; }

/// What the weights are of the products; empty if that has no name here.
static StringRef nameWeights(Expressions &e, Expr weight) {
  // An op of its own, which is not looked into.
  for (Expr part : collect(weight))
    if (part->kind == Node::Kind::Element && part->tensor)
      if (auto op = part->tensor.getDefiningOp<ActivationOp>();
          op && op.getKind() == ActivationKind::ReluSquared)
        return hasProduct(e.at(op.getInput(), part->args)) ? "squared ReLU" : "";
  weight = strip(weight);
  SmallVector<Expr> parts = collect(weight);
  if (parts.size() > kMaxParts || weight->kind != Node::Kind::Compute)
    return "";
  for (Expr x : parts) {
    if (x == weight || !isa<FloatType>(x->type) || !hasProduct(x))
      continue;
    if (isFunction(e, weight, x, sigmoid))
      return "sigmoid";
    if (isFunction(e, weight, x, reluSquared))
      return "squared ReLU";
  }
  return "";
}

/// The functions, not linear, that a factor goes through.
static std::set<std::string> getFunctions(Expr factor) {
  std::set<std::string> names;
  for (Expr part : collect(factor)) {
    if (part->kind == Node::Kind::Compute &&
        (part->name.getValue().starts_with("math.") || part->is<arith::MaximumFOp>() ||
         part->is<arith::MaxNumFOp>()))
      names.insert(part->name.str());
    if (part->kind == Node::Kind::Element && part->tensor)
      if (auto op = part->tensor.getDefiningOp<ActivationOp>())
        names.insert(stringifyEnum(op.getKind()).str());
  }
  return names;
}

/// The two factors that a sum of products multiplies; nothing if it is of another form.
static std::optional<std::pair<Expr, Expr>> getFactors(Expr sum) {
  Expr body = sum ? stripCasts(sum->args[0]) : Expr();
  if (!body || !body->is<arith::MulFOp>())
    return std::nullopt;
  return std::make_pair(body->args[0], body->args[1]);
}

/// Whether `product`, an element of one, and `other`, which it meets in a further product, are
/// phi(q) phi(k)^T and v, or phi(k)^T v and phi(q).
static bool isLinearKernel(Expressions &e, Expr product, Expr other) {
  product = strip(product);
  if (!isProduct(product))
    return false;
  auto inner = getFactors(getSum(e, product->tensor));
  if (!inner)
    return false;
  std::set<std::string> first = getFunctions(inner->first), second = getFunctions(inner->second);
  if (!first.empty() && first == second)
    return true;
  std::set<std::string> query = getFunctions(other);
  return !query.empty() && (query == first || query == second) && first.empty() != second.empty();
}

static std::string nameAttention(Operation *op) {
  Expressions e(op->getContext());
  auto factors = getFactors(getSum(e, op->getResult(0)));
  if (!factors)
    return "";
  for (auto [weight, value] : {*factors, std::make_pair(factors->second, factors->first)}) {
    if (StringRef name = nameWeights(e, weight); !name.empty())
      return (name + " attention: its weights are the " + name + " of q k^T").str();
    if (isLinearKernel(e, weight, value))
      return "linear attention: its weights are phi(q) phi(k)^T";
  }
  return "";
}

SmallVector<OtherAttention> mlir::fovea::findOtherAttentions(ModuleOp module) {
  SmallVector<OtherAttention> found;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<ElementRegionsOpInterface>(op) || op->getParentOfType<linalg::LinalgOp>())
      return WalkResult::skip();
    if (!isContraction(op) || op->getNumResults() != 1)
      return WalkResult::advance();
    if (std::string what = nameAttention(op); !what.empty())
      found.push_back({op, what + ", without a softmax; it runs as products and elementwise code"});
    return WalkResult::advance();
  });
  return found;
}
