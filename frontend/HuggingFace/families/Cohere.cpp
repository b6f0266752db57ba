// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cohere's Command R: attention and feed-forward side by side behind one layer norm without bias,
// rotary embedding of neighbouring elements, scaled logits (Cohere 2024).
#include "frontend/HuggingFace/Decoder.h"

using namespace fovea;

static void describe(JsonObject &config, WeightTable &weights, ModelDescription &model,
                     Problems &problems) {
  Decoder cohere(config, weights, model, problems);
  cohere.norms = Norm::Kind::Layer;
  cohere.normBias = false;
  cohere.keys.epsilon = "layer_norm_eps";
  cohere.epsilon = 1e-5;
  cohere.tied = true;
  cohere.projectionBias = cohere.outputBias = config.boolean("attention_bias", false);
  cohere.tensors.feedForwardNorm = "";
  double logitScale = config.number("logit_scale", 1e-9, 1e9, 0.0625);
  requireBoolean(config, "use_qk_norm", false, problems);
  if (!cohere.read())
    return;
  cohere.rotary =
      readRotary(config, cohere.headSize, cohere.positions, problems, {"", "rope_theta", 5e5});
  if (!cohere.rotary)
    return;
  cohere.rotary->interleaved = true;
  cohere.describe([](Layer &layer, int64_t) { layer.parallel = true; });
  for (Head &head : model.heads)
    head.scale = logitScale;
}

Family fovea::cohereFamily() { return {"cohere", {"CohereForCausalLM", "CohereModel"}, describe}; }
