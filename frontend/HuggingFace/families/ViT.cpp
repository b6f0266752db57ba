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

static std::optional<Patches> readSizes(Encoder &vit, JsonObject &config) {
  bool isSized = vit.readLayers();
  std::optional<Patches> patches = vit.readPatches();
  vit.projectionBias = config.boolean("qkv_bias", true);
  if (config.string("pooler_act", "tanh") != "tanh")
    config.reject("pooler_act", "\"tanh\"");
  if (isSized && config.integer("pooler_output_size", 1, maxWidth, vit.hidden) != vit.hidden)
    config.reject("pooler_output_size", "hidden_size, " + std::to_string(vit.hidden));
  config.ignore({"encoder_stride"}); // of a decoder of images
  config.reportUnread("could change numbers and is not understood");
  return isSized ? patches : std::nullopt;
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
  std::optional<Patches> patches = readSizes(vit, config);
  if (!patches)
    return;
  vit.positions = static_cast<int64_t>(tokens.size()) + patches->count();
  vit.beginWithout("embeddings.cls_token");
  int64_t hidden = vit.hidden;
  std::vector<Weight> rows;
  for (const std::string &token : tokens)
    rows.push_back(weights.ordered("embeddings." + token, {1, 1, hidden}, {}, {1, hidden}));
  vit.beginPatches(std::move(*patches), "embeddings.patch_embeddings.projection", /*bias=*/true,
                   std::move(rows));
  model.embeddings.position = weights.ordered(
      "embeddings.position_embeddings", {1, vit.positions, hidden}, {}, {vit.positions, hidden});
  vit.addPreNormLayers();
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
