// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The experts of DeepSeek-V2 and V3: those of a token lie in few groups (of one node each), and
// some see all tokens (DeepSeek-AI 2024, DeepSeek-V2, section 2.2; V3, section 2.1.2).
#include "frontend/HuggingFace/families/DeepSeek.h"

using namespace fovea;

namespace {
struct ExpertSizes {
  int64_t firstLayer = 0, width = 0, shared = 0;
  double scale = 1; ///< On the weights of routed ones.
};
} // namespace

/// What is absent has another value in each family, so that nothing is taken for given.
static std::optional<ExpertSizes> readSizes(JsonObject &config) {
  auto firstLayer = config.integer("first_k_dense_replace", 0, maxLayers);
  auto width = config.integer("moe_intermediate_size", 1, maxWidth);
  auto shared = config.integer("n_shared_experts", 0, maxExperts);
  auto scale = config.number("routed_scaling_factor", 0, 1e9);
  if (config.integer("moe_layer_freq", 1, maxLayers, 1) != 1)
    config.reject("moe_layer_freq", "1, which is built");
  config.ignore({"aux_loss_alpha", "output_router_logits", "seq_aux", "ep_size", "pretraining_tp",
                 "num_nextn_predict_layers", "num_mtp_layers"});
  if (!firstLayer || !width || !shared || !scale)
    return std::nullopt;
  if (*shared * *width <= maxWidth)
    return ExpertSizes{*firstLayer, *width, *shared, *scale};
  config.reject("n_shared_experts", "a number of at most " + std::to_string(maxWidth / *width) +
                                        " experts of this width");
  return std::nullopt;
}

/// Of `count` experts, `chosen` of them for a token.
static bool readGroups(JsonObject &config, Routing &routing, int64_t count, int64_t chosen) {
  constexpr int64_t mostGroups = 64; // as fovea.top_k
  auto groups = config.integer("n_group", 1, mostGroups);
  auto kept = config.integer("topk_group", 1, maxExperts);
  if (!groups || !kept)
    return false;
  if (count % *groups != 0 || count / *groups < routing.groupTop) {
    config.reject("n_group", "a number of equal groups of " + std::to_string(count) +
                                 " experts, of at least " + std::to_string(routing.groupTop));
    return false;
  }
  if (*kept > *groups || *kept * (count / *groups) < chosen) {
    config.reject("topk_group", "at most n_group, " + std::to_string(*groups) +
                                    ", groups that have num_experts_per_tok, " +
                                    std::to_string(chosen) + ", experts together");
    return false;
  }
  // Of all groups nothing is left out.
  bool all = *kept == *groups;
  routing.groups = all ? 1 : *groups;
  routing.chosenGroups = all ? 1 : *kept;
  return true;
}

static void requireScores(JsonObject &config, const std::string &function) {
  if (config.string("scoring_func", function) != function)
    config.reject("scoring_func", quote(function) + ", which is built");
}

static bool readExperts(Decoder &decoder, JsonObject &config, WeightTable &weights, Routing routing,
                        bool grouped) {
  std::optional<ExpertSizes> sizes = readSizes(config);
  decoder.keys.experts = "n_routed_experts";
  bool fits = decoder.readExperts();
  if (fits && grouped)
    fits = readGroups(config, routing, decoder.expertCount, decoder.chosenExperts);
  config.ignore({"n_group", "topk_group"});
  if (!fits || !sizes)
    return false;
  routing.scale = sizes->scale;
  decoder.expertsOf = [=, &decoder, &weights, sizes = *sizes](const std::string &name,
                                                              int64_t i) -> std::optional<Experts> {
    if (i < sizes.firstLayer)
      return std::nullopt;
    Experts experts = decoder.experts(name, sizes.width);
    experts.routing = routing;
    if (routing.scores == Routing::Scores::Sigmoid)
      experts.routing.bias =
          weights.weight(name + "gate.e_score_correction_bias", {decoder.expertCount});
    if (sizes.shared > 0)
      experts.shared = decoder.feedForward(name + "shared_experts.", sizes.shared * sizes.width);
    return experts;
  };
  return true;
}

bool fovea::readSoftmaxExperts(Decoder &decoder, JsonObject &config, WeightTable &weights) {
  Routing routing;
  routing.scores = Routing::Scores::Softmax;
  requireScores(config, "softmax");
  std::string method = config.string("topk_method", "greedy");
  bool grouped = method == "group_limited_greedy";
  if (!grouped && method != "greedy")
    config.reject("topk_method", "\"greedy\" or \"group_limited_greedy\"");
  config.ignore({"norm_topk_prob"}); // without a use, as in transformers
  return readExperts(decoder, config, weights, routing, grouped);
}

bool fovea::readSigmoidExperts(Decoder &decoder, JsonObject &config, WeightTable &weights) {
  Routing routing;
  routing.scores = Routing::Scores::Sigmoid;
  routing.groupTop = 2;
  routing.sumToOne = config.boolean("norm_topk_prob").value_or(true);
  requireScores(config, "sigmoid");
  if (config.string("topk_method", "noaux_tc") != "noaux_tc")
    config.reject("topk_method", "\"noaux_tc\"");
  return readExperts(decoder, config, weights, routing, /*grouped=*/true);
}
