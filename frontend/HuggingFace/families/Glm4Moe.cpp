// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// GLM-4.5: DeepSeek-V3's experts behind attention of grouped heads (Zhipu AI 2025). Layers that
// predict further tokens are not read.
#include "frontend/HuggingFace/families/DeepSeek.h"

using namespace fovea;

static void describe(JsonObject &config, WeightTable &weights, ModelDescription &model,
                     Problems &problems) {
  Decoder glm(config, weights, model, problems);
  glm.epsilon = 1e-5;
  glm.headsDivide = !config.has("head_dim"); // 96 of 128 elements, width 4096
  glm.projectionBias = config.boolean("attention_bias", false);
  bool normed = config.boolean("use_qk_norm", false);
  bool fits = readSigmoidExperts(glm, config, weights);
  if (!glm.read() || !fits)
    return;
  RotaryKeys keys;
  keys.partIfAbsent = 0.5;
  glm.rotary = readRotary(config, glm.headSize, glm.positions, problems, keys);
  if (!glm.rotary)
    return;
  glm.describe([&](Layer &layer, int64_t i) {
    if (normed)
      glm.normQueriesAndKeys(layer, i);
  });
}

Family fovea::glm4MoeFamily() {
  return {"glm4_moe", {"Glm4MoeForCausalLM", "Glm4MoeModel"}, describe};
}
