// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gemma 2: norms before and behind attention and feed-forward, soft caps on scores and logits,
// windows in every other layer (Riviere et al. 2024).
#include "frontend/HuggingFace/families/Gemma.h"

#include <cmath>

using namespace fovea;

Gemma2::Gemma2(Decoder &gemma, JsonObject &config, Problems &problems) : gemma(gemma) {
  gemma.headSizeIfAbsent = 256;
  gemma.normOffset = 1;
  gemma.tied = true;
  gemma.activationName = "gelu_pytorch_tanh";
  gemma.keys.activation = "hidden_activation";
  gemma.tensors.feedForwardNorm = "pre_feedforward_layernorm";
  gemma.projectionBias = gemma.outputBias = config.boolean("attention_bias", false);
  requireBoolean(config, "use_bidirectional_attention", false, problems);
  // Left over from Gemma's; `hidden_activation` is read.
  config.ignore({"hidden_act"});
  scoreScale = 1 / std::sqrt(config.number("query_pre_attn_scalar", 1e-6, 1e9, 256));
  auto cap = [&](const char *key) {
    return config.has(key) ? config.number(key, 1e-6, 1e9) : std::nullopt;
  };
  scoreCap = cap("attn_logit_softcapping");
  logitCap = cap("final_logit_softcapping");
  window = readWindow(config);
}

void Gemma2::describe(ModelDescription &model, const std::vector<bool> &windowed,
                      const std::function<void(Layer &, int64_t)> &adjust) {
  model.embeddings.scale = std::sqrt(double(gemma.hidden));
  gemma.describe([&](Layer &layer, int64_t i) {
    layer.attention.scale = scoreScale;
    layer.attention.softcap = scoreCap;
    if (windowed[i])
      layer.attention.window = window;
    std::string name = gemma.nameOf(i);
    layer.aroundAttention.outputNorm = gemma.norm(name + ".post_attention_layernorm");
    layer.aroundFeedForward.outputNorm = gemma.norm(name + ".post_feedforward_layernorm");
    adjust(layer, i);
  });
  for (Head &head : model.heads)
    head.softcap = logitCap;
}

static void describe(JsonObject &config, WeightTable &weights, ModelDescription &model,
                     Problems &problems) {
  Decoder gemma(config, weights, model, problems);
  Gemma2 gemma2(gemma, config, problems);
  config.ignore({"cache_implementation"}); // how a cache is kept, not what is in it
  if (!gemma.readWithRotary())
    return;
  std::vector<bool> windowed =
      readWindowedLayers(config, gemma.layers, [](int64_t i) { return i % 2 == 0; });
  gemma2.describe(model, windowed, [](Layer &, int64_t) {});
}

Family fovea::gemma2Family() { return {"gemma2", {"Gemma2ForCausalLM", "Gemma2Model"}, describe}; }
