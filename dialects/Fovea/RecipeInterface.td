// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FOVEA_RECIPE_INTERFACE_TD
#define FOVEA_RECIPE_INTERFACE_TD

include "mlir/IR/OpBase.td"

def RecipeAttrInterface : AttrInterface<"RecipeAttrInterface"> {
  let cppNamespace = "::mlir::fovea";
  let description = [{
    One step of how a weight is computed from stored tensors while the artifact is written. A recipe is
    evaluated in slices of its outermost axis, so that no weight is ever held twice in memory.
  }];
  let methods = [
    InterfaceMethod<"The type of what this recipe gives.",
      "::mlir::RankedTensorType", "getRecipeType">,
    InterfaceMethod<"The recipes this one is made of, each a RecipeAttrInterface.",
      "::llvm::SmallVector<::mlir::Attribute>", "getRecipeInputs">,
    InterfaceMethod<[{
        Write rows [first, first + count) of the outermost axis in memory to `out`, which holds exactly that many
        bytes, without gaps. A row of panels is a panel (`getStorageShape`). Stored tensors are read through `source`.}],
      "::llvm::LogicalResult", "evaluateRows",
      (ins "::mlir::fovea::RecipeSource &":$source, "int64_t":$first, "int64_t":$count, "char *":$out)>,
    InterfaceMethod<"Whether the types of the inputs fit together; reports by `emitError` if not.",
      "::llvm::LogicalResult", "verifyRecipe",
      (ins "::llvm::function_ref<::mlir::InFlightDiagnostic()>":$emitError)>,
  ];
}

#endif // FOVEA_RECIPE_INTERFACE_TD
