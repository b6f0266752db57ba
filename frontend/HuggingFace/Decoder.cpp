// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads what all decoders' configurations have, and makes the parts that their layers share.
#include "frontend/HuggingFace/Decoder.h"

#include <algorithm>
#include <cmath>

using namespace fovea;

void Decoder::useGpt2Names() {
  keys = {"n_embd",
          "n_layer",
          "n_head",
          "",
          "",
          "n_inner",
          "n_positions",
          "activation_function",
          "layer_norm_epsilon"};
  widthFollows = true;
  norms = Norm::Kind::Layer;
  epsilon = 1e-5;
  activationName = "gelu_new";
  tensors.prefixes = {"transformer.", ""};
  tensors.token = "wte";
  tensors.layers = "h";
  tensors.attention = "attn";
  tensors.gate = "";
  tensors.attentionNorm = "ln_1";
  tensors.feedForwardNorm = "ln_2";
  tensors.finalNorm = "ln_f";
  tensors.harmless = {".attn.bias", ".attn.masked_bias"};
  // Heads of other tasks; an older name of n_positions.
  config.ignore({"n_ctx", "summary_type", "summary_use_proj", "summary_activation",
                 "summary_proj_to_labels", "summary_first_dropout"});
}

void Decoder::useMegatronNames() {
  norms = Norm::Kind::Layer;
  epsilon = 1e-5;
  stacked = Stacking::ByKeyHead;
  tensors.query = "query_key_value";
  tensors.output = "dense";
  tensors.gate = "";
  tensors.up = "dense_h_to_4h";
  tensors.down = "dense_4h_to_h";
}

bool Decoder::read() {
  auto foundHidden = config.integer(keys.hidden, 1, maxWidth);
  auto foundLayers = config.integer(keys.layers, 1, maxLayers);
  auto foundHeads = config.integer(keys.heads, 1, maxHeads);
  auto foundVocabulary = config.integer("vocab_size", 1, maxVocabulary);
  auto foundPositions = positionsIfAbsent && !config.has(keys.positions)
                            ? positionsIfAbsent
                            : config.integer(keys.positions, 1, maxPositions);
  std::optional<int64_t> foundWidth;
  const bool follows = widthFollows && !config.has(keys.width);
  if (!follows)
    foundWidth = config.integer(keys.width, 1, maxWidth);
  auto foundActivation = readActivation(config, keys.activation, activationName);
  epsilon = config.number(keys.epsilon, 0, 1, epsilon);
  tied = config.boolean("tie_word_embeddings", tied);
  // Read below, once the sizes are known, or by the reader of rotary embeddings.
  config.ignore({keys.width, keys.headSize, keys.keyValueHeads, "rope_theta", "rope_scaling",
                 "rope_parameters", "partial_rotary_factor", "original_max_position_embeddings",
                 "layer_types"});
  config.reportUnread("could change numbers and is not understood");
  if (!foundHidden || !foundLayers || !foundHeads || !foundVocabulary || !foundPositions)
    return false;
  hidden = tokenWidth = *foundHidden;
  layers = *foundLayers;
  heads = *foundHeads;
  vocabulary = *foundVocabulary;
  positions = *foundPositions;
  width = foundWidth.value_or(4 * hidden);

  size_t before = problems.size();
  bool fits = !headsDivide || hidden % heads == 0;
  if (!fits)
    config.reject(keys.hidden,
                  "a multiple of " + std::string(keys.heads) + ", " + std::to_string(heads));
  headSize = headSizeIfAbsent.value_or(hidden / heads);
  if (*keys.headSize)
    headSize = config.integer(keys.headSize, 1, maxWidth, headSize);
  keyValueHeads = heads;
  if (*keys.keyValueHeads)
    keyValueHeads = config.integer(keys.keyValueHeads, 1, maxHeads, heads);
  if (heads % keyValueHeads != 0) {
    config.reject(keys.keyValueHeads,
                  "a divisor of " + std::string(keys.heads) + ", " + std::to_string(heads));
    fits = false;
  }
  if (foundActivation)
    activation = *foundActivation;
  // A size that is no size says nothing of the weights' shapes.
  return foundActivation && fits && (follows || foundWidth) && problems.size() == before;
}

bool Decoder::readRotary() {
  RotaryKeys ofRotary;
  if (*keys.headSize)
    ofRotary.headSize = keys.headSize;
  rotary = fovea::readRotary(config, headSize, positions, problems, ofRotary);
  return rotary.has_value();
}

bool Decoder::readWithRotary() {
  bool fits = read();
  return headSize > 0 && readRotary() && fits;
}

Norm Decoder::norm(const std::string &name, int64_t size) {
  return norms == Norm::Kind::Rms ? weights.rmsNorm(name, size, epsilon, normOffset)
                                  : weights.layerNorm(name, size, epsilon, normBias);
}

void Decoder::normQueriesAndKeys(Layer &layer, int64_t i, bool together) {
  std::string name = nameOf(i) + "." + tensors.attention;
  int64_t size = headSize;
  layer.attention.queryNorm = norm(name + ".q_norm", together ? heads * size : size);
  layer.attention.keyNorm = norm(name + ".k_norm", together ? keyValueHeads * size : size);
}

void Decoder::project(Attention &attention, const std::string &name) {
  if (stacked) {
    weights.stackedProjections(attention, name + tensors.query, hidden, projectionBias, *stacked,
                               transposed);
  } else {
    auto projection = [&](const std::string &which, int64_t heads) {
      return weights.linear(name + which, heads * headSize, hidden, projectionBias, transposed);
    };
    attention.query = projection(tensors.query, attention.heads);
    attention.key = projection(tensors.key, attention.keyValueHeads);
    attention.value = projection(tensors.value, attention.keyValueHeads);
  }
  attention.output = weights.linear(name + tensors.output, hidden, attention.heads * headSize,
                                    outputBias, transposed);
}

FeedForward Decoder::feedForward(const std::string &name, int64_t width) {
  FeedForward result;
  result.name = weights.prefix() + name.substr(0, name.size() - 1);
  result.activation = activation;
  auto part = [&](const std::string &which, int64_t out, int64_t in) {
    return weights.linear(name + which, out, in, feedForwardBias, transposed);
  };
  if (stackedGate) {
    auto half = [&](const char *which, int64_t first) {
      return weights.linearPart(name + tensors.gate, which, {1, 2 * width, first, width}, hidden,
                                feedForwardBias, transposed);
    };
    result.gate = half("gate", 0);
    result.up = half("up", width);
  } else {
    if (!tensors.gate.empty())
      result.gate = part(tensors.gate, width, hidden);
    result.up = part(tensors.up, width, hidden);
  }
  result.down = part(tensors.down, hidden, width);
  return result;
}

bool Decoder::readExperts() {
  const char *countKey = config.has("num_local_experts") ? "num_local_experts" : keys.experts;
  const char *chosenKey = "num_experts_per_tok";
  auto count = config.integer(countKey, 1, maxExperts);
  auto chosen = config.integer(chosenKey, 1, maxExperts);
  if (!count || !chosen)
    return false;
  expertCount = *count;
  chosenExperts = *chosen;
  if (expertCount >= chosenExperts)
    return true;
  config.reject(chosenKey, "at most " + std::string(countKey) + ", " + std::to_string(expertCount));
  return false;
}

Experts Decoder::emptyExperts(const std::string &name) {
  Experts result;
  result.name = weights.prefix() + name + expertTensors.experts;
  result.count = expertCount;
  result.chosen = chosenExperts;
  result.activation = activation;
  return result;
}

Experts Decoder::experts(const std::string &name, int64_t width) {
  Experts result = emptyExperts(name);
  result.router = weights.linear(name + expertTensors.router, expertCount, hidden, false);
  std::vector<Linear> gateUp, down;
  for (int64_t i = 0; i < expertCount; ++i) {
    std::string expert = name + expertTensors.experts + "." + std::to_string(i) + ".";
    for (const std::string &part : {expertTensors.gate, expertTensors.up})
      gateUp.push_back(weights.linear(expert + part, width, hidden, false));
    down.push_back(weights.linear(expert + expertTensors.down, hidden, width, false));
  }
  result.gateUp = weights.stack(name + expertTensors.experts + ".gate_up", gateUp);
  result.down = weights.stack(name + expertTensors.experts + ".down", down);
  return result;
}

Layer Decoder::layer(int64_t i) {
  const std::string name = nameOf(i);
  auto below = [&](const std::string &part) { return part.empty() ? name : name + "." + part; };
  Layer layer;
  layer.name = weights.prefix() + name;
  if (!tensors.attentionNorm.empty())
    layer.aroundAttention.inputNorm = norm(below(tensors.attentionNorm));
  if (!tensors.feedForwardNorm.empty())
    layer.aroundFeedForward.inputNorm = norm(below(tensors.feedForwardNorm));

  Attention &attention = layer.attention;
  attention.name = weights.prefix() + below(tensors.attention);
  attention.heads = heads;
  attention.keyValueHeads = keyValueHeads;
  attention.headSize = headSize;
  attention.scale = 1 / std::sqrt(double(headSize));
  attention.causal = true;
  attention.rotary = rotary;
  if (projectionsOf)
    projectionsOf(attention, below(tensors.attention) + ".");
  else
    project(attention, below(tensors.attention) + ".");

  if (expertsOf)
    layer.experts = expertsOf(below(tensors.feedForward) + ".", i);
  if (!layer.experts)
    layer.feedForward = feedForward(below(tensors.feedForward) + ".", width);
  return layer;
}

void Decoder::begin() {
  model.kind = ModelDescription::Kind::Decoder;
  model.vocabulary = vocabulary;
  model.hidden = hidden;
  model.maxPositions = positions;
  // This kind alone stretches past what the configuration calls the longest.
  if (rotary && rotary->kind == Rotary::Kind::Dynamic)
    model.maxPositions = static_cast<int64_t>(
        std::min(double(positions) * std::max(rotary->factor, 1.0), double(maxPositions)));
  weights.choosePrefix(tensors.prefixes, tensors.token + ".weight");
  model.embeddings.name = weights.prefix() + tensors.token;
  model.embeddings.token = weights.weight(tensors.token + ".weight", {vocabulary, tokenWidth});
  if (!tensors.tokenNorm.empty())
    model.embeddings.norm = norm(tensors.tokenNorm, tokenWidth);
  model.embeddings.positionOffset = positionOffset;
  if (!positionTensor.empty())
    model.embeddings.position =
        weights.weight(positionTensor + ".weight", {positions + positionOffset, hidden});
}

void Decoder::finish() {
  if (!tensors.finalNorm.empty())
    model.finalNorm = norm(tensors.finalNorm);
  if (isLanguageModel(model.architecture))
    model.heads = {weights.head(tensors.head, tied, model.embeddings.token, headBias)};
  weights.reportUnused(tensors.harmless);
}

void Decoder::describe(const std::function<void(Layer &, int64_t)> &adjust) {
  begin();
  for (int64_t i = 0; i < layers; ++i) {
    Layer made = layer(i);
    if (adjust)
      adjust(made, i);
    model.layers.push_back(std::move(made));
  }
  finish();
}

std::vector<bool> fovea::readWindowedLayers(JsonObject &config, int64_t layers,
                                            const std::function<bool(int64_t)> &otherwise) {
  std::vector<bool> result;
  std::optional<std::vector<std::string>> types;
  if (config.has("layer_types"))
    types = config.strings("layer_types");
  bool fits = types && int64_t(types->size()) == layers;
  for (int64_t i = 0; i < layers; ++i)
    result.push_back(fits ? (*types)[i] == "sliding_attention" : otherwise(i));
  if (types && !fits)
    config.reject("layer_types", "an array of " + std::to_string(layers) + " strings, one a layer");
  for (const std::string &type : types.value_or(std::vector<std::string>()))
    if (type != "sliding_attention" && type != "full_attention") {
      config.reject("layer_types", "\"full_attention\" or \"sliding_attention\" for each layer");
      break;
    }
  return result;
}

std::optional<int64_t> fovea::readWindow(JsonObject &config, const char *key) {
  return config.has(key) ? config.integer(key, 1, maxPositions) : std::nullopt;
}
