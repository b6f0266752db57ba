// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Mistral: Llama whose queries see a window of keys (Jiang et al. 2023).
#include "frontend/HuggingFace/Decoder.h"

using namespace fovea;

static void describe(JsonObject &config, WeightTable &weights, ModelDescription &model,
                     Problems &problems) {
  Decoder mistral(config, weights, model, problems);
  std::optional<int64_t> window = readWindow(config);
  if (mistral.readWithRotary())
    mistral.describe([&](Layer &layer, int64_t) { layer.attention.window = window; });
}

Family fovea::mistralFamily() {
  return {"mistral", {"MistralForCausalLM", "MistralModel"}, describe};
}
