// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// OLMo 2: Llama with norms behind attention and feed-forward instead of before them, and on queries
// and keys (OLMo team 2025).
#include "frontend/HuggingFace/families/Olmo.h"

using namespace fovea;

void fovea::beginOlmo(Decoder &olmo, JsonObject &config) {
  olmo.epsilon = 1e-5;
  olmo.tensors.attentionNorm = olmo.tensors.feedForwardNorm = "";
  olmo.projectionBias = olmo.outputBias = config.boolean("attention_bias", false);
}

void fovea::adjustOlmo(Decoder &olmo, Layer &layer, int64_t i) {
  std::string name = olmo.nameOf(i);
  layer.aroundAttention.outputNorm = olmo.norm(name + ".post_attention_layernorm");
  layer.aroundFeedForward.outputNorm = olmo.norm(name + ".post_feedforward_layernorm");
  olmo.normQueriesAndKeys(layer, i, /*together=*/true);
}

static void describe(JsonObject &config, WeightTable &weights, ModelDescription &model,
                     Problems &problems) {
  Decoder olmo(config, weights, model, problems);
  beginOlmo(olmo, config);
  if (olmo.readWithRotary())
    olmo.describe([&](Layer &layer, int64_t i) { adjustOlmo(olmo, layer, i); });
}

Family fovea::olmo2Family() { return {"olmo2", {"Olmo2ForCausalLM", "Olmo2Model"}, describe}; }
