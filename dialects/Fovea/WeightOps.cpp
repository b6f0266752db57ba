// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The model record and weights: verifiers.
#include "dialects/Fovea/FoveaDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::fovea;

LogicalResult ModelOp::verify() {
  auto module = dyn_cast_or_null<ModuleOp>((*this)->getParentOp());
  if (!module)
    return emitOpError("expects to stand in a module");
  auto models = module.getOps<ModelOp>();
  if (*models.begin() != *this)
    return emitOpError("expects to be the only one in its module");
  return success();
}

LogicalResult WeightOp::verify() {
  auto recipe = dyn_cast<RecipeAttrInterface>(getRecipe());
  if (!recipe)
    return emitOpError("expects a recipe, got ") << getRecipe();
  if (!getWeightType().hasStaticShape())
    return emitOpError("expects a static shape, got ") << getWeightType();
  if (failed(recipe.verifyRecipe([&] { return emitOpError(); }))) // C2
    return failure();
  if (recipe.getRecipeType() != getWeightType()) // C1
    return emitOpError("expects a recipe for ")
           << getWeightType() << ", got one for " << recipe.getRecipeType();
  return success();
}

LogicalResult WeightRefOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto weight = symbols.lookupNearestSymbolFrom<WeightOp>(*this, getWeightAttr());
  if (!weight) // C1
    return emitOpError("expects a weight named ") << getWeightAttr() << ", found none";
  auto type = cast<ShapedType>(getResult().getType());
  if (type.getShape() != weight.getWeightType().getShape() ||
      type.getElementType() != weight.getWeightType().getElementType()) // C1
    return emitOpError("expects the weight's type ") << weight.getWeightType() << ", got " << type;
  return success();
}
