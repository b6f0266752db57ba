// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the steps of weight recipes have in common.
#ifndef FOVEA_DIALECTS_FOVEA_RECIPES_H
#define FOVEA_DIALECTS_FOVEA_RECIPES_H

#include "dialects/Fovea/FoveaDialect.h"

namespace mlir::fovea {

inline RecipeAttrInterface recipe(Attribute attr) { return cast<RecipeAttrInterface>(attr); }

/// Bytes of one row of the outermost axis.
int64_t rowBytes(RankedTensorType type);

/// Checks that all inputs are recipes, right in themselves, and do not give panels.
LogicalResult verifyInputs(ArrayRef<Attribute> inputs,
                           function_ref<InFlightDiagnostic()> emitError);

/// Checks that the bytes of a tensor of this shape can be counted in 63 bits: all sizes that
/// evaluation computes are products of some of the axes.
LogicalResult verifyBytes(ArrayRef<int64_t> shape, Type elementType,
                          function_ref<InFlightDiagnostic()> emitError);

} // namespace mlir::fovea

#endif // FOVEA_DIALECTS_FOVEA_RECIPES_H
