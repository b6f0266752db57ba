// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Falcon: with one key head and one norm (7B), with key heads among their queries and two norms
// (40B), or with linear biases and in sequence (RW) (Almazrouei et al. 2023).
#include "frontend/HuggingFace/Decoder.h"

#include <cmath>

using namespace fovea;

static void describe(JsonObject &config, WeightTable &weights, ModelDescription &model,
                     Problems &problems) {
  Decoder falcon(config, weights, model, problems);
  bool grouped = config.boolean("new_decoder_architecture", false);
  bool oneKey = config.boolean("multi_query", true) && !grouped;
  bool parallel = config.boolean("parallel_attn", true);
  bool alibi = config.boolean("alibi", false);
  bool bias = config.boolean("bias", false);
  bool twoNorms = config.integer("num_ln_in_parallel_attn", 1, 2, grouped ? 2 : 1) == 2;
  falcon.keys = {"hidden_size",
                 "num_hidden_layers",
                 "num_attention_heads",
                 grouped ? "num_kv_heads" : "",
                 "",
                 "ffn_hidden_size",
                 "max_position_embeddings",
                 "activation",
                 "layer_norm_epsilon"};
  // One of several kinds only, or a switch that later versions of its code have not.
  config.ignore({"num_kv_heads", "apply_residual_connection_post_layernorm"});
  falcon.positionsIfAbsent = 2048;
  falcon.widthFollows = true;
  falcon.useMegatronNames();
  falcon.activationName = "gelu";
  falcon.tied = true;
  falcon.projectionBias = falcon.outputBias = falcon.feedForwardBias = bias;
  falcon.tensors.prefixes = {"transformer.", ""};
  falcon.tensors.token = "word_embeddings";
  falcon.tensors.layers = "h";
  falcon.tensors.attention = "self_attention";
  falcon.tensors.finalNorm = "ln_f";
  if (parallel && twoNorms && grouped) {
    falcon.tensors.attentionNorm = "ln_attn";
    falcon.tensors.feedForwardNorm = "ln_mlp";
  } else if (parallel) {
    falcon.tensors.feedForwardNorm = "";
  }
  if (grouped && !parallel)
    config.reject("parallel_attn", "true beside new_decoder_architecture");
  if (!falcon.read())
    return;
  if (oneKey)
    falcon.keyValueHeads = 1;
  if (!alibi && !falcon.readRotary())
    return;
  falcon.describe([&](Layer &layer, int64_t) {
    layer.parallel = parallel;
    layer.attention.alibi = alibi;
    // The biases stand within the scaled scores.
    layer.attention.alibiScale = layer.attention.scale;
  });
}

Family fovea::falconFamily() { return {"falcon", {"FalconForCausalLM", "FalconModel"}, describe}; }
