// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// BLOOM: pre-norm decoder with linear biases instead of positions and a norm behind the tokens (Le
// Scao et al. 2022; Press et al. 2022).
#include "frontend/HuggingFace/Decoder.h"

using namespace fovea;

static void describe(JsonObject &config, WeightTable &weights, ModelDescription &model,
                     Problems &problems) {
  Decoder bloom(config, weights, model, problems);
  bloom.keys = {"hidden_size",       "n_layer", "n_head", "", "", "", "seq_length", "",
                "layer_norm_epsilon"};
  // Early configurations have older names.
  if (config.has("n_embed"))
    bloom.keys.hidden = "n_embed";
  if (config.has("num_hidden_layers"))
    bloom.keys.layers = "num_hidden_layers";
  if (config.has("num_attention_heads"))
    bloom.keys.heads = "num_attention_heads";
  bloom.positionsIfAbsent = 2048;
  bloom.widthFollows = true;
  bloom.useMegatronNames();
  bloom.activationName = "gelu_new";
  bloom.tied = true;
  bloom.projectionBias = bloom.outputBias = bloom.feedForwardBias = true;
  bloom.tensors.prefixes = {"transformer.", ""};
  bloom.tensors.token = "word_embeddings";
  bloom.tensors.tokenNorm = "word_embeddings_layernorm";
  bloom.tensors.layers = "h";
  bloom.tensors.attention = "self_attention";
  bloom.tensors.finalNorm = "ln_f";
  requireBoolean(config, "apply_residual_connection_post_layernorm", false, problems);
  // The order of sums over parts of a product.
  config.ignore({"pretraining_tp", "slow_but_exact", "masked_softmax_fusion", "bias_dropout_fusion",
                 "attention_softmax_in_fp32", "skip_bias_add", "skip_bias_add_qkv", "n_inner",
                 "offset_alibi", "unk_token_id"});
  if (!bloom.read())
    return;
  bloom.describe([](Layer &layer, int64_t) { layer.attention.alibi = true; });
}

Family fovea::bloomFamily() { return {"bloom", {"BloomForCausalLM", "BloomModel"}, describe}; }
