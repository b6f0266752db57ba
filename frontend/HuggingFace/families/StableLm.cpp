// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// StableLM: Llama with layer norms and partial rotary embedding, in sequence or side by side
// (Bellagente et al. 2024).
#include "frontend/HuggingFace/Decoder.h"

using namespace fovea;

static void describe(JsonObject &config, WeightTable &weights, ModelDescription &model,
                     Problems &problems) {
  Decoder stable(config, weights, model, problems);
  stable.norms = Norm::Kind::Layer;
  stable.keys.epsilon = "layer_norm_eps";
  stable.epsilon = 1e-5;
  stable.projectionBias = config.boolean("use_qkv_bias", false);
  bool parallel = config.boolean("use_parallel_residual", false);
  if (parallel)
    stable.tensors.feedForwardNorm = "";
  requireBoolean(config, "qk_layernorm", false, problems);
  if (!stable.read())
    return;
  RotaryKeys keys;
  keys.partIfAbsent = 0.25;
  stable.rotary = readRotary(config, stable.headSize, stable.positions, problems, keys);
  if (stable.rotary)
    stable.describe([&](Layer &layer, int64_t) { layer.parallel = parallel; });
}

Family fovea::stableLmFamily() {
  return {"stablelm", {"StableLmForCausalLM", "StableLmModel"}, describe};
}
