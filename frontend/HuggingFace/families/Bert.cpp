// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// BERT: post-norm encoder with learned positions and token types (Devlin et al. 2019).
#include "frontend/HuggingFace/Encoder.h"

using namespace fovea;

static void addVocabulary(Encoder &bert, const char *output) {
  bert.vocabularyHead({bert.transform("cls.predictions.transform.dense",
                                      "cls.predictions.transform.LayerNorm", bert.activation)},
                      "cls.predictions.decoder", "cls.predictions.bias", /*bias=*/true, output);
}

static void addNextSentence(Encoder &bert, const char *output) {
  bert.sequenceHead({bert.pooler(), bert.dense("cls.seq_relationship", 2, bert.hidden)}, output);
}

static EncoderHeads heads() {
  return {
      {"Model", [](Encoder &bert) { bert.bare(); }},
      {"ForMaskedLM", [](Encoder &bert) { addVocabulary(bert, "logits"); }},
      {"ForPreTraining",
       [](Encoder &bert) {
         addVocabulary(bert, "prediction_logits");
         addNextSentence(bert, "seq_relationship_logits");
       }},
      {"ForNextSentencePrediction", [](Encoder &bert) { addNextSentence(bert, "logits"); }},
      {"ForSequenceClassification",
       [](Encoder &bert) { bert.sequenceHead({bert.pooler(), bert.classifier()}); }},
      {"ForTokenClassification", [](Encoder &bert) { bert.tokenHead({bert.classifier()}); }},
      {"ForQuestionAnswering", [](Encoder &bert) { bert.answerHead(); }},
  };
}

static void describe(JsonObject &config, WeightTable &weights, ModelDescription &model,
                     Problems &problems) {
  Encoder bert(config, weights, model, problems);
  // The pooler's shape in early checkpoints.
  config.ignore({"pooler_fc_size", "pooler_num_attention_heads", "pooler_num_fc_layers",
                 "pooler_size_per_head", "pooler_type", "directionality"});
  if (bert.read())
    bert.describe(heads());
}

Family fovea::bertFamily() { return {"bert", architecturesOf("Bert", heads()), describe}; }
