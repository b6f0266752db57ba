// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Mixtral: Mistral whose feed-forward layers are experts (Jiang et al. 2024).
#include "frontend/HuggingFace/Decoder.h"

using namespace fovea;

static void describe(JsonObject &config, WeightTable &weights, ModelDescription &model,
                     Problems &problems) {
  Decoder mixtral(config, weights, model, problems);
  mixtral.epsilon = 1e-5;
  mixtral.tensors.feedForward = "block_sparse_moe";
  mixtral.expertTensors.gate = "w1";
  mixtral.expertTensors.up = "w3";
  mixtral.expertTensors.down = "w2";
  config.ignore({"router_aux_loss_coef", "output_router_logits", "router_jitter_noise"});
  std::optional<int64_t> window = readWindow(config);
  bool fits = mixtral.readExperts();
  if (!mixtral.readWithRotary() || !fits)
    return;
  mixtral.expertsOf = [&](const std::string &name, int64_t) {
    return mixtral.experts(name, mixtral.width);
  };
  mixtral.describe([&](Layer &layer, int64_t) { layer.attention.window = window; });
}

Family fovea::mixtralFamily() {
  return {"mixtral", {"MixtralForCausalLM", "MixtralModel"}, describe};
}
