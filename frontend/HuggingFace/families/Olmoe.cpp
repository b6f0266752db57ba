// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// OLMoE: experts, and norms over all heads' queries and keys (Muennighoff et al. 2024).
#include "frontend/HuggingFace/Decoder.h"

using namespace fovea;

static void describe(JsonObject &config, WeightTable &weights, ModelDescription &model,
                     Problems &problems) {
  Decoder olmoe(config, weights, model, problems);
  olmoe.epsilon = 1e-5;
  olmoe.projectionBias = olmoe.outputBias = config.boolean("attention_bias", false);
  bool normalized = config.boolean("norm_topk_prob", false);
  if (config.has("clip_qkv"))
    config.reject("clip_qkv", "null: queries, keys and values that are clipped are not built");
  config.ignore({"router_aux_loss_coef", "output_router_logits"});
  bool fits = olmoe.readExperts();
  if (!olmoe.readWithRotary() || !fits)
    return;
  olmoe.expertsOf = [&](const std::string &name, int64_t) {
    Experts experts = olmoe.experts(name, olmoe.width);
    if (!normalized)
      experts.routing.scores = Routing::Scores::Softmax;
    return experts;
  };
  olmoe.describe(
      [&](Layer &layer, int64_t i) { olmoe.normQueriesAndKeys(layer, i, /*together=*/true); });
}

Family fovea::olmoeFamily() { return {"olmoe", {"OlmoeForCausalLM", "OlmoeModel"}, describe}; }
