// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MPNet: BERT without token types, whose positions are RoBERTa's and whose scores have T5's bias by
// distance, one for all layers (Song et al. 2020).
#include "frontend/HuggingFace/Encoder.h"

using namespace fovea;

/// What transformers takes whatever the configuration says.
static constexpr int64_t kBuckets = 32, kPadding = 1;

static void addSequence(Encoder &mpnet) {
  mpnet.sequenceHead({mpnet.dense("classifier.dense", mpnet.hidden, mpnet.hidden, Activation::Tanh),
                      mpnet.classifier("classifier.out_proj")});
}

static EncoderHeads heads() {
  return {
      {"Model", [](Encoder &mpnet) { mpnet.bare(); }},
      {"ForMaskedLM",
       [](Encoder &mpnet) {
         mpnet.vocabularyHead(
             {mpnet.transform("lm_head.dense", "lm_head.layer_norm", Activation::Gelu)},
             "lm_head.decoder", "lm_head.bias");
       }},
      {"ForSequenceClassification", addSequence},
      {"ForTokenClassification", [](Encoder &mpnet) { mpnet.tokenHead({mpnet.classifier()}); }},
      {"ForQuestionAnswering", [](Encoder &mpnet) { mpnet.answerHead(); }},
  };
}

static void describe(JsonObject &config, WeightTable &weights, ModelDescription &model,
                     Problems &problems) {
  Encoder mpnet(config, weights, model, problems);
  mpnet.countedPadding = kPadding;
  if (config.integer("pad_token_id", 0, maxVocabulary, kPadding) != kPadding)
    config.reject("pad_token_id", "1, which positions count by");
  if (config.integer("relative_attention_num_buckets", 1, maxVocabulary, kBuckets) != kBuckets)
    config.reject("relative_attention_num_buckets", "32, which distances are told apart by");
  mpnet.keys.types = "";
  EncoderTensors &tensors = mpnet.tensors;
  tensors.prefixes = {"mpnet.", ""};
  tensors.attention = "attention.attn";
  tensors.query = "attention.attn.q";
  tensors.key = "attention.attn.k";
  tensors.value = "attention.attn.v";
  tensors.output = "attention.attn.o";
  tensors.attentionNorm = "attention.LayerNorm";
  if (!mpnet.read())
    return;
  mpnet.begin();
  RelativeBias bias;
  bias.table = weights.weight("encoder.relative_attention_bias.weight", {kBuckets, mpnet.heads});
  bias.bidirectional = true;
  for (int64_t i = 0; i < mpnet.layers; ++i) {
    Layer layer = mpnet.layer(tensors.layers + "." + std::to_string(i));
    layer.attention.relativeBias = bias;
    model.layers.push_back(std::move(layer));
  }
  mpnet.finish(heads());
}

Family fovea::mpNetFamily() { return {"mpnet", architecturesOf("MPNet", heads()), describe}; }
