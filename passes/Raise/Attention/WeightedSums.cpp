// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Readings of a sum as weights times values: by the two sides of its product, or by all factors in
// a row. Weights have exponentials that depend on the key.
#include "passes/Raise/Attention/WeightedSums.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/Raise/Attention/AttentionForm.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::raise;

Expr raise::multiply(Expressions &e, ArrayRef<Expr> factors, FloatType type) {
  Expr result = e.constant(1.0, type);
  for (Expr factor : factors)
    result = e.compute<arith::MulFOp>(type, {result, e.convert(factor, type)});
  return result;
}

void raise::addHomes(Expressions &e, Expr root, SmallVectorImpl<Value> &homes) {
  if (root->isConstant() || root->kind == Node::Kind::Index)
    return;
  if (Value tensor = e.getHome(root).first) {
    if (!llvm::is_contained(homes, tensor))
      homes.push_back(tensor);
    return;
  }
  for (Expr arg : root->args)
    addHomes(e, arg, homes);
}

/// The product's two sides as they stand there: values may be products themselves, and weights and
/// values may both have exponentials (values times a gate), the likelier reading first.
static void readSides(Expressions &e, const WeightedSum &sum,
                      SmallVectorImpl<WeightedSum> &readings) {
  Expr top = stripCasts(sum.node->args[0]);
  if (!top->is<arith::MulFOp>())
    return;
  for (bool mayHaveExps : {false, true})
    for (unsigned i : {0, 1}) {
      Expr value = top->args[1 - i], weight = top->args[i];
      if (!value->dependsOn(sum.key) || hasExp(value, sum.key) != mayHaveExps ||
          !hasExp(weight, sum.key) || !e.getHome(value).first)
        continue;
      WeightedSum found = sum;
      found.value = value;
      found.weight = e.convert(weight, Float64Type::get(e.getContext()));
      readings.push_back(found);
    }
}

/// All factors in a row, of which one is the value.
static void readFactors(Expressions &e, const WeightedSum &sum, ArrayRef<unsigned> dims,
                        SmallVectorImpl<WeightedSum> &readings) {
  SmallVector<Expr> factors, weights, values;
  addFactors(e, sum.node->args[0], factors);
  llvm::SmallBitVector ofWeights(e.getNumDims());
  for (Expr factor : factors)
    if (hasExp(factor, sum.key)) {
      weights.push_back(factor);
      llvm::SmallBitVector dimsOf = factor->dims;
      dimsOf.resize(ofWeights.size());
      ofWeights |= dimsOf;
    }
  auto hasOwn = [&](Expr factor) {
    return llvm::any_of(
        dims, [&](unsigned dim) { return factor->dependsOn(dim) && !ofWeights.test(dim); });
  };
  for (Expr factor : factors) {
    if (llvm::is_contained(weights, factor))
      continue;
    bool isValue = factor->dependsOn(sum.key) &&
                   (hasOwn(factor) || stripCasts(factor)->kind == Node::Kind::Element);
    (isValue ? values : weights).push_back(factor);
  }
  if (values.size() > 1) // only those with a dim of their own
    llvm::erase_if(values, [&](Expr factor) {
      if (hasOwn(factor))
        return false;
      weights.push_back(factor);
      return true;
    });
  if (values.size() != 1 || (!readings.empty() && readings.front().value == values[0]))
    return;
  WeightedSum found = sum;
  found.value = values[0];
  found.weight = multiply(e, weights, Float64Type::get(e.getContext()));
  readings.push_back(found);
}

SmallVector<WeightedSum> raise::readWeightedSum(Expressions &e, Expr node,
                                                ArrayRef<unsigned> dims) {
  SmallVector<WeightedSum> readings;
  if (node->args[0]->kind == Node::Kind::Reduce || !hasExp(node->args[0], node->dim))
    return readings;
  WeightedSum sum{node, node->dim, nullptr, nullptr};
  readSides(e, sum, readings);
  readFactors(e, sum, dims, readings);
  return readings;
}

bool raise::hasDenominator(Expressions &e, Expr whole, const WeightedSum &sum, Expr score) {
  SmallVector<Value> homes;
  addHomes(e, score, homes);
  if (homes.empty())
    return true;
  auto isOfScores = [&](Expr node) {
    Value home = e.getHome(node).first;
    return home && llvm::is_contained(homes, home);
  };
  return llvm::any_of(collect(whole), [&](Expr node) {
    if (node->kind != Node::Kind::Reduce || node->combiner != Combiner::Add ||
        contains(node, sum.node))
      return false;
    return llvm::any_of(getExps(node->args[0], node->dim),
                        [&](Expr exp) { return llvm::any_of(collect(exp), isOfScores); });
  });
}
