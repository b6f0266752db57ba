// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RoBERTa: BERT whose positions count the tokens that are no padding (Liu et al. 2019); and what
// has the same layers and heads, XLM-RoBERTa and CamemBERT (Conneau et al. 2020; Martin et al.
// 2020).
#include "frontend/HuggingFace/Encoder.h"

using namespace fovea;

static void addVocabulary(Encoder &roberta) {
  roberta.vocabularyHead(
      {roberta.transform("lm_head.dense", "lm_head.layer_norm", Activation::Gelu)},
      "lm_head.decoder", "lm_head.bias");
}

static void addSequence(Encoder &roberta) {
  roberta.sequenceHead(
      {roberta.dense("classifier.dense", roberta.hidden, roberta.hidden, Activation::Tanh),
       roberta.classifier("classifier.out_proj")});
}

static EncoderHeads heads() {
  return {
      {"Model", [](Encoder &roberta) { roberta.bare(); }},
      {"ForMaskedLM", addVocabulary},
      {"ForSequenceClassification", addSequence},
      {"ForTokenClassification",
       [](Encoder &roberta) { roberta.tokenHead({roberta.classifier()}); }},
      {"ForQuestionAnswering", [](Encoder &roberta) { roberta.answerHead(); }},
  };
}

static void describe(JsonObject &config, WeightTable &weights, ModelDescription &model,
                     Problems &problems) {
  Encoder roberta(config, weights, model, problems);
  roberta.countedPadding = config.integer("pad_token_id", 0, maxVocabulary, 1);
  roberta.tensors.prefixes = {"roberta.", ""};
  if (roberta.read())
    roberta.describe(heads());
}

Family fovea::robertaFamily() { return {"roberta", architecturesOf("Roberta", heads()), describe}; }

Family fovea::xlmRobertaFamily() {
  return {"xlm-roberta", architecturesOf("XLMRoberta", heads()), describe};
}

Family fovea::camembertFamily() {
  return {"camembert", architecturesOf("Camembert", heads()), describe};
}
