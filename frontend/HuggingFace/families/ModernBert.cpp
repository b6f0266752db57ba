// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ModernBERT: pre-norm encoder with rotary positions and gates, in most layers with a window on
// both sides of a token (Warner et al. 2024).
#include "frontend/HuggingFace/Decoder.h"
#include "frontend/HuggingFace/Encoder.h"

using namespace fovea;

namespace {
/// The family's own keys.
struct ModernBert {
  ModernBert(JsonObject &config);
  EncoderHeads heads() const;
  Step transform(Encoder &encoder) const;
  Layer layer(Encoder &encoder, WeightTable &weights, int64_t i) const;

  std::optional<Activation> headActivation;
  bool attentionBias, feedForwardBias, headBias, decoderBias;
  Pool pool = Pool::First;
  int64_t reach;       ///< A windowed layer's tokens see so many on either side.
  int64_t globalEvery; ///< Of older configurations: one of so many layers has no window.
  std::vector<bool> windowed;
  std::optional<Rotary> everywhere, nearby;
};
} // namespace

ModernBert::ModernBert(JsonObject &config) {
  headActivation = readActivation(config, "classifier_activation", "gelu");
  attentionBias = config.boolean("attention_bias", false);
  feedForwardBias = config.boolean("mlp_bias", false);
  headBias = config.boolean("classifier_bias", false);
  decoderBias = config.boolean("decoder_bias", true);
  reach = config.integer("local_attention", 1, maxPositions, 128) / 2;
  globalEvery = config.integer("global_attn_every_n_layers", 1, maxLayers, 3);
  std::string pooling = config.string("classifier_pooling", "cls");
  if (pooling == "mean")
    pool = Pool::Mean;
  else if (pooling != "cls")
    config.reject("classifier_pooling", "\"cls\" or \"mean\"");
  // Training and kernels; a second name of norm_eps, which is not read.
  config.ignore({"initializer_cutoff_factor", "embedding_dropout", "mlp_dropout", "layer_norm_eps",
                 "deterministic_flash_attn", "sparse_prediction", "sparse_pred_ignore_index",
                 "reference_compile", "repad_logits_with_grad"});
  // Read below, once the sizes are known.
  config.ignore(
      {"layer_types", "rope_parameters", "rope_scaling", "global_rope_theta", "local_rope_theta"});
}

Step ModernBert::transform(Encoder &encoder) const {
  Step step = encoder.dense("head.dense", encoder.hidden, encoder.hidden, headActivation, headBias);
  step.norm = encoder.norm("head.norm", encoder.hidden);
  return step;
}

EncoderHeads ModernBert::heads() const {
  return {
      {"Model", [](Encoder &encoder) { encoder.bare(); }},
      {"ForMaskedLM",
       [this](Encoder &encoder) {
         encoder.vocabularyHead({transform(encoder)}, "decoder", "", decoderBias);
       }},
      {"ForSequenceClassification",
       [this](Encoder &encoder) {
         encoder.sequenceHead({transform(encoder), encoder.classifier()}, "logits", pool);
       }},
      {"ForTokenClassification",
       [this](Encoder &encoder) { encoder.tokenHead({transform(encoder), encoder.classifier()}); }},
      {"ForQuestionAnswering",
       [this](Encoder &encoder) { encoder.answerHead({transform(encoder)}, "classifier"); }},
  };
}

Layer ModernBert::layer(Encoder &encoder, WeightTable &weights, int64_t i) const {
  const std::string name = "layers." + std::to_string(i);
  const int64_t hidden = encoder.hidden, width = encoder.width;
  Layer layer;
  layer.name = weights.prefix() + name;
  if (i > 0)
    layer.aroundAttention.inputNorm = encoder.norm(name + ".attn_norm", hidden);
  layer.attention = encoder.attention(name);
  weights.stackedProjections(layer.attention, name + ".attn.Wqkv", hidden, attentionBias,
                             Stacking::ByKind);
  layer.attention.output = weights.linear(name + ".attn.Wo", hidden, hidden, attentionBias);
  layer.attention.rotary = windowed[i] ? nearby : everywhere;
  if (windowed[i])
    layer.attention.window = reach + 1;
  layer.aroundFeedForward.inputNorm = encoder.norm(name + ".mlp_norm", hidden);
  layer.feedForward.name = layer.name + ".mlp";
  layer.feedForward.activation = encoder.activation;
  auto half = [&](const char *which, int64_t first) {
    return weights.linearPart(name + ".mlp.Wi", which, {1, 2 * width, first, width}, hidden,
                              feedForwardBias);
  };
  layer.feedForward.gate = half("gate", 0);
  layer.feedForward.up = half("up", width);
  layer.feedForward.down = weights.linear(name + ".mlp.Wo", hidden, width, feedForwardBias);
  return layer;
}

static void describe(JsonObject &config, WeightTable &weights, ModelDescription &model,
                     Problems &problems) {
  Encoder encoder(config, weights, model, problems);
  encoder.keys.types = "";
  encoder.keys.activation = "hidden_activation";
  encoder.keys.epsilon = "norm_eps";
  encoder.epsilon = 1e-5;
  encoder.normBias = config.boolean("norm_bias", false);
  encoder.tensors.prefixes = {"model.", ""};
  encoder.tensors.token = "embeddings.tok_embeddings";
  encoder.tensors.position = "";
  encoder.tensors.embeddingNorm = "embeddings.norm";
  encoder.tensors.attention = "attn";
  encoder.tensors.pooler = "";
  ModernBert modern(config);
  if (!encoder.read() || !modern.headActivation)
    return;
  const int64_t headSize = encoder.hidden / encoder.heads;
  modern.windowed = readWindowedLayers(config, encoder.layers,
                                       [&](int64_t i) { return i % modern.globalEvery != 0; });
  modern.everywhere = readRotary(config, headSize, encoder.positions, problems,
                                 {"full_attention", "global_rope_theta", 160000});
  modern.nearby = readRotary(config, headSize, encoder.positions, problems,
                             {"sliding_attention", "local_rope_theta", 10000});
  if (!modern.everywhere || !modern.nearby)
    return;
  encoder.begin();
  for (int64_t i = 0; i < encoder.layers; ++i)
    model.layers.push_back(modern.layer(encoder, weights, i));
  model.finalNorm = encoder.norm("final_norm", encoder.hidden);
  encoder.finish(modern.heads());
}

Family fovea::modernBertFamily() {
  return {"modernbert",
          {"ModernBertModel", "ModernBertForMaskedLM", "ModernBertForSequenceClassification",
           "ModernBertForTokenClassification", "ModernBertForQuestionAnswering"},
          describe};
}
