// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Llama: pre-norm decoder with RMS norms, rotary positions, grouped heads and a
// gated feed-forward (Touvron et al. 2023).
#include "frontend/HuggingFace/Decoder.h"

using namespace fovea;

static void describe(JsonObject &config, WeightTable &weights, ModelDescription &model,
                     Problems &problems) {
  Decoder llama(config, weights, model, problems);
  llama.projectionBias = llama.outputBias = config.boolean("attention_bias", false);
  llama.feedForwardBias = config.boolean("mlp_bias", false);
  // Slices the products; the same numbers up to the order of sums.
  config.integer("pretraining_tp", 1, 1024, 1);
  if (llama.readWithRotary())
    llama.describe();
}

Family fovea::llamaFamily() { return {"llama", {"LlamaForCausalLM", "LlamaModel"}, describe}; }
