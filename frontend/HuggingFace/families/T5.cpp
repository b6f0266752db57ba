// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// T5, its version 1.1, FLAN-T5 and mT5: encoder-decoder with RMS norms first, biases of the
// distance instead of positions, unscaled scores, relu or gated units (Raffel et al. 2020; Shazeer
// 2020).
#include "frontend/HuggingFace/Family.h"

#include <cmath>

using namespace fovea;

/// A text may be as long as memory allows: distances have buckets.
static constexpr int64_t unlimited = int64_t(1) << 20;

namespace {
struct T5 {
  WeightTable &weights;
  int64_t hidden, headSize, width, heads, buckets, maxDistance;
  double epsilon;
  bool gated;
  Activation activation;

  Attention attention(const std::string &name);
  Layer layer(const std::string &part, int64_t i, bool isDecoder);
};
} // namespace

Attention T5::attention(const std::string &name) {
  constexpr bool bias = false;
  Attention result;
  result.name = weights.prefix() + name;
  result.heads = result.keyValueHeads = heads;
  result.headSize = headSize;
  result.query = weights.linear(name + ".q", heads * headSize, hidden, bias);
  result.key = weights.linear(name + ".k", heads * headSize, hidden, bias);
  result.value = weights.linear(name + ".v", heads * headSize, hidden, bias);
  result.output = weights.linear(name + ".o", hidden, heads * headSize, bias);
  return result;
}

Layer T5::layer(const std::string &part, int64_t i, bool isDecoder) {
  constexpr bool bias = false;
  Layer layer;
  std::string name = part + ".block." + std::to_string(i);
  layer.name = weights.prefix() + name;
  auto sublayer = [&](int number) { return name + ".layer." + std::to_string(number); };
  auto norm = [&](int number) {
    return weights.rmsNorm(sublayer(number) + ".layer_norm", hidden, epsilon);
  };
  layer.aroundAttention.inputNorm = norm(0);
  layer.attention = attention(sublayer(0) + ".SelfAttention");
  layer.attention.causal = isDecoder;
  // The first layer has the table of all.
  RelativeBias relative;
  relative.table = weights.weight(
      part + ".block.0.layer.0.SelfAttention.relative_attention_bias.weight", {buckets, heads});
  relative.bidirectional = !isDecoder;
  relative.maxDistance = maxDistance;
  layer.attention.relativeBias = relative;
  if (isDecoder) {
    layer.aroundSource.inputNorm = norm(1);
    layer.source = attention(sublayer(1) + ".EncDecAttention");
  }
  int last = isDecoder ? 2 : 1;
  layer.aroundFeedForward.inputNorm = norm(last);
  std::string dense = sublayer(last) + ".DenseReluDense";
  layer.feedForward.name = weights.prefix() + dense;
  layer.feedForward.activation = activation;
  if (gated)
    layer.feedForward.gate = weights.linear(dense + ".wi_0", width, hidden, bias);
  layer.feedForward.up = weights.linear(dense + (gated ? ".wi_1" : ".wi"), width, hidden, bias);
  layer.feedForward.down = weights.linear(dense + ".wo", hidden, width, bias);
  return layer;
}

static void describe(JsonObject &config, WeightTable &weights, ModelDescription &model,
                     Problems & /*problems*/) {
  auto hidden = config.integer("d_model", 1, maxWidth);
  auto headSize = config.integer("d_kv", 1, maxWidth), width = config.integer("d_ff", 1, maxWidth);
  auto layers = config.integer("num_layers", 1, maxLayers);
  auto heads = config.integer("num_heads", 1, maxHeads);
  auto vocabulary = config.integer("vocab_size", 1, maxVocabulary);
  int64_t written = config.integer("num_decoder_layers", 1, maxLayers, layers.value_or(1));
  int64_t buckets = config.integer("relative_attention_num_buckets", 4, 1 << 16, 32);
  int64_t distance = config.integer("relative_attention_max_distance", 3, maxPositions, 128);
  double epsilon = config.number("layer_norm_epsilon", 0, 1, 1e-6);
  bool scaled = config.boolean("tie_word_embeddings", true);
  // mT5 has a head of its own whatever its configuration says of the table.
  scaled =
      config.boolean("scale_decoder_outputs", scaled) && model.architecture.rfind("MT5", 0) != 0;
  // "gated-gelu" means the approximation by tanh.
  std::string projection = config.string("feed_forward_proj", "relu");
  bool gated = projection.rfind("gated-", 0) == 0;
  std::string name = projection == "gated-gelu" ? "gelu_new" : projection.substr(gated ? 6 : 0);
  auto activation = readActivation(config, "dense_act_fn", name);
  if (config.boolean("is_gated_act", gated) != gated)
    config.reject("is_gated_act", "what feed_forward_proj says, " + quote(projection));
  config.ignore({"dropout_rate", "initializer_factor", "n_positions", "is_decoder", "output_past",
                 "tie_encoder_decoder"});
  config.reportUnread("could change numbers and is not understood");
  if (!hidden || !headSize || !width || !layers || !heads || !vocabulary || !activation)
    return;

  model.kind = ModelDescription::Kind::EncoderDecoder;
  model.vocabulary = *vocabulary;
  model.hidden = *hidden;
  model.maxPositions = unlimited;
  T5 t5{weights, *hidden,  *headSize, *width, *heads,
        buckets, distance, epsilon,   gated,  *activation};
  model.embeddings.name = "shared";
  model.embeddings.token =
      weights.weight("shared.weight", {*vocabulary, *hidden}, false,
                     {"decoder.embed_tokens.weight", "encoder.embed_tokens.weight"});
  model.encoder.emplace();
  model.encoder->embeddings = model.embeddings;
  for (int64_t i = 0; i < *layers; ++i)
    model.encoder->layers.push_back(t5.layer("encoder", i, /*isDecoder=*/false));
  model.encoder->finalNorm = weights.rmsNorm("encoder.final_layer_norm", *hidden, epsilon);
  for (int64_t i = 0; i < written; ++i)
    model.layers.push_back(t5.layer("decoder", i, /*isDecoder=*/true));
  model.finalNorm = weights.rmsNorm("decoder.final_layer_norm", *hidden, epsilon);
  if (isLanguageModel(model.architecture)) {
    bool own = weights.has("lm_head.weight");
    model.heads = {weights.head("lm_head", !own, model.embeddings.token)};
    if (scaled)
      model.heads.front().scale = 1 / std::sqrt(double(*hidden));
  }
  weights.reportUnused({"embed_tokens.weight", "EncDecAttention.relative_attention_bias.weight"});
}

Family fovea::t5Family() {
  return {"t5",
          {"T5ForConditionalGeneration", "T5Model", "T5WithLMHeadModel"},
          describe,
          /*isEncoderDecoder=*/true};
}

Family fovea::mt5Family() {
  return {"mt5",
          {"MT5ForConditionalGeneration", "MT5Model"},
          describe,
          /*isEncoderDecoder=*/true};
}
