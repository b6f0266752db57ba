// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One element type for all float weights, by recipe. Refuses weights that ops of other dialects
// read.
#include "passes/Passes.h"
#include "passes/WeightFlow.h"

namespace mlir::fovea {
#define GEN_PASS_DEF_CASTWEIGHTSPASS
#include "passes/Passes.h.inc"
} // namespace mlir::fovea

using namespace mlir;
using namespace mlir::fovea;

static Type parseElementType(StringRef name, MLIRContext *context) {
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

/// Scales of integers keep the type that these were rounded by.
static bool areScales(WeightFlow &flow, WeightOp weight) {
  std::optional<SmallVector<OpOperand *>> leaves = flow.getLeaves(weight);
  return leaves && llvm::any_of(*leaves, [](OpOperand *leaf) {
           auto linear = dyn_cast<LinearOp>(leaf->getOwner());
           return linear && linear.getScales() == leaf->get();
         });
}

namespace {
struct CastWeightsPass : fovea::impl::CastWeightsPassBase<CastWeightsPass> {
  using CastWeightsPassBase::CastWeightsPassBase;

  void runOnOperation() override {
    Type element = parseElementType(type, &getContext());
    if (!element) {
      getOperation().emitError("expects the type f32, bf16, f16 or f64, got '") << type << "'";
      return signalPassFailure();
    }
    SymbolTableCollection symbols;
    SymbolUserMap users(symbols, getOperation());
    WeightFlow flow(getOperation());
    for (auto weight : getOperation().getOps<WeightOp>()) {
      RankedTensorType old = weight.getWeightType();
      if (!isa<FloatType>(old.getElementType()) || old.getElementType() == element ||
          areScales(flow, weight))
        continue;
      weight.setRecipeAttr(CastAttr::get(&getContext(), weight.getRecipe(), element));
      weight.setType(old.clone(element));
      ++numCast;
      for (Operation *user : users.getUsers(weight))
        if (auto ref = dyn_cast<WeightRefOp>(user))
          if (failed(setType(ref.getResult(), old.clone(element), symbols)))
            return signalPassFailure();
    }
  }

  /// Changes the type of a weight's value, and of the arguments that it becomes.
  LogicalResult setType(Value value, RankedTensorType type, SymbolTableCollection &symbols) {
    if (value.getType() == type)
      return success();
    value.setType(type);
    for (OpOperand &use : value.getUses()) {
      auto call = dyn_cast<func::CallOp>(use.getOwner());
      if (!call) {
        if (!isa<FoveaDialect>(use.getOwner()->getDialect()))
          return use.getOwner()->emitOpError(
                     "expects no weight of another element type as operand ")
                 << use.getOperandNumber();
        continue;
      }
      auto callee = symbols.lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
      if (!callee || callee.isExternal())
        return call.emitOpError("expects a function of this module to take the weight");
      unsigned number = use.getOperandNumber();
      SmallVector<Type> inputs(callee.getArgumentTypes());
      inputs[number] = type;
      callee.setFunctionType(
          FunctionType::get(&getContext(), inputs, callee.getFunctionType().getResults()));
      if (failed(setType(callee.getArgument(number), type, symbols)))
        return failure();
    }
    return success();
  }
};
} // namespace
