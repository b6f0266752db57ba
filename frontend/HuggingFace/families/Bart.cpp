// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// BART: encoder-decoder with learned positions, norms behind and one behind the tokens (Lewis et
// al. 2020).
#include "frontend/HuggingFace/Bart.h"

using namespace fovea;

static void describe(JsonObject &config, WeightTable &weights, ModelDescription &model,
                     Problems &problems) {
  Bart bart(config, weights, model, problems);
  requireBoolean(config, "normalize_before", false, problems);
  bart.describe();
}

Family fovea::bartFamily() {
  return {
      "bart", {"BartForConditionalGeneration", "BartModel"}, describe, /*isEncoderDecoder=*/true};
}
