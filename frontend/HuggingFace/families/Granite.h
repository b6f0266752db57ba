// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What Granite with and without experts have in common.
#ifndef FOVEA_FRONTEND_HUGGINGFACE_FAMILIES_GRANITE_H
#define FOVEA_FRONTEND_HUGGINGFACE_FAMILIES_GRANITE_H

#include "frontend/HuggingFace/Decoder.h"

namespace fovea {

/// All of a model, unless it does not fit.
void describeGranite(Decoder &granite, JsonObject &config, ModelDescription &model, bool fits);

} // namespace fovea

#endif // FOVEA_FRONTEND_HUGGINGFACE_FAMILIES_GRANITE_H
