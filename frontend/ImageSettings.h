// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What preprocessor_config.json says of the pictures that a model is given, for readers of all
// formats.
#ifndef FOVEA_FRONTEND_IMAGESETTINGS_H
#define FOVEA_FRONTEND_IMAGESETTINGS_H

#include "frontend/ModelDescription.h"
#include "frontend/Problem.h"

namespace fovea {

/// The settings of the image processor in `folder`, whose pictures must fit `patches`; nothing if
/// there is none, or if a problem was added.
std::optional<ImageSettings> readImageSettings(const std::string &folder, const Patches &patches,
                                               Problems &problems);

} // namespace fovea

#endif // FOVEA_FRONTEND_IMAGESETTINGS_H
