// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// BERT: post-norm encoder with learned positions and token types (Devlin et al.
// 2019). Computes the last hidden state. The pooler (first token, dense, tanh)
// is not part of it, nor are the heads of other tasks; those are noted.
#include "frontend/HuggingFace/Family.h"

#include <cmath>

using namespace fovea;

static void describe(JsonObject &config, WeightTable &weights, ModelDescription &model,
                     Problems &problems) {
  auto hidden = config.integer("hidden_size", 1, maxWidth);
  auto width = config.integer("intermediate_size", 1, maxWidth);
  auto layers = config.integer("num_hidden_layers", 1, maxLayers);
  auto heads = config.integer("num_attention_heads", 1, maxHeads);
  auto vocabulary = config.integer("vocab_size", 1, maxVocabulary);
  auto positions = config.integer("max_position_embeddings", 1, maxPositions);
  int64_t types = config.integer("type_vocab_size", 1, maxVocabulary, 2);
  auto activation = readActivation(config, "hidden_act", "gelu");
  double epsilon = config.number("layer_norm_eps", 0, 1, 1e-12);
  if (config.string("position_embedding_type", "absolute") != "absolute")
    config.reject("position_embedding_type", "\"absolute\"");
  requireBoolean(config, "is_decoder", false, problems);
  requireBoolean(config, "add_cross_attention", false, problems);
  // The pooler's shape in early checkpoints, and heads of other tasks.
  config.ignore({"pooler_fc_size", "pooler_num_attention_heads", "pooler_num_fc_layers",
                 "pooler_size_per_head", "pooler_type", "directionality", "add_pooling_layer",
                 "tie_word_embeddings"});
  config.reportUnread("could change numbers and is not understood");
  if (!hidden || !width || !layers || !heads || !vocabulary || !positions)
    return;
  bool fits = *hidden % *heads == 0;
  if (!fits)
    config.reject("hidden_size", "a multiple of num_attention_heads, " + std::to_string(*heads));
  if (!activation || !fits)
    return;

  model.kind = ModelDescription::Kind::Encoder;
  model.vocabulary = *vocabulary;
  model.hidden = *hidden;
  model.maxPositions = *positions;

  weights.choosePrefix({"bert.", ""}, "embeddings.word_embeddings.weight");
  Embeddings &embeddings = model.embeddings;
  embeddings.name = weights.prefix() + "embeddings";
  embeddings.token = weights.weight("embeddings.word_embeddings.weight", {*vocabulary, *hidden});
  embeddings.position =
      weights.weight("embeddings.position_embeddings.weight", {*positions, *hidden});
  embeddings.tokenType =
      weights.weight("embeddings.token_type_embeddings.weight", {types, *hidden});
  embeddings.norm = weights.layerNorm("embeddings.LayerNorm", *hidden, epsilon);
  for (int64_t i = 0; i < *layers; ++i) {
    std::string name = "encoder.layer." + std::to_string(i);
    Layer layer;
    layer.name = weights.prefix() + name;
    layer.aroundAttention.sumNorm =
        weights.layerNorm(name + ".attention.output.LayerNorm", *hidden, epsilon);
    layer.aroundFeedForward.sumNorm =
        weights.layerNorm(name + ".output.LayerNorm", *hidden, epsilon);

    Attention &attention = layer.attention;
    attention.name = layer.name + ".attention.self";
    attention.heads = attention.keyValueHeads = *heads;
    attention.headSize = *hidden / *heads;
    attention.scale = 1 / std::sqrt(double(attention.headSize));
    constexpr bool bias = true;
    attention.query = weights.linear(name + ".attention.self.query", *hidden, *hidden, bias);
    attention.key = weights.linear(name + ".attention.self.key", *hidden, *hidden, bias);
    attention.value = weights.linear(name + ".attention.self.value", *hidden, *hidden, bias);
    attention.output = weights.linear(name + ".attention.output.dense", *hidden, *hidden, bias);

    FeedForward &feedForward = layer.feedForward;
    feedForward.name = layer.name;
    feedForward.activation = *activation;
    feedForward.up = weights.linear(name + ".intermediate.dense", *width, *hidden, bias);
    feedForward.down = weights.linear(name + ".output.dense", *hidden, *width, bias);
    model.layers.push_back(std::move(layer));
  }
  weights.reportUnused({"embeddings.position_ids", "pooler.dense.weight", "pooler.dense.bias"});
}

Family fovea::bertFamily() {
  return {"bert", {"BertModel", "BertForMaskedLM", "BertForPreTraining"}, describe};
}
