// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What encoders of images have in common: their sizes, patches, and layers with norms first.
#include "frontend/HuggingFace/Encoder.h"

using namespace fovea;

/// An integer that must be there if `absent` is 0.
static std::optional<int64_t> readSize(JsonObject &config, const char *key, int64_t most,
                                       int64_t absent) {
  return absent ? config.integer(key, 1, most, absent) : config.integer(key, 1, most);
}

/// A side's length or two, height and width.
static std::optional<std::pair<int64_t, int64_t>> readSides(JsonObject &config, const char *key,
                                                            int64_t absent) {
  const JsonValue *value = config.find(key);
  if (!value || !value->isArray()) {
    auto side = readSize(config, key, maxWidth, absent);
    return side ? std::optional(std::pair(*side, *side)) : std::nullopt;
  }
  auto sides = config.numbers(key, 1, maxWidth);
  if (sides && sides->size() == 2)
    return std::pair(int64_t((*sides)[0]), int64_t((*sides)[1]));
  config.reject(key, "an integer or two, height and width");
  return std::nullopt;
}

bool Encoder::readLayers(const LayerSizes &absent) {
  auto foundHidden = readSize(config, keys.hidden, maxWidth, absent.hidden);
  auto foundWidth = readSize(config, keys.width, maxWidth, absent.width);
  auto foundLayers = readSize(config, keys.layers, maxLayers, absent.layers);
  auto foundHeads = readSize(config, keys.heads, maxHeads, absent.heads);
  auto foundActivation = readActivation(config, keys.activation, activationName);
  epsilon = config.number(keys.epsilon, 0, 1, epsilon);
  if (!foundHidden || !foundWidth || !foundLayers || !foundHeads || !foundActivation)
    return false;
  hidden = tokenWidth = *foundHidden;
  width = *foundWidth;
  layers = *foundLayers;
  heads = *foundHeads;
  activation = *foundActivation;
  if (hidden % heads != 0)
    config.reject(keys.hidden,
                  "a multiple of " + std::string(keys.heads) + ", " + std::to_string(heads));
  return hidden % heads == 0;
}

std::optional<Patches> Encoder::readPatches(const ImageSizes &absent) {
  auto channels = readSize(config, "num_channels", maxWidth, absent.channels);
  auto image = readSides(config, "image_size", absent.image);
  auto patch = readSides(config, "patch_size", absent.patch);
  if (!channels || !image || !patch)
    return std::nullopt;
  if (patch->first != patch->second || image->first % patch->first != 0 ||
      image->second % patch->first != 0) {
    config.reject("patch_size", "a side of squares that divides image_size, " +
                                    std::to_string(image->first) + " x " +
                                    std::to_string(image->second));
    return std::nullopt;
  }
  Patches result;
  result.channels = *channels;
  std::tie(result.height, result.width) = *image;
  result.size = patch->first;
  return result;
}

void Encoder::beginPatches(Patches patches, const std::string &name, bool bias,
                           std::vector<Weight> tokens) {
  int64_t channels = patches.channels, size = patches.size;
  patches.projection.name = weights.prefix() + name;
  patches.projection.weight = weights.ordered(name + ".weight", {hidden, channels, size, size}, {},
                                              {hidden, channels * size * size});
  if (bias)
    patches.projection.bias = weights.weight(name + ".bias", {hidden});
  patches.tokens = weights.stackOf("embeddings.tokens", std::move(tokens));
  model.embeddings.name = weights.prefix() + "embeddings";
  model.embeddings.patches = std::move(patches);
}

void Encoder::addPreNormLayers(bool causal) {
  for (int64_t i = 0; i < layers; ++i) {
    Layer layer = this->layer(tensors.layers + "." + std::to_string(i));
    layer.attention.causal = causal;
    for (Residual *around : {&layer.aroundAttention, &layer.aroundFeedForward})
      std::swap(around->inputNorm, around->sumNorm);
    model.layers.push_back(std::move(layer));
  }
}
