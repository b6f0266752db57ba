// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Granite: Llama with multipliers on tokens, scores, residuals and logits (IBM 2024; Yang et al.
// 2022).
#include "frontend/HuggingFace/Decoder.h"

using namespace fovea;

static void describe(JsonObject &config, WeightTable &weights, ModelDescription &model,
                     Problems &problems) {
  Decoder granite(config, weights, model, problems);
  granite.projectionBias = granite.outputBias = config.boolean("attention_bias", false);
  granite.feedForwardBias = config.boolean("mlp_bias", false);
  auto multiplier = [&](const char *key) { return config.number(key, 1e-9, 1e9, 1); };
  double embeddings = multiplier("embedding_multiplier"), logits = multiplier("logits_scaling");
  double residual = multiplier("residual_multiplier"), scores = multiplier("attention_multiplier");
  if (!granite.readWithRotary())
    return;
  model.embeddings.scale = embeddings;
  granite.describe([&](Layer &layer, int64_t) {
    layer.attention.scale = scores;
    layer.aroundAttention.scale = layer.aroundFeedForward.scale = residual;
  });
  for (Head &head : model.heads)
    head.scale = 1 / logits;
}

Family fovea::graniteFamily() {
  return {"granite", {"GraniteForCausalLM", "GraniteModel"}, describe};
}
