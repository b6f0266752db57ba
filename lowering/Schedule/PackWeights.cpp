// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layout of each weight. A weight is followed to all that reads it, through calls and groups;
// weights that reach one argument get one layout. Leaves alone what is not understood: row-major is
// always right.
#include "lowering/Schedule/Schedule.h"
#include "lowering/Targets/Table.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::fovea;

namespace {

/// Values and weights that must have one layout, and whether that may be panels.
struct Family {
  llvm::SetVector<Value> values;
  llvm::SmallSetVector<WeightOp, 4> weights;
  bool hasLinear = false, isKnown = true;
  bool areScales = false; ///< of groups
};

class Follower {
public:
  explicit Follower(ModuleOp module) : users(symbols, module) {}

  Family follow(WeightOp weight) {
    Family family;
    addWeight(weight, family);
    for (size_t i = 0; i < family.values.size(); ++i) {
      Value value = family.values[i];
      for (OpOperand &use : value.getUses())
        followUse(use, family);
      followSource(value, family);
    }
    return family;
  }

private:
  void addWeight(WeightOp weight, Family &family) {
    if (!family.weights.insert(weight))
      return;
    family.isKnown &= !isa<PackAttr>(weight.getRecipe());
    for (Operation *user : users.getUsers(weight)) {
      if (auto ref = dyn_cast<WeightRefOp>(user); ref && isa<RankedTensorType>(ref.getType()))
        family.values.insert(ref.getResult());
      else
        family.isKnown = false;
    }
  }

  /// Where a value goes.
  void followUse(OpOperand &use, Family &family) {
    Operation *user = use.getOwner();
    if (auto call = dyn_cast<func::CallOp>(user)) {
      auto callee = symbols.lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
      if (callee && !callee.isExternal())
        family.values.insert(callee.getArgument(use.getOperandNumber()));
      else
        family.isKnown = false;
    } else if (auto group = dyn_cast<GroupOp>(user)) {
      family.values.insert(group.getBody().getArgument(use.getOperandNumber()));
    } else {
      family.isKnown &= readsAnyLayout(use);
      // An expert's outputs begin a panel, on all targets of an artifact.
      if (auto linear = dyn_cast<LinearOp>(user); linear && linear.getExperts())
        family.isKnown &= linear.getOutputs() % kEveryPanel == 0;
      WeightRole role = getWeightRole(use);
      family.areScales |= role == WeightRole::GroupScales;
      family.hasLinear |= role == WeightRole::Matrix || role == WeightRole::GroupScales;
    }
  }

  /// What else becomes the same argument.
  void followSource(Value value, Family &family) {
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument) {
      auto ref = value.getDefiningOp<WeightRefOp>();
      auto weight =
          ref ? symbols.lookupNearestSymbolFrom<WeightOp>(ref, ref.getWeightAttr()) : WeightOp();
      if (weight)
        addWeight(weight, family);
      else
        family.isKnown = false;
      return;
    }
    Operation *owner = argument.getOwner()->getParentOp();
    if (auto group = dyn_cast<GroupOp>(owner)) {
      family.values.insert(group.getInputs()[argument.getArgNumber()]);
      return;
    }
    auto function = dyn_cast<func::FuncOp>(owner);
    if (!function || !argument.getOwner()->isEntryBlock() ||
        function->hasAttr(FoveaDialect::kEntryAttr)) {
      family.isKnown = false;
      return;
    }
    for (Operation *user : users.getUsers(function)) {
      if (auto call = dyn_cast<func::CallOp>(user))
        family.values.insert(call.getOperand(argument.getArgNumber()));
      else
        family.isKnown = false;
    }
  }

  SymbolTableCollection symbols;
  SymbolUserMap users;
};

} // namespace

/// The panels that a level reads, or null for a type that has none.
static PanelsAttr choosePanels(RankedTensorType type, const PanelSizes &sizes) {
  Type element = type.getElementType();
  int64_t interleave = element.isF32()                                ? sizes.f32
                       : element.isF16()                              ? sizes.f16
                       : element.isBF16()                             ? sizes.bf16
                       : element.isInteger(8) || element.isInteger(4) ? sizes.int8
                       : isa<BlocksType>(element)                     ? 4
                                                                      : 0;
  if (type.getRank() != 2 || type.getEncoding() || interleave == 0)
    return {};
  return PanelsAttr::get(type.getContext(), sizes.outputs, interleave);
}

/// Gives a value its type, and the function whose argument it is.
static void setType(Value value, RankedTensorType type) {
  value.setType(type);
  auto argument = dyn_cast<BlockArgument>(value);
  auto function =
      argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  if (function)
    function.setFunctionType(FunctionType::get(type.getContext(),
                                               function.getBody().getArgumentTypes(),
                                               function.getFunctionType().getResults()));
}

int64_t mlir::fovea::packWeights(ModuleOp module, const PanelSizes &sizes) {
  Follower follower(module);
  SmallVector<WeightOp> pending;
  for (auto weight : module.getOps<WeightOp>())
    if (!isa<PackAttr>(weight.getRecipe()))
      pending.push_back(weight);
  llvm::DenseSet<Operation *> done;
  for (WeightOp weight : pending) {
    if (done.contains(weight))
      continue;
    RankedTensorType type = weight.getWeightType();
    PanelsAttr panels = choosePanels(type, sizes);
    Family family;
    if (panels)
      family = follower.follow(weight);
    else
      family.weights.insert(weight);
    // Kernels read blocks in panels alone.
    family.hasLinear |= isa<BlocksType>(type.getElementType());
    if (!family.hasLinear || !family.isKnown)
      panels = PanelsAttr();
    // One for each output at a time.
    if (panels && family.areScales)
      panels = PanelsAttr::get(module.getContext(), sizes.outputs, 1);
    if (panels) {
      auto packed = RankedTensorType::get(type.getShape(), type.getElementType(), panels);
      for (Value value : family.values)
        setType(value, packed);
    }
    for (WeightOp member : family.weights) {
      done.insert(member);
      if (isa<PackAttr>(member.getRecipe()))
        continue;
      auto recipe = PackAttr::get(module.getContext(), member.getRecipe(), panels);
      member.setRecipeAttr(recipe);
      member.setType(cast<RecipeAttrInterface>(Attribute(recipe)).getRecipeType());
    }
  }
  return pending.size();
}
