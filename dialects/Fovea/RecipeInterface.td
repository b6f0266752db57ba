// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FOVEA_RECIPE_INTERFACE_TD
#define FOVEA_RECIPE_INTERFACE_TD

include "mlir/IR/OpBase.td"

def RecipeAttrInterface : AttrInterface<"RecipeAttrInterface"> {
  let cppNamespace = "::mlir::fovea";
  let description = [{
    One step of how a weight is computed from stored tensors while the artifact is written: here what it gives, in
    `weights/` its bytes.
  }];
  let methods = [
    InterfaceMethod<"The type of what this recipe gives.",
      "::mlir::RankedTensorType", "getRecipeType">,
    InterfaceMethod<"Whether the types of the inputs fit together; reports by `emitError` if not.",
      "::llvm::LogicalResult", "verifyRecipe",
      (ins "::llvm::function_ref<::mlir::InFlightDiagnostic()>":$emitError)>,
  ];
}

#endif // FOVEA_RECIPE_INTERFACE_TD
