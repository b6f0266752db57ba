// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blenderbot: encoder-decoder with learned positions and norms first (Roller et al. 2021).
#include "frontend/HuggingFace/Bart.h"

using namespace fovea;

static void describe(JsonObject &config, WeightTable &weights, ModelDescription &model,
                     Problems &problems) {
  Bart blenderbot(config, weights, model, problems);
  blenderbot.normsFirst = true;
  blenderbot.tokenNorm = false;
  blenderbot.positionOffset = 0;
  requireBoolean(config, "normalize_before", true, problems);
  requireBoolean(config, "normalize_embedding", false, problems);
  blenderbot.describe();
}

Family fovea::blenderbotFamily() {
  return {"blenderbot",
          {"BlenderbotForConditionalGeneration", "BlenderbotModel"},
          describe,
          /*isEncoderDecoder=*/true};
}
