// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What configurations say of tokens, and of the texts made of them, for readers of all formats.
#ifndef FOVEA_FRONTEND_SPECIALTOKENS_H
#define FOVEA_FRONTEND_SPECIALTOKENS_H

#include "frontend/Json.h"
#include "frontend/ModelDescription.h"

namespace fovea {

/// Tokens of config.json, which the generation_config.json of `folder` overrides. The model's
/// vocabulary must be known.
void readSpecialTokens(JsonObject &config, const std::string &folder, ModelDescription &model,
                       Problems &problems);

} // namespace fovea

#endif // FOVEA_FRONTEND_SPECIALTOKENS_H
