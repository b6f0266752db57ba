// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Follows weights from their symbols to their readers and back. What crosses more than one call is
// not followed.
#include "passes/Analysis/WeightFlow.h"

using namespace mlir;
using namespace mlir::fovea;

/// All calls of a function, or nothing if it may be reached in another way.
std::optional<SmallVector<func::CallOp>> WeightFlow::getCalls(func::FuncOp function) {
  if (!function.isPrivate() || function.isExternal() || function->hasAttr(FoveaDialect::kEntryAttr))
    return std::nullopt;
  SmallVector<func::CallOp> calls;
  for (Operation *user : users.getUsers(function)) {
    auto call = dyn_cast<func::CallOp>(user);
    if (!call)
      return std::nullopt;
    calls.push_back(call);
  }
  return calls;
}

std::string WeightFlow::resolve(Value value, WeightSites &sites) {
  auto getWeight = [&](WeightRefOp ref) {
    return tables.lookupNearestSymbolFrom<WeightOp>(ref, ref.getWeightAttr());
  };
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument) {
    auto ref = value.getDefiningOp<WeightRefOp>();
    if (!ref)
      return "a weight is computed, not referred to";
    sites.weights.push_back(getWeight(ref));
    return "";
  }
  auto function = dyn_cast_or_null<func::FuncOp>(argument.getOwner()->getParentOp());
  if (!function || !argument.getOwner()->isEntryBlock())
    return "a weight is a loop's or branch's value";
  std::optional<SmallVector<func::CallOp>> calls = getCalls(function);
  if (!calls)
    return "the function is not private to this module, or has users that are no calls";
  if (calls->empty())
    return "the function is never called";
  sites.function = function;
  sites.calls = *calls;
  for (func::CallOp call : *calls) {
    auto ref = call.getOperand(argument.getArgNumber()).getDefiningOp<WeightRefOp>();
    if (!ref)
      return "a call passes a weight that it does not refer to itself";
    sites.weights.push_back(getWeight(ref));
  }
  return "";
}

std::optional<SmallVector<OpOperand *>> WeightFlow::getLeaves(WeightOp weight) {
  SmallVector<OpOperand *> leaves;
  for (Operation *user : users.getUsers(weight)) {
    auto ref = dyn_cast<WeightRefOp>(user);
    if (!ref)
      return std::nullopt;
    for (OpOperand &use : ref.getResult().getUses()) {
      auto call = dyn_cast<func::CallOp>(use.getOwner());
      if (!call) {
        leaves.push_back(&use);
        continue;
      }
      auto callee = tables.lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
      if (!callee || callee.isExternal())
        return std::nullopt;
      for (OpOperand &inner : callee.getArgument(use.getOperandNumber()).getUses())
        leaves.push_back(&inner);
    }
  }
  return leaves;
}

void mlir::fovea::eraseArguments(func::FuncOp function, ArrayRef<func::CallOp> calls,
                                 const BitVector &dead) {
  for (func::CallOp call : calls) {
    SmallVector<Value> operands;
    for (auto [number, operand] : llvm::enumerate(call.getOperands()))
      if (!dead[number])
        operands.push_back(operand);
    call.getOperandsMutable().assign(operands);
  }
  (void)function.eraseArguments(dead); // the types were taken from the function itself
}
