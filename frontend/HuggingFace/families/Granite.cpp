// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Granite: Llama with multipliers on tokens, scores, residuals and logits (IBM 2024; Yang et al.
// 2022).
#include "frontend/HuggingFace/families/Granite.h"

using namespace fovea;

void fovea::describeGranite(Decoder &granite, JsonObject &config, ModelDescription &model,
                            bool fits) {
  granite.projectionBias = granite.outputBias = config.boolean("attention_bias", false);
  auto multiplier = [&](const char *key) { return config.number(key, 1e-9, 1e9, 1); };
  double embeddings = multiplier("embedding_multiplier"), logits = multiplier("logits_scaling");
  double residual = multiplier("residual_multiplier"), scores = multiplier("attention_multiplier");
  if (!granite.readWithRotary() || !fits)
    return;
  model.embeddings.scale = embeddings;
  granite.describe([&](Layer &layer, int64_t) {
    layer.attention.scale = scores;
    layer.aroundAttention.scale = layer.aroundFeedForward.scale = residual;
  });
  for (Head &head : model.heads)
    head.scale = 1 / logits;
}

static void describe(JsonObject &config, WeightTable &weights, ModelDescription &model,
                     Problems &problems) {
  Decoder granite(config, weights, model, problems);
  granite.feedForwardBias = config.boolean("mlp_bias", false);
  describeGranite(granite, config, model, /*fits=*/true);
}

Family fovea::graniteFamily() {
  return {"granite", {"GraniteForCausalLM", "GraniteModel"}, describe};
}
