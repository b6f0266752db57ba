// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ELECTRA: BERT whose embeddings may be narrower than its layers, trained to tell tokens that were
// replaced (Clark et al. 2020).
#include "frontend/HuggingFace/Encoder.h"

using namespace fovea;

static void addVocabulary(Encoder &electra) {
  electra.vocabularyHead({electra.transform("generator_predictions.dense",
                                            "generator_predictions.LayerNorm", Activation::Gelu)},
                         "generator_lm_head");
}

/// Whether a token was replaced.
static void addReplaced(Encoder &electra) {
  const std::string name = "discriminator_predictions.";
  electra.columnHead(
      {electra.dense(name + "dense", electra.hidden, electra.hidden, electra.activation),
       electra.dense(name + "dense_prediction", 1, electra.hidden)},
      {"logits"});
}

static void addSequence(Encoder &electra) {
  electra.sequenceHead(
      {electra.dense("classifier.dense", electra.hidden, electra.hidden, Activation::Gelu),
       electra.classifier("classifier.out_proj")});
}

static EncoderHeads heads() {
  return {
      {"Model", [](Encoder &electra) { electra.bare(); }},
      {"ForPreTraining", addReplaced},
      {"ForMaskedLM", addVocabulary},
      {"ForSequenceClassification", addSequence},
      {"ForTokenClassification",
       [](Encoder &electra) { electra.tokenHead({electra.classifier()}); }},
      {"ForQuestionAnswering", [](Encoder &electra) { electra.answerHead(); }},
  };
}

static void describe(JsonObject &config, WeightTable &weights, ModelDescription &model,
                     Problems &problems) {
  Encoder electra(config, weights, model, problems);
  electra.keys.tokenWidth = "embedding_size";
  electra.tokenWidthIfAbsent = 128;
  electra.tensors.prefixes = {"electra.", ""};
  electra.tensors.pooler = "";
  // Of a head for choices, which is not built.
  config.ignore({"summary_type", "summary_use_proj", "summary_activation", "summary_last_dropout",
                 "summary_first_dropout"});
  if (!electra.read())
    return;
  if (electra.tokenWidth != electra.hidden)
    electra.tensors.projection = "embeddings_project";
  electra.describe(heads());
}

Family fovea::electraFamily() { return {"electra", architecturesOf("Electra", heads()), describe}; }
