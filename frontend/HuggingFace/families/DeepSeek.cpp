// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// DeepSeek-V2 and V3: attention to latents, and experts in groups beside those that all tokens
// share (DeepSeek-AI 2024). Layers that predict further tokens are not read.
#include "frontend/HuggingFace/families/DeepSeek.h"

#include <cmath>

using namespace fovea;

namespace {
struct LatentSizes {
  std::optional<int64_t> queryRank; ///< Absent: queries are made of the layer's input.
  int64_t rank = 0, plain = 0, rotated = 0, value = 0;
  bool bias = false;
};
} // namespace

static std::optional<LatentSizes> readLatentSizes(JsonObject &config) {
  LatentSizes sizes;
  auto rank = config.integer("kv_lora_rank", 1, maxWidth);
  auto plain = config.integer("qk_nope_head_dim", 1, maxWidth);
  auto rotated = config.integer("qk_rope_head_dim", 1, maxWidth);
  auto value = config.integer("v_head_dim", 1, maxWidth);
  bool fits = rank && plain && rotated && value;
  if (config.has("q_lora_rank")) {
    sizes.queryRank = config.integer("q_lora_rank", 1, maxWidth);
    fits = fits && sizes.queryRank;
  }
  sizes.bias = config.boolean("attention_bias", false);
  // The second is qk_rope_head_dim again, and there is one key of all heads.
  config.ignore({"q_lora_rank", "head_dim", "num_key_value_heads"});
  if (!fits)
    return std::nullopt;
  sizes.rank = *rank;
  sizes.plain = *plain;
  sizes.rotated = *rotated;
  sizes.value = *value;
  if (config.has("qk_head_dim") &&
      config.integer("qk_head_dim", 1, maxWidth) != sizes.plain + sizes.rotated)
    config.reject("qk_head_dim", "qk_nope_head_dim and qk_rope_head_dim together, " +
                                     std::to_string(sizes.plain + sizes.rotated));
  return sizes;
}

/// The matrices of a head's keys and values, of which keys' are met by queries, transposed.
static void readUpProjections(LatentAttention &latent, WeightTable &weights,
                              const std::string &name, int64_t heads, const LatentSizes &sizes) {
  RowGroups keys = {heads, sizes.plain + sizes.value, 0, sizes.plain};
  latent.toLatent = weights.linearPart(name, "key", keys, sizes.rank, false);
  latent.toLatent.weight.order = AxisOrder{{heads, sizes.plain, sizes.rank}, {0, 2, 1}};
  latent.toLatent.weight.shape = {heads * sizes.rank, sizes.plain};
  RowGroups values = {heads, sizes.plain + sizes.value, sizes.plain, sizes.value};
  latent.fromLatent = weights.linearPart(name, "value", values, sizes.rank, false);
}

static void project(Attention &attention, WeightTable &weights, const std::string &name,
                    int64_t hidden, const LatentSizes &sizes) {
  constexpr double epsilon = 1e-6; // of the norms of low rank, whatever rms_norm_eps says
  int64_t heads = attention.heads, size = sizes.plain + sizes.rotated;
  attention.keyValueHeads = 1;
  attention.headSize = sizes.rank + sizes.rotated;
  attention.valueSize = sizes.rank;
  attention.scale = attention.rotary->scoreFactor / std::sqrt(double(size));
  LatentAttention latent;
  std::string query = name + "q_proj";
  if (sizes.queryRank) {
    latent.queryDown = weights.linear(name + "q_a_proj", *sizes.queryRank, hidden, sizes.bias);
    latent.queryNorm = weights.rmsNorm(name + "q_a_layernorm", *sizes.queryRank, epsilon);
    query = name + "q_b_proj";
  }
  int64_t low = sizes.queryRank.value_or(hidden);
  attention.query = weights.linearPart(query, "plain", {heads, size, 0, sizes.plain}, low, false);
  latent.queryRotated =
      weights.linearPart(query, "rotated", {heads, size, sizes.plain, sizes.rotated}, low, false);
  std::string key = name + "kv_a_proj_with_mqa";
  int64_t stored = sizes.rank + sizes.rotated;
  attention.key = weights.linearPart(key, "latent", {1, stored, 0, sizes.rank}, hidden, sizes.bias);
  latent.keyRotated = weights.linearPart(key, "rotated", {1, stored, sizes.rank, sizes.rotated},
                                         hidden, sizes.bias);
  attention.keyNorm = weights.rmsNorm(name + "kv_a_layernorm", sizes.rank, epsilon);
  readUpProjections(latent, weights, name + "kv_b_proj", heads, sizes);
  attention.latent = std::move(latent);
  attention.output = weights.linear(name + "o_proj", hidden, heads * sizes.value, sizes.bias);
}

static void describe(Decoder &decoder, JsonObject &config, WeightTable &weights, bool fits,
                     bool interleaved) {
  std::optional<LatentSizes> sizes = readLatentSizes(config);
  decoder.keys.headSize = "qk_rope_head_dim";
  decoder.keys.keyValueHeads = "";
  if (!decoder.readWithRotary() || !fits || !sizes)
    return;
  if (decoder.rotary->dim != sizes->rotated)
    return config.reject("partial_rotary_factor", "1: all of qk_rope_head_dim is rotated");
  decoder.rotary->interleaved = interleaved;
  decoder.projectionsOf = [&](Attention &attention, const std::string &name) {
    project(attention, weights, name, decoder.hidden, *sizes);
  };
  decoder.describe();
}

static void describeV2(JsonObject &config, WeightTable &weights, ModelDescription &model,
                       Problems &problems) {
  Decoder decoder(config, weights, model, problems);
  decoder.feedForwardBias = config.boolean("mlp_bias", false);
  bool fits = readSoftmaxExperts(decoder, config, weights);
  describe(decoder, config, weights, fits, /*interleaved=*/true);
}

static void describeV3(JsonObject &config, WeightTable &weights, ModelDescription &model,
                       Problems &problems) {
  Decoder decoder(config, weights, model, problems);
  bool interleaved = config.boolean("rope_interleave", true);
  bool fits = readSigmoidExperts(decoder, config, weights);
  describe(decoder, config, weights, fits, interleaved);
}

Family fovea::deepSeekV2Family() {
  return {"deepseek_v2", {"DeepseekV2ForCausalLM", "DeepseekV2Model"}, describeV2};
}

Family fovea::deepSeekV3Family() {
  return {"deepseek_v3", {"DeepseekV3ForCausalLM", "DeepseekV3Model"}, describeV3};
}
