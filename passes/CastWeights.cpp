// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One element type for weights of floats and blocks, by recipe. Leaves alone weights whose readers
// take no other type, and tables.
#include "dialects/Fovea/Tables.h"
#include "passes/Passes.h"
#include "llvm/ADT/EquivalenceClasses.h"

namespace mlir::fovea {
#define GEN_PASS_DEF_CASTWEIGHTSPASS
#include "passes/Passes.h.inc"
} // namespace mlir::fovea

using namespace mlir;
using namespace mlir::fovea;

Type mlir::fovea::parseElementType(StringRef name, MLIRContext *context) {
  if (name == "f32")
    return Float32Type::get(context);
  if (name == "bf16")
    return BFloat16Type::get(context);
  if (name == "f16")
    return Float16Type::get(context);
  if (name == "f64")
    return Float64Type::get(context);
  return {};
}

namespace {

struct CastWeightsPass : fovea::impl::CastWeightsPassBase<CastWeightsPass> {
  using CastWeightsPassBase::CastWeightsPassBase;

  void runOnOperation() override {
    element = parseElementType(type, &getContext());
    if (!element) {
      getOperation().emitError("expects the type f32, bf16, f16 or f64, got '") << type << "'";
      return signalPassFailure();
    }
    findHomes();
    llvm::DenseSet<Value> fixed;
    for (const auto &entry : homes)
      if (entry->isLeader() &&
          llvm::any_of(homes.members(*entry), [&](Value value) { return isFixed(value); }))
        fixed.insert(entry->getData());
    for (auto weight : getOperation().getOps<WeightOp>()) {
      RankedTensorType old = weight.getWeightType();
      bool isCastable =
          isa<BlocksType>(old.getElementType()) ||
          (isa<FloatType>(old.getElementType()) && !blocksOnly && old.getElementType() != element);
      if (!isCastable)
        continue;
      auto it = refs.find(weight);
      if (it == refs.end())
        continue;
      if (isTable(weight) || fixed.contains(homes.getLeaderValue(it->second))) {
        ++numKept;
        continue;
      }
      weight.setRecipeAttr(CastAttr::get(&getContext(), weight.getRecipe(), element));
      weight.setType(old.clone(element));
      ++numCast;
      for (Value value : homes.members(it->second))
        value.setType(old.clone(element));
    }
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal())
        function.setFunctionType(FunctionType::get(&getContext(),
                                                   function.getBody().getArgumentTypes(),
                                                   function.getFunctionType().getResults()));
  }

private:
  /// Puts into one class the values that have one type: those of a weight, and what a function's
  /// calls pass for an argument with the argument.
  void findHomes() {
    SymbolTableCollection symbols;
    getOperation()->walk([&](Operation *op) {
      if (auto ref = dyn_cast<WeightRefOp>(op)) {
        auto weight = symbols.lookupNearestSymbolFrom<WeightOp>(ref, ref.getWeightAttr());
        homes.insert(ref.getResult());
        auto [it, isNew] = refs.try_emplace(weight, ref.getResult());
        homes.unionSets(it->second, ref.getResult());
      } else if (auto call = dyn_cast<func::CallOp>(op)) {
        auto callee = symbols.lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
        if (callee && callee.isPrivate() && !callee.isExternal())
          for (auto [operand, argument] : llvm::zip(call.getOperands(), callee.getArguments()))
            homes.unionSets(operand, argument);
        else
          outside.insert(call);
      }
    });
  }

  /// Whether the type of a value cannot change: no weight, or something reads it that does not
  /// widen.
  bool isFixed(Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    if (argument ? !isa<func::FuncOp>(argument.getOwner()->getParentOp())
                 : !value.getDefiningOp<WeightRefOp>())
      return true;
    return llvm::any_of(value.getUses(), [&](OpOperand &use) {
      return isa<func::CallOp>(use.getOwner()) ? outside.contains(use.getOwner()) : !isWeight(use);
    });
  }

  Type element;
  llvm::EquivalenceClasses<Value> homes;
  llvm::DenseMap<WeightOp, Value> refs; ///< one of each weight's
  llvm::DenseSet<Operation *> outside; ///< calls of functions that we do not see or must not change
};
} // namespace
