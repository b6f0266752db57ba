// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ViT: BERT's layers with norms first, over the patches of an image (Dosovitskiy et al. 2021); and
// DeiT, which has a second token of its own (Touvron et al. 2021).
#include "frontend/HuggingFace/Encoder.h"

using namespace fovea;

static EncoderHeads heads() {
  return {
      {"Model", [](Encoder &vit) { vit.bare(); }},
      {"ForImageClassification", [](Encoder &vit) { vit.sequenceHead({vit.classifier()}); }},
  };
}

/// A side's length or two, height and width.
static std::optional<std::pair<int64_t, int64_t>> readSides(JsonObject &config, const char *key) {
  const JsonValue *value = config.find(key);
  if (!value || !value->isArray()) {
    auto side = config.integer(key, 1, maxWidth);
    return side ? std::optional(std::pair(*side, *side)) : std::nullopt;
  }
  auto sides = config.numbers(key, 1, maxWidth);
  if (sides && sides->size() == 2)
    return std::pair(int64_t((*sides)[0]), int64_t((*sides)[1]));
  config.reject(key, "an integer or two, height and width");
  return std::nullopt;
}

static bool readSizes(Encoder &vit, JsonObject &config, Patches &patches) {
  auto hidden = config.integer("hidden_size", 1, maxWidth);
  auto width = config.integer("intermediate_size", 1, maxWidth);
  auto layers = config.integer("num_hidden_layers", 1, maxLayers);
  auto heads = config.integer("num_attention_heads", 1, maxHeads);
  auto channels = config.integer("num_channels", 1, maxWidth);
  auto image = readSides(config, "image_size"), patch = readSides(config, "patch_size");
  auto activation = readActivation(config, "hidden_act", "gelu");
  vit.epsilon = config.number("layer_norm_eps", 0, 1, 1e-12);
  vit.projectionBias = config.boolean("qkv_bias", true);
  if (config.string("pooler_act", "tanh") != "tanh")
    config.reject("pooler_act", "\"tanh\"");
  if (hidden && config.integer("pooler_output_size", 1, maxWidth, *hidden) != *hidden)
    config.reject("pooler_output_size", "hidden_size, " + std::to_string(*hidden));
  config.ignore({"encoder_stride"}); // of a decoder of images
  config.reportUnread("could change numbers and is not understood");
  if (!hidden || !width || !layers || !heads || !channels || !image || !patch || !activation)
    return false;
  if (patch->first != patch->second || image->first % patch->first != 0 ||
      image->second % patch->first != 0) {
    config.reject("patch_size", "a side of squares that divides image_size, " +
                                    std::to_string(image->first) + " x " +
                                    std::to_string(image->second));
    return false;
  }
  if (*hidden % *heads != 0) {
    config.reject("hidden_size", "a multiple of num_attention_heads, " + std::to_string(*heads));
    return false;
  }
  vit.hidden = *hidden;
  vit.width = *width;
  vit.layers = *layers;
  vit.heads = *heads;
  vit.activation = *activation;
  patches.channels = *channels;
  std::tie(patches.height, patches.width) = *image;
  patches.size = patch->first;
  return true;
}

/// `tokens` are those that stand before the patches.
static void describe(Encoder &vit, JsonObject &config, WeightTable &weights,
                     ModelDescription &model, const std::vector<std::string> &tokens) {
  EncoderTensors &tensors = vit.tensors;
  tensors.attention = "attention.attention";
  tensors.query = "attention.attention.query";
  tensors.key = "attention.attention.key";
  tensors.value = "attention.attention.value";
  tensors.attentionNorm = "layernorm_before";
  tensors.outputNorm = "layernorm_after";
  tensors.harmless = {"embeddings.mask_token"};
  Patches patches;
  if (!readSizes(vit, config, patches))
    return;
  vit.positions = static_cast<int64_t>(tokens.size()) +
                  patches.height / patches.size * (patches.width / patches.size);
  vit.beginWithout("embeddings.cls_token");
  std::string projection = "embeddings.patch_embeddings.projection";
  int64_t channels = patches.channels, size = patches.size, hidden = vit.hidden;
  patches.projection.name = weights.prefix() + projection;
  patches.projection.weight = weights.ordered(
      projection + ".weight", {hidden, channels, size, size}, {}, {hidden, channels * size * size});
  patches.projection.bias = weights.weight(projection + ".bias", {hidden});
  std::vector<Weight> rows;
  for (const std::string &token : tokens)
    rows.push_back(weights.ordered("embeddings." + token, {1, 1, hidden}, {}, {1, hidden}));
  patches.tokens = weights.stackOf("embeddings.tokens", std::move(rows));
  model.embeddings.name = weights.prefix() + "embeddings";
  model.embeddings.position = weights.ordered(
      "embeddings.position_embeddings", {1, vit.positions, hidden}, {}, {vit.positions, hidden});
  model.embeddings.patches = std::move(patches);
  for (int64_t i = 0; i < vit.layers; ++i) {
    Layer layer = vit.layer(tensors.layers + "." + std::to_string(i));
    for (Residual *around : {&layer.aroundAttention, &layer.aroundFeedForward})
      std::swap(around->inputNorm, around->sumNorm);
    model.layers.push_back(std::move(layer));
  }
  model.finalNorm = vit.norm("layernorm", hidden);
  vit.finish(heads());
}

static void describeViT(JsonObject &config, WeightTable &weights, ModelDescription &model,
                        Problems &problems) {
  Encoder vit(config, weights, model, problems);
  vit.tensors.prefixes = {"vit.", ""};
  describe(vit, config, weights, model, {"cls_token"});
}

static void describeDeiT(JsonObject &config, WeightTable &weights, ModelDescription &model,
                         Problems &problems) {
  Encoder deit(config, weights, model, problems);
  deit.tensors.prefixes = {"deit.", ""};
  describe(deit, config, weights, model, {"cls_token", "distillation_token"});
}

Family fovea::vitFamily() { return {"vit", architecturesOf("ViT", heads()), describeViT}; }

Family fovea::deitFamily() { return {"deit", architecturesOf("DeiT", heads()), describeDeiT}; }
