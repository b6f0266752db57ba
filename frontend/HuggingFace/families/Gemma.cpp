// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gemma: Llama whose norms store the weight's distance from one and whose token vectors are
// multiplied by the root of their width (Mesnard et al. 2024).
#include "frontend/HuggingFace/Decoder.h"

#include <cmath>

using namespace fovea;

static void describe(JsonObject &config, WeightTable &weights, ModelDescription &model,
                     Problems &problems) {
  Decoder gemma(config, weights, model, problems);
  gemma.headSizeIfAbsent = 256;
  gemma.normOffset = 1;
  gemma.tied = true;
  gemma.projectionBias = gemma.outputBias = config.boolean("attention_bias", false);
  requireBoolean(config, "use_bidirectional_attention", false, problems);
  // Its first release said "gelu" and meant, as `hidden_activation` said later, the approximation
  // by tanh.
  gemma.activationName = "gelu_pytorch_tanh";
  if (config.has("hidden_activation"))
    gemma.keys.activation = "hidden_activation";
  if (config.string("hidden_act", "gelu") == "gelu")
    gemma.keys.activation = "hidden_activation";
  if (!gemma.readWithRotary())
    return;
  model.embeddings.scale = std::sqrt(double(gemma.hidden));
  gemma.describe();
}

Family fovea::gemmaFamily() { return {"gemma", {"GemmaForCausalLM", "GemmaModel"}, describe}; }
