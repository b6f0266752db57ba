// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads what all encoders' configurations have, and makes the parts that their layers share.
#include "frontend/HuggingFace/Encoder.h"

#include "frontend/Text.h"

#include <cmath>

using namespace fovea;

std::vector<std::string> fovea::architecturesOf(const std::string &prefix,
                                                const EncoderHeads &heads) {
  std::vector<std::string> result;
  for (const auto &entry : heads)
    result.push_back(prefix + entry.first);
  return result;
}

bool Encoder::read() {
  auto foundHidden = config.integer(keys.hidden, 1, maxWidth);
  auto foundWidth = config.integer(keys.width, 1, maxWidth);
  auto foundLayers = config.integer(keys.layers, 1, maxLayers);
  auto foundHeads = config.integer(keys.heads, 1, maxHeads);
  auto foundVocabulary = config.integer("vocab_size", 1, maxVocabulary);
  auto foundPositions = config.integer(keys.positions, 1, maxPositions);
  auto foundActivation = readActivation(config, keys.activation, activationName);
  if (*keys.types)
    types = config.integer(keys.types, 1, maxVocabulary, typesIfAbsent);
  if (*keys.epsilon)
    epsilon = config.number(keys.epsilon, 0, 1, epsilon);
  tied = config.boolean("tie_word_embeddings", true);
  if (config.string("position_embedding_type", "absolute") != "absolute")
    config.reject("position_embedding_type", "\"absolute\"");
  requireBoolean(config, "is_decoder", false, problems);
  requireBoolean(config, "add_cross_attention", false, problems);
  // Whether a pooler is there, its tensors say; what early versions returned.
  config.ignore({"add_pooling_layer", "output_past", keys.tokenWidth});
  config.reportUnread("could change numbers and is not understood");
  if (!foundHidden || !foundWidth || !foundLayers || !foundHeads || !foundVocabulary ||
      !foundPositions)
    return false;
  hidden = *foundHidden;
  width = *foundWidth;
  layers = *foundLayers;
  heads = *foundHeads;
  vocabulary = *foundVocabulary;
  positions = *foundPositions;
  tokenWidth =
      *keys.tokenWidth ? config.integer(keys.tokenWidth, 1, maxWidth, tokenWidthIfAbsent) : hidden;
  bool fits = hidden % heads == 0;
  if (!fits)
    config.reject(keys.hidden,
                  "a multiple of " + std::string(keys.heads) + ", " + std::to_string(heads));
  // Row `padding` is the padding's, those before it nobody's.
  if (countedPadding && positions < *countedPadding + 2) {
    config.reject(keys.positions,
                  "more than pad_token_id, " + std::to_string(*countedPadding) + ", and one");
    fits = false;
  }
  if (foundActivation)
    activation = *foundActivation;
  return foundActivation && fits;
}

void Encoder::beginWithout(const std::string &probe) {
  model.kind = ModelDescription::Kind::Encoder;
  model.vocabulary = vocabulary;
  model.hidden = hidden;
  model.maxPositions = positions - (countedPadding ? *countedPadding + 1 : 0);
  weights.choosePrefix(tensors.prefixes, probe);
  prefix = weights.prefix();
}

void Encoder::begin() {
  beginWithout(tensors.token + ".weight");
  Embeddings &embeddings = model.embeddings;
  auto table = [&](const std::string &name, int64_t rows) {
    return weights.weight(name + ".weight", {rows, tokenWidth});
  };
  embeddings.name = prefix + "embeddings";
  embeddings.token = table(tensors.token, vocabulary);
  if (!tensors.position.empty())
    embeddings.position = table(tensors.position, positions);
  if (types)
    embeddings.tokenType = table(tensors.tokenType, types);
  if (!tensors.embeddingNorm.empty())
    embeddings.norm = norm(tensors.embeddingNorm, tokenWidth);
  if (!tensors.projection.empty())
    embeddings.projection = weights.linear(tensors.projection, hidden, tokenWidth, /*bias=*/true);
  if (countedPadding) {
    embeddings.uncountedToken = countedPadding;
    embeddings.positionOffset = *countedPadding;
  }
}

Attention Encoder::attention(const std::string &layer) {
  Attention result;
  result.name = prefix + layer + "." + tensors.attention;
  result.heads = result.keyValueHeads = heads;
  result.headSize = hidden / heads;
  result.scale = 1 / std::sqrt(double(result.headSize));
  return result;
}

Layer Encoder::layer(const std::string &name) {
  auto linear = [&](const std::string &part, int64_t out, int64_t in, bool bias = true) {
    return weights.linear(name + "." + part, out, in, bias);
  };
  Layer layer;
  layer.name = prefix + name;
  layer.attention = attention(name);
  layer.attention.query = linear(tensors.query, hidden, hidden, projectionBias);
  layer.attention.key = linear(tensors.key, hidden, hidden, projectionBias);
  layer.attention.value = linear(tensors.value, hidden, hidden, projectionBias);
  layer.attention.output = linear(tensors.output, hidden, hidden);
  layer.aroundAttention.sumNorm = norm(name + "." + tensors.attentionNorm, hidden);
  layer.feedForward.name = layer.name;
  layer.feedForward.activation = activation;
  layer.feedForward.up = linear(tensors.up, width, hidden);
  layer.feedForward.down = linear(tensors.down, hidden, width);
  layer.aroundFeedForward.sumNorm = norm(name + "." + tensors.outputNorm, hidden);
  return layer;
}

void Encoder::finish(const EncoderHeads &table) {
  // Heads stand beside the model.
  weights.choosePrefix({""}, "");
  for (const auto &[ending, addHeads] : table)
    if (!model.pooling && endsWith(model.architecture, ending))
      addHeads(*this);
  std::vector<std::string> harmless = tensors.harmless;
  // Models of tasks for tokens have a pooler, too, which nothing reads.
  if (!tensors.pooler.empty())
    harmless.insert(harmless.end(), {tensors.pooler + ".weight", tensors.pooler + ".bias"});
  weights.reportUnused(harmless);
}

void Encoder::describe(const EncoderHeads &table) {
  begin();
  for (int64_t i = 0; i < layers; ++i)
    model.layers.push_back(layer(tensors.layers + "." + std::to_string(i)));
  finish(table);
}
