// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PEGASUS: encoder-decoder with sinusoidal positions and norms first (Zhang et al. 2020).
#include "frontend/HuggingFace/Bart.h"

using namespace fovea;

static void describe(JsonObject &config, WeightTable &weights, ModelDescription &model,
                     Problems &problems) {
  Bart pegasus(config, weights, model, problems);
  pegasus.normsFirst = true;
  pegasus.tokenNorm = false;
  pegasus.sinusoids = Sinusoids{};
  requireBoolean(config, "normalize_before", true, problems);
  requireBoolean(config, "normalize_embedding", false, problems);
  pegasus.describe();
}

Family fovea::pegasusFamily() {
  return {"pegasus",
          {"PegasusForConditionalGeneration", "PegasusModel"},
          describe,
          /*isEncoderDecoder=*/true};
}
