// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tokens between an encoder-decoder's begin token and the text that it writes, as Whisper's
// generation_config.json tells them. What is at fault there becomes a problem.
#ifndef FOVEA_FRONTEND_PROMPT_H
#define FOVEA_FRONTEND_PROMPT_H

#include "frontend/Json.h"
#include "frontend/ModelDescription.h"

namespace fovea {

/// Fills `model.prompt`, whose vocabulary is set.
void readPrompt(JsonObject &config, ModelDescription &model, Problems &problems);

} // namespace fovea

#endif // FOVEA_FRONTEND_PROMPT_H
