// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes and tensors of encoder-decoders that are called as BART's.
#include "frontend/HuggingFace/Bart.h"

#include <cmath>

using namespace fovea;

static constexpr double epsilon = 1e-5;

std::optional<Bart::Sizes> Bart::readSizes(const std::string &part) {
  auto read = [&](const char *key, int64_t most) {
    return config.integer(part + "_" + key, 1, most);
  };
  auto layers = read("layers", maxLayers), heads = read("attention_heads", maxHeads);
  auto width = read("ffn_dim", maxWidth);
  if (!layers || !heads || !width)
    return std::nullopt;
  return Sizes{*layers, *heads, *width};
}

void Bart::describeEmbeddings(Embeddings &embeddings, const std::string &part,
                              const Weight &token) {
  embeddings.name = weights.prefix() + part + ".embed_tokens";
  embeddings.token = token;
  embeddings.scale = scale;
  embeddings.sinusoids = sinusoids;
  if (!sinusoids) {
    embeddings.positionOffset = positionOffset;
    embeddings.position =
        weights.weight(part + ".embed_positions.weight", {positions + positionOffset, hidden});
  }
  if (tokenNorm)
    embeddings.norm = weights.layerNorm(part + ".layernorm_embedding", hidden, epsilon);
}

Attention Bart::attention(const std::string &name, const Sizes &sizes) {
  Attention result;
  result.name = weights.prefix() + name;
  result.heads = result.keyValueHeads = sizes.heads;
  result.headSize = hidden / sizes.heads;
  result.scale = 1 / std::sqrt(double(result.headSize));
  auto projection = [&](const char *which, bool bias = true) {
    return weights.linear(name + "." + which, hidden, hidden, bias);
  };
  result.query = projection("q_proj");
  result.key = projection("k_proj", keyBias);
  result.value = projection("v_proj");
  result.output = projection("out_proj");
  return result;
}

void Bart::place(Residual &around, const std::string &norm) {
  (normsFirst ? around.inputNorm : around.sumNorm) = weights.layerNorm(norm, hidden, epsilon);
}

std::vector<Layer> Bart::describeLayers(const std::string &part, const Sizes &sizes,
                                        bool isDecoder) {
  constexpr bool bias = true;
  std::vector<Layer> layers;
  for (int64_t i = 0; i < sizes.layers; ++i) {
    std::string name = part + ".layers." + std::to_string(i);
    Layer layer;
    layer.name = weights.prefix() + name;
    place(layer.aroundAttention, name + ".self_attn_layer_norm");
    layer.attention = attention(name + ".self_attn", sizes);
    layer.attention.causal = isDecoder;
    if (isDecoder) {
      place(layer.aroundSource, name + ".encoder_attn_layer_norm");
      layer.source = attention(name + ".encoder_attn", sizes);
    }
    place(layer.aroundFeedForward, name + ".final_layer_norm");
    layer.feedForward.name = layer.name;
    layer.feedForward.activation = activation;
    layer.feedForward.up = weights.linear(name + ".fc1", sizes.width, hidden, bias);
    layer.feedForward.down = weights.linear(name + ".fc2", hidden, sizes.width, bias);
    layers.push_back(std::move(layer));
  }
  return layers;
}

std::optional<Norm> Bart::lastNorm(const std::string &part) {
  if (!normsFirst)
    return std::nullopt;
  return weights.layerNorm(part + ".layer_norm", hidden, epsilon);
}

void Bart::describe() {
  auto foundHidden = config.integer("d_model", 1, maxWidth);
  auto vocabulary = config.integer("vocab_size", 1, maxVocabulary);
  auto foundPositions = config.integer(positionsKey, 1, maxPositions);
  auto reader = readSizes("encoder"), writer = readSizes("decoder");
  auto foundActivation = readActivation(config, "activation_function", activationName);
  bool scaled = config.boolean("scale_embedding", scaledTokens);
  requireBoolean(config, "tie_word_embeddings", true, problems);
  // Dropout, initial values, and what older versions wrote of what is the same in all models.
  config.ignore({"dropout",
                 "activation_dropout",
                 "encoder_layerdrop",
                 "decoder_layerdrop",
                 "init_std",
                 "classif_dropout",
                 "num_hidden_layers",
                 "normalize_before",
                 "normalize_embedding",
                 "add_final_layer_norm",
                 "add_bias_logits",
                 "static_position_embeddings",
                 "extra_pos_embeddings",
                 "is_decoder",
                 "save_step",
                 "output_past",
                 "force_bos_token_to_be_generated",
                 "do_blenderbot_90_layernorm",
                 "layernorm_variant",
                 "extra_layer_norm",
                 "gradient_checkpointing",
                 "forced_bos_token_id",
                 "_num_labels"});
  config.reportUnread("could change numbers and is not understood");
  if (!foundHidden || !vocabulary || !foundPositions || !reader || !writer || !foundActivation)
    return;
  for (auto [key, sizes] : {std::make_pair("encoder_attention_heads", &*reader),
                            std::make_pair("decoder_attention_heads", &*writer)})
    if (*foundHidden % sizes->heads != 0)
      return config.reject(key, "a divisor of d_model, " + std::to_string(*foundHidden));
  hidden = *foundHidden;
  positions = *foundPositions;
  activation = *foundActivation;
  scale = scaled ? std::sqrt(double(hidden)) : 1;

  model.kind = ModelDescription::Kind::EncoderDecoder;
  model.vocabulary = *vocabulary;
  model.hidden = hidden;
  model.maxPositions = positions;
  weights.choosePrefix({"model.", ""}, token + ".weight");
  Weight table = weights.weight(token + ".weight", {*vocabulary, hidden}, false,
                                {"decoder.embed_tokens.weight", "encoder.embed_tokens.weight"});
  model.encoder.emplace();
  if (!describeSource)
    describeEmbeddings(model.encoder->embeddings, "encoder", table);
  else if (!describeSource(model.encoder->embeddings, hidden))
    return;
  model.encoder->layers = describeLayers("encoder", *reader, /*isDecoder=*/false);
  model.encoder->finalNorm = lastNorm("encoder");
  describeEmbeddings(model.embeddings, "decoder", table);
  model.layers = describeLayers("decoder", *writer, /*isDecoder=*/true);
  model.finalNorm = lastNorm("decoder");
  if (isLanguageModel(model.architecture)) {
    Head words = weights.head(head, /*tied=*/true, table);
    if (weights.has("final_logits_bias"))
      words.steps.front().dense->bias = weights.row("final_logits_bias", *vocabulary);
    model.heads = {std::move(words)};
  }
  weights.reportUnused({"embed_tokens.weight", "embed_positions.weight", head + ".weight"});
}
