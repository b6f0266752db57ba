// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Llama: pre-norm decoder with RMS norms, rotary positions, grouped heads and a
// gated feed-forward (Touvron et al. 2023). Its configuration keys and tensors.
#include "frontend/HuggingFace/Family.h"

#include <algorithm>
#include <cmath>

using namespace fovea;

namespace {
/// What the configuration says of a layer.
struct Sizes {
  int64_t hidden, width, heads, kvHeads, headSize;
  double epsilon;
  bool attentionBias, feedForwardBias;
  std::optional<Activation> activation;
  std::optional<Rotary> rotary;
};
} // namespace

static Layer makeLayer(const std::string &name, WeightTable &weights, const Sizes &sizes) {
  Layer layer;
  layer.name = weights.prefix() + name;
  layer.placement = NormPlacement::Pre;
  layer.attentionNorm = weights.rmsNorm(name + ".input_layernorm", sizes.hidden, sizes.epsilon);
  layer.feedForwardNorm =
      weights.rmsNorm(name + ".post_attention_layernorm", sizes.hidden, sizes.epsilon);

  Attention &attention = layer.attention;
  attention.name = layer.name + ".self_attn";
  attention.heads = sizes.heads;
  attention.keyValueHeads = sizes.kvHeads;
  attention.headSize = sizes.headSize;
  attention.scale = 1 / std::sqrt(double(sizes.headSize));
  attention.causal = true;
  attention.rotary = sizes.rotary;
  auto projection = [&](const char *which, int64_t out, int64_t in) {
    return weights.linear(name + ".self_attn." + which, out, in, sizes.attentionBias);
  };
  attention.query = projection("q_proj", sizes.heads * sizes.headSize, sizes.hidden);
  attention.key = projection("k_proj", sizes.kvHeads * sizes.headSize, sizes.hidden);
  attention.value = projection("v_proj", sizes.kvHeads * sizes.headSize, sizes.hidden);
  attention.output = projection("o_proj", sizes.hidden, sizes.heads * sizes.headSize);

  FeedForward &feedForward = layer.feedForward;
  feedForward.name = layer.name + ".mlp";
  feedForward.activation = *sizes.activation;
  auto part = [&](const char *which, int64_t out, int64_t in) {
    return weights.linear(name + ".mlp." + which, out, in, sizes.feedForwardBias);
  };
  feedForward.gate = part("gate_proj", sizes.width, sizes.hidden);
  feedForward.up = part("up_proj", sizes.width, sizes.hidden);
  feedForward.down = part("down_proj", sizes.hidden, sizes.width);
  return layer;
}

static void describe(JsonObject &config, WeightTable &weights, ModelDescription &model,
                     Problems &problems) {
  Sizes sizes;
  auto hidden = config.integer("hidden_size", 1, maxWidth);
  auto width = config.integer("intermediate_size", 1, maxWidth);
  auto layers = config.integer("num_hidden_layers", 1, maxLayers);
  auto heads = config.integer("num_attention_heads", 1, maxHeads);
  auto vocabulary = config.integer("vocab_size", 1, maxVocabulary);
  auto positions = config.integer("max_position_embeddings", 1, maxPositions);
  sizes.activation = readActivation(config, "hidden_act", "silu");
  sizes.epsilon = config.number("rms_norm_eps", 0, 1, 1e-6);
  sizes.attentionBias = config.boolean("attention_bias", false);
  sizes.feedForwardBias = config.boolean("mlp_bias", false);
  bool tied = config.boolean("tie_word_embeddings", false);
  // Slices the products; the same numbers up to the order of sums.
  config.integer("pretraining_tp", 1, 1024, 1);
  // Read below, once the sizes are known.
  config.ignore({"head_dim", "num_key_value_heads", "rope_theta", "rope_scaling", "rope_parameters",
                 "partial_rotary_factor", "original_max_position_embeddings"});
  config.reportUnread("could change numbers and is not understood");
  if (!hidden || !width || !layers || !heads || !vocabulary || !positions)
    return;
  sizes.hidden = *hidden;
  sizes.width = *width;
  sizes.heads = *heads;

  size_t before = problems.size();
  bool fits = *hidden % *heads == 0;
  if (!fits)
    config.reject("hidden_size", "a multiple of num_attention_heads, " + std::to_string(*heads));
  sizes.headSize = config.integer("head_dim", 1, maxWidth, *hidden / *heads);
  sizes.kvHeads = config.integer("num_key_value_heads", 1, maxHeads, *heads);
  if (*heads % sizes.kvHeads != 0) {
    config.reject("num_key_value_heads",
                  "a divisor of num_attention_heads, " + std::to_string(*heads));
    fits = false;
  }
  sizes.rotary = readRotary(config, sizes.headSize, *positions, problems);
  // A size that is no size says nothing of the weights' shapes.
  if (!sizes.activation || !sizes.rotary || !fits || problems.size() != before)
    return;

  model.kind = ModelDescription::Kind::Decoder;
  model.vocabulary = *vocabulary;
  model.hidden = *hidden;
  model.maxPositions = *positions;
  // This kind alone stretches past what the configuration calls the longest.
  if (sizes.rotary->kind == Rotary::Kind::Dynamic)
    model.maxPositions = static_cast<int64_t>(
        std::min(double(*positions) * std::max(sizes.rotary->factor, 1.0), double(maxPositions)));

  weights.choosePrefix({"model.", ""}, "embed_tokens.weight");
  model.embeddings.name = weights.prefix() + "embed_tokens";
  model.embeddings.token = weights.weight("embed_tokens.weight", {*vocabulary, *hidden});
  for (int64_t i = 0; i < *layers; ++i)
    model.layers.push_back(makeLayer("layers." + std::to_string(i), weights, sizes));
  model.finalNorm = weights.rmsNorm("norm", *hidden, sizes.epsilon);
  if (model.architecture == "LlamaForCausalLM")
    model.head = weights.head("lm_head", tied, model.embeddings.token);
  weights.reportUnused({"rotary_emb.inv_freq"});
}

Family fovea::llamaFamily() { return {"llama", {"LlamaForCausalLM", "LlamaModel"}, describe}; }
