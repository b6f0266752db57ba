// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mBART: BART with norms first (Liu et al. 2020).
#include "frontend/HuggingFace/Bart.h"

using namespace fovea;

static void describe(JsonObject &config, WeightTable &weights, ModelDescription &model,
                     Problems &problems) {
  Bart mbart(config, weights, model, problems);
  mbart.normsFirst = true;
  requireBoolean(config, "normalize_before", true, problems);
  mbart.describe();
}

Family fovea::mBartFamily() {
  return {"mbart",
          {"MBartForConditionalGeneration", "MBartModel"},
          describe,
          /*isEncoderDecoder=*/true};
}
