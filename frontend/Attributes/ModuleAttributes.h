// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a description says of what a model is given and gives, as attributes of its module
// (dialects/Fovea/Ports.h).
#ifndef FOVEA_FRONTEND_ATTRIBUTES_MODULEATTRIBUTES_H
#define FOVEA_FRONTEND_ATTRIBUTES_MODULEATTRIBUTES_H

#include "frontend/ModelDescription.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::fovea {

/// The labels of a classifier, if there are any, and what makes probabilities of its scores.
void setLabels(ModuleOp module, const ::fovea::ModelDescription &model);
/// What a picture becomes before an entry takes it, if the source says it.
void setImages(ModuleOp module, const std::optional<::fovea::ImageSettings> &images);

} // namespace mlir::fovea

#endif // FOVEA_FRONTEND_ATTRIBUTES_MODULEATTRIBUTES_H
