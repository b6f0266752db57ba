// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CLIP: an encoder of texts, which looks back alone, and one of images, whose embeddings are
// compared (Radford et al. 2021); and each by itself.
#include "frontend/HuggingFace/Towers.h"

using namespace fovea;

static const std::vector<std::string> harmless = {"embeddings.position_ids"};

static int64_t readWidth(JsonObject &config) {
  return config.integer("projection_dim", 1, maxWidth, 512);
}

static void describeText(JsonObject &config, WeightTable &weights, ModelDescription &model,
                         Problems &problems) {
  Encoder text(config, weights, model, problems);
  nameTower(text, "text_model.");
  bool isSized = text.readLayers({512, 2048, 12, 8});
  text.vocabulary = config.integer("vocab_size", 1, maxVocabulary, 49408);
  text.positions = config.integer("max_position_embeddings", 1, maxPositions, 77);
  int64_t end = config.integer("eos_token_id", 0, maxVocabulary, 49407);
  reportUnreadOfTower(config);
  if (!isSized)
    return;
  text.begin();
  text.addPreNormLayers(/*causal=*/true);
  model.finalNorm = text.norm("final_layer_norm", text.hidden);
  Head &head = addPooler(model, weights, Pool::Greatest);
  // Configurations of before transformers 4.31 say 2, which is not the token that ends texts: that
  // is the last of the vocabulary.
  if (end != 2)
    head.greatestToken = end;
}

static void describeImages(JsonObject &config, WeightTable &weights, ModelDescription &model,
                           Problems &problems) {
  Encoder images(config, weights, model, problems);
  nameTower(images, "vision_model.");
  bool isSized = images.readLayers({768, 3072, 12, 12});
  std::optional<Patches> patches = images.readPatches({3, 224, 32});
  reportUnreadOfTower(config);
  if (!isSized || !patches)
    return;
  int64_t hidden = images.hidden;
  images.positions = 1 + patches->count();
  images.beginWithout("embeddings.class_embedding");
  std::vector<Weight> tokens = {
      weights.ordered("embeddings.class_embedding", {hidden}, {}, {1, hidden})};
  images.beginPatches(std::move(*patches), "embeddings.patch_embedding", /*bias=*/false,
                      std::move(tokens));
  model.embeddings.position =
      weights.weight("embeddings.position_embedding.weight", {images.positions, hidden});
  model.embeddings.norm = images.norm("pre_layrnorm", hidden); // spelt so
  images.addPreNormLayers();
  Step norm;
  norm.norm = images.norm("post_layernorm", hidden);
  addPooler(model, weights, Pool::First).steps = {norm};
}

using Describe = void (*)(JsonObject &, WeightTable &, ModelDescription &, Problems &);

static void describeAlone(JsonObject &config, WeightTable &weights, ModelDescription &model,
                          Problems &problems, Describe describe, const char *name,
                          const char *output) {
  int64_t width = readWidth(config);
  describe(config, weights, model, problems);
  if (model.architecture.find("WithProjection") != std::string::npos)
    projectHead(model, weights, name, output, width);
  weights.reportUnused(harmless);
}

static void describeTextAlone(JsonObject &config, WeightTable &weights, ModelDescription &model,
                              Problems &problems) {
  describeAlone(config, weights, model, problems, describeText, "text_projection", "text_embeds");
}

static void describeImagesAlone(JsonObject &config, WeightTable &weights, ModelDescription &model,
                                Problems &problems) {
  describeAlone(config, weights, model, problems, describeImages, "visual_projection",
                "image_embeds");
}

static void describeBoth(JsonObject &config, WeightTable &weights, ModelDescription &model,
                         Problems &problems) {
  int64_t width = readWidth(config);
  // The second name holds all of a tower's values in older configurations.
  auto part = [&](const std::string &name) {
    return config.member(config.has(name + "_dict") ? name + "_dict" : name);
  };
  std::optional<JsonObject> ofText = part("text_config"), ofImages = part("vision_config");
  config.ignore({"text_config", "text_config_dict", "vision_config", "vision_config_dict",
                 "logit_scale_init_value", "initializer_factor"});
  config.reportUnread("could change numbers and is not understood");
  if (!ofText || !ofImages)
    return;
  model.towers.resize(2);
  ModelDescription &text = model.towers[0], &images = model.towers[1];
  text.name = "text";
  images.name = "image";
  describeText(*ofText, weights, text, problems);
  projectHead(text, weights, "text_projection", "text_embeds", width);
  describeImages(*ofImages, weights, images, problems);
  projectHead(images, weights, "visual_projection", "image_embeds", width);
  weights.choosePrefix({""}, "");
  model.similarity = {"logit_scale", weights.ordered("logit_scale", {}, {}, {1})};
  weights.reportUnused(harmless);
  model.kind = ModelDescription::Kind::Towers;
  model.hidden = width;
  model.vocabulary = text.vocabulary;
  model.maxPositions = text.maxPositions;
}

Family fovea::clipFamily() { return {"clip", {"CLIPModel"}, describeBoth}; }

Family fovea::clipTextFamily() {
  return {"clip_text_model", {"CLIPTextModel", "CLIPTextModelWithProjection"}, describeTextAlone};
}

Family fovea::clipVisionFamily() {
  return {"clip_vision_model",
          {"CLIPVisionModel", "CLIPVisionModelWithProjection"},
          describeImagesAlone};
}
