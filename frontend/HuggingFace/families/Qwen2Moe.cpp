// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Qwen 2 with experts: one of them, as wide as all that are chosen, is shared by all tokens, behind
// a gate of its own (Yang et al. 2024).
#include "frontend/HuggingFace/families/Qwen.h"
#include "frontend/HuggingFace/families/QwenMoe.h"

#include <set>

using namespace fovea;

bool fovea::readQwenExperts(Decoder &qwen, JsonObject &config,
                            std::function<void(Experts &, const std::string &)> adjust) {
  bool normalized = config.boolean("norm_topk_prob", false);
  int64_t step = config.integer("decoder_sparse_step", 1, maxLayers, 1);
  auto width = config.integer("moe_intermediate_size", 1, maxWidth);
  std::set<double> dense;
  if (config.has("mlp_only_layers"))
    for (double layer :
         config.numbers("mlp_only_layers", 0, maxLayers).value_or(std::vector<double>()))
      dense.insert(layer);
  config.ignore({"router_aux_loss_coef", "output_router_logits"});
  bool fits = qwen.readExperts();
  qwen.expertsOf = [=, &qwen](const std::string &name, int64_t i) -> std::optional<Experts> {
    if (dense.count(i) || (i + 1) % step != 0)
      return std::nullopt;
    Experts experts = qwen.experts(name, *width);
    if (!normalized)
      experts.routing.scores = Routing::Scores::Softmax;
    adjust(experts, name);
    return experts;
  };
  return fits && width;
}

static void describe(JsonObject &config, WeightTable &weights, ModelDescription &model,
                     Problems &problems) {
  Decoder qwen(config, weights, model, problems);
  qwen.projectionBias = config.boolean("qkv_bias", true);
  auto width = config.integer("shared_expert_intermediate_size", 1, maxWidth);
  bool fits = readQwenExperts(qwen, config, [&](Experts &experts, const std::string &name) {
    experts.shared = qwen.feedForward(name + "shared_expert.", *width);
    experts.sharedGate = weights.linear(name + "shared_expert_gate", 1, qwen.hidden, false);
  });
  if (fits && width)
    describeQwen(qwen, config, [](Layer &, int64_t) {});
}

Family fovea::qwen2MoeFamily() {
  return {"qwen2_moe", {"Qwen2MoeForCausalLM", "Qwen2MoeModel"}, describe};
}
