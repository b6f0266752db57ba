// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ALBERT: BERT with narrow embeddings and layers that have their weights in common (Lan et al.
// 2020).
#include "frontend/HuggingFace/Encoder.h"

using namespace fovea;

static void addVocabulary(Encoder &albert, const char *output) {
  albert.vocabularyHead(
      {albert.transform("predictions.dense", "predictions.LayerNorm", albert.activation)},
      "predictions.decoder", "predictions.bias", /*bias=*/true, output);
}

static EncoderHeads heads() {
  return {
      {"Model", [](Encoder &albert) { albert.bare(); }},
      {"ForMaskedLM", [](Encoder &albert) { addVocabulary(albert, "logits"); }},
      {"ForPreTraining",
       [](Encoder &albert) {
         addVocabulary(albert, "prediction_logits");
         auto labels = static_cast<int64_t>(albert.readLabels().size());
         albert.sequenceHead(
             {albert.pooler(), albert.dense("sop_classifier.classifier", labels, albert.hidden)},
             "sop_logits");
       }},
      {"ForSequenceClassification",
       [](Encoder &albert) { albert.sequenceHead({albert.pooler(), albert.classifier()}); }},
      {"ForTokenClassification", [](Encoder &albert) { albert.tokenHead({albert.classifier()}); }},
      {"ForQuestionAnswering", [](Encoder &albert) { albert.answerHead(); }},
  };
}

static void describe(JsonObject &config, WeightTable &weights, ModelDescription &model,
                     Problems &problems) {
  Encoder albert(config, weights, model, problems);
  albert.keys.tokenWidth = "embedding_size";
  albert.tokenWidthIfAbsent = 128;
  albert.activationName = "gelu_new";
  albert.tensors.prefixes = {"albert.", ""};
  albert.tensors.projection = "encoder.embedding_hidden_mapping_in";
  albert.tensors.attention = "attention";
  albert.tensors.query = "attention.query";
  albert.tensors.key = "attention.key";
  albert.tensors.value = "attention.value";
  albert.tensors.output = "attention.dense";
  albert.tensors.attentionNorm = "attention.LayerNorm";
  albert.tensors.up = "ffn";
  albert.tensors.down = "ffn_output";
  albert.tensors.outputNorm = "full_layer_layer_norm";
  albert.tensors.pooler = "pooler";
  int64_t groups = config.integer("num_hidden_groups", 1, maxLayers, 1);
  int64_t inner = config.integer("inner_group_num", 1, maxLayers, 1);
  // Training, and what no version read.
  config.ignore({"classifier_dropout_prob", "net_structure_type", "gap_size", "num_memory_blocks",
                 "down_scale_factor", "layers_to_keep"});
  if (!albert.read())
    return;
  if (groups > albert.layers || albert.layers * inner > maxLayers) {
    config.reject(groups > albert.layers ? "num_hidden_groups" : "inner_group_num",
                  "fewer, as there are " + std::to_string(albert.layers) + " layers");
    return;
  }
  albert.begin();
  for (int64_t i = 0; i < albert.layers; ++i)
    for (int64_t j = 0; j < inner; ++j)
      model.layers.push_back(albert.layer("encoder.albert_layer_groups." +
                                          std::to_string(i * groups / albert.layers) +
                                          ".albert_layers." + std::to_string(j)));
  albert.finish(heads());
}

Family fovea::albertFamily() { return {"albert", architecturesOf("Albert", heads()), describe}; }
