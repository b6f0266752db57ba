// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// DistilBERT: BERT without token types and without a pooler (Sanh et al. 2019).
#include "frontend/HuggingFace/Encoder.h"

using namespace fovea;

static void addVocabulary(Encoder &distil) {
  distil.vocabularyHead(
      {distil.transform("vocab_transform", "vocab_layer_norm", distil.activation)},
      "vocab_projector");
}

static void addSequence(Encoder &distil) {
  distil.sequenceHead(
      {distil.dense("pre_classifier", distil.hidden, distil.hidden, Activation::Relu),
       distil.classifier()});
}

static EncoderHeads heads() {
  return {
      {"Model", [](Encoder &distil) { distil.bare(); }},
      {"ForMaskedLM", addVocabulary},
      {"ForSequenceClassification", addSequence},
      {"ForTokenClassification", [](Encoder &distil) { distil.tokenHead({distil.classifier()}); }},
      {"ForQuestionAnswering", [](Encoder &distil) { distil.answerHead(); }},
  };
}

static void describe(JsonObject &config, WeightTable &weights, ModelDescription &model,
                     Problems &problems) {
  Encoder distil(config, weights, model, problems);
  distil.keys = {"dim",        "n_layers", "n_heads", "hidden_dim", "max_position_embeddings", "",
                 "activation", "",         ""};
  distil.tensors.prefixes = {"distilbert.", ""};
  distil.tensors.layers = "transformer.layer";
  distil.tensors.attention = "attention";
  distil.tensors.query = "attention.q_lin";
  distil.tensors.key = "attention.k_lin";
  distil.tensors.value = "attention.v_lin";
  distil.tensors.output = "attention.out_lin";
  distil.tensors.attentionNorm = "sa_layer_norm";
  distil.tensors.up = "ffn.lin1";
  distil.tensors.down = "ffn.lin2";
  distil.tensors.outputNorm = "output_layer_norm";
  distil.tensors.pooler = "";
  // What positions began with: their table is stored. Training.
  config.ignore(
      {"sinusoidal_pos_embds", "dropout", "qa_dropout", "seq_classif_dropout", "tie_weights_"});
  if (distil.read())
    distil.describe(heads());
}

Family fovea::distilBertFamily() {
  return {"distilbert", architecturesOf("DistilBert", heads()), describe};
}
