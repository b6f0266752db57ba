// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The model record and weights: verifiers.
#include "dialects/Fovea/FoveaDialect.h"

using namespace mlir;
using namespace mlir::fovea;

LogicalResult ModelOp::verify() {
  auto module = dyn_cast_or_null<ModuleOp>((*this)->getParentOp());
  if (!module) // C1
    return emitOpError("expects to stand in a module");
  auto models = module.getOps<ModelOp>();
  if (*models.begin() != *this) // C2
    return emitOpError("expects to be the only one in its module");
  for (auto [value, name, least] : {std::tuple<std::optional<int64_t>, StringRef, int64_t>(
                                        getMaxPositions(), "max_positions", 1),
                                    {getVocabulary(), "vocabulary", 1},
                                    {getBeginToken(), "begin_token", 0},
                                    {getPadToken(), "pad_token", 0},
                                    {getForcedBeginToken(), "forced_begin_token", 0},
                                    {getForcedEndToken(), "forced_end_token", 0},
                                    {getMinTokens(), "min_tokens", 0},
                                    {getNoRepeatNgram(), "no_repeat_ngram", 1}})
    if (value && *value < least) // C3
      return emitOpError("expects ") << name << " of at least " << least << ", got " << *value;
  for (int64_t token : getSuppressedTokens().value_or(ArrayRef<int64_t>()))
    if (token < 0) // C3
      return emitOpError("expects suppressed_tokens of at least 0, got ") << token;
  for (int64_t token : getEndTokens().value_or(ArrayRef<int64_t>()))
    if (token < 0) // C3
      return emitOpError("expects end_tokens of at least 0, got ") << token;
  return success();
}

LogicalResult WeightOp::verify() {
  auto recipe = dyn_cast<RecipeAttrInterface>(getRecipe());
  if (!recipe) // C1
    return emitOpError("expects a recipe, got ") << getRecipe();
  if (!getWeightType().hasStaticShape()) // C3
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
  Type type = getResult().getType();
  RankedTensorType expected = weight.getWeightType();
  if (isa<MemRefType>(type) && type != getBufferType(expected)) // C2
    return emitOpError("expects the weight's buffer ")
           << getBufferType(expected) << ", got " << type;
  if (isa<RankedTensorType>(type) && type != expected) // C1
    return emitOpError("expects the weight's type ") << expected << ", got " << type;
  return success();
}
