// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Qwen 3: Qwen 2 whose queries and keys are normed head by head instead of biased (Yang et al.
// 2025).
#include "frontend/HuggingFace/families/Qwen.h"

using namespace fovea;

void fovea::describeQwen3(Decoder &qwen, JsonObject &config) {
  qwen.headSizeIfAbsent = 128;
  qwen.projectionBias = qwen.outputBias = config.boolean("attention_bias", false);
  describeQwen(qwen, config, [&](Layer &layer, int64_t i) { qwen.normQueriesAndKeys(layer, i); });
}

static void describe(JsonObject &config, WeightTable &weights, ModelDescription &model,
                     Problems &problems) {
  Decoder qwen(config, weights, model, problems);
  describeQwen3(qwen, config);
}

Family fovea::qwen3Family() { return {"qwen3", {"Qwen3ForCausalLM", "Qwen3Model"}, describe}; }
