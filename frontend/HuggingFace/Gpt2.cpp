// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// GPT-2: pre-norm decoder with layer norms and learned positions (Radford et
// al. 2019). Its matrices are stored [in, out], and one of them gives query,
// key and value together.
#include "frontend/HuggingFace/Family.h"

#include <cmath>

using namespace fovea;

static void describe(JsonObject &config, WeightTable &weights, ModelDescription &model,
                     Problems &problems) {
  auto hidden = config.integer("n_embd", 1, maxWidth);
  auto layers = config.integer("n_layer", 1, maxLayers);
  auto heads = config.integer("n_head", 1, maxHeads);
  auto vocabulary = config.integer("vocab_size", 1, maxVocabulary);
  auto positions = config.integer("n_positions", 1, maxPositions);
  auto activation = readActivation(config, "activation_function", "gelu_new");
  double epsilon = config.number("layer_norm_epsilon", 0, 1, 1e-5);
  bool scaled = config.boolean("scale_attn_weights", true);
  bool scaledByLayer = config.boolean("scale_attn_by_inverse_layer_idx", false);
  bool tied = config.boolean("tie_word_embeddings", true);
  // The order of scaling and product in half precision: f32 has no use for it.
  config.boolean("reorder_and_upcast_attn", false);
  requireBoolean(config, "add_cross_attention", false, problems);
  // Heads of other tasks; an older name of n_positions.
  config.ignore({"n_ctx", "summary_type", "summary_use_proj", "summary_activation",
                 "summary_proj_to_labels", "summary_first_dropout"});
  // Read below, once the sizes are known.
  config.ignore({"n_inner"});
  config.reportUnread("could change numbers and is not understood");
  if (!hidden || !layers || !heads || !vocabulary || !positions)
    return;
  size_t before = problems.size();
  int64_t width = config.integer("n_inner", 1, maxWidth, 4 * *hidden);
  bool fits = *hidden % *heads == 0;
  if (!fits)
    config.reject("n_embd", "a multiple of n_head, " + std::to_string(*heads));
  if (!activation || !fits || problems.size() != before)
    return;

  model.kind = ModelDescription::Kind::Decoder;
  model.vocabulary = *vocabulary;
  model.hidden = *hidden;
  model.maxPositions = *positions;

  weights.choosePrefix({"transformer.", ""}, "wte.weight");
  model.embeddings.name = weights.prefix() + "wte";
  model.embeddings.token = weights.weight("wte.weight", {*vocabulary, *hidden});
  model.embeddings.position = weights.weight("wpe.weight", {*positions, *hidden});
  int64_t headSize = *hidden / *heads;
  for (int64_t i = 0; i < *layers; ++i) {
    std::string name = "h." + std::to_string(i);
    Layer layer;
    layer.name = weights.prefix() + name;
    layer.placement = NormPlacement::Pre;
    layer.attentionNorm = weights.layerNorm(name + ".ln_1", *hidden, epsilon);
    layer.feedForwardNorm = weights.layerNorm(name + ".ln_2", *hidden, epsilon);

    Attention &attention = layer.attention;
    attention.name = layer.name + ".attn";
    attention.heads = attention.keyValueHeads = *heads;
    attention.headSize = headSize;
    attention.scale = scaled ? 1 / std::sqrt(double(headSize)) : 1;
    if (scaledByLayer)
      attention.scale /= double(i + 1);
    attention.causal = true;
    constexpr bool bias = true, transposed = true;
    attention.fused = weights.linear(name + ".attn.c_attn", 3 * *hidden, *hidden, bias, transposed);
    attention.output = weights.linear(name + ".attn.c_proj", *hidden, *hidden, bias, transposed);

    FeedForward &feedForward = layer.feedForward;
    feedForward.name = layer.name + ".mlp";
    feedForward.activation = *activation;
    feedForward.up = weights.linear(name + ".mlp.c_fc", width, *hidden, bias, transposed);
    feedForward.down = weights.linear(name + ".mlp.c_proj", *hidden, width, bias, transposed);
    model.layers.push_back(std::move(layer));
  }
  model.finalNorm = weights.layerNorm("ln_f", *hidden, epsilon);
  if (model.architecture == "GPT2LMHeadModel")
    model.head = weights.head("lm_head", tied, model.embeddings.token);
  weights.reportUnused({".attn.bias", ".attn.masked_bias"});
}

Family fovea::gpt2Family() { return {"gpt2", {"GPT2LMHeadModel", "GPT2Model"}, describe}; }
