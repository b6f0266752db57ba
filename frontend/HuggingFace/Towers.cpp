// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See the header.
#include "frontend/HuggingFace/Towers.h"

using namespace fovea;

void fovea::nameTower(Encoder &tower, const char *prefix) {
  EncoderTensors &tensors = tower.tensors;
  tensors.prefixes = {prefix, ""};
  tensors.token = "embeddings.token_embedding";
  tensors.position = "embeddings.position_embedding";
  tensors.embeddingNorm = "";
  tensors.layers = "encoder.layers";
  tensors.attention = "self_attn";
  tensors.query = "self_attn.q_proj";
  tensors.key = "self_attn.k_proj";
  tensors.value = "self_attn.v_proj";
  tensors.output = "self_attn.out_proj";
  tensors.attentionNorm = "layer_norm1";
  tensors.up = "mlp.fc1";
  tensors.down = "mlp.fc2";
  tensors.outputNorm = "layer_norm2";
  tower.activationName = "quick_gelu";
  tower.epsilon = 1e-5;
}

void fovea::reportUnreadOfTower(JsonObject &config) {
  ignoreCommonKeys(config);
  // What is read of a tower by itself, and what training began with.
  config.ignore({"projection_dim", "initializer_factor", "dropout", "bos_token_id", "eos_token_id",
                 "pad_token_id"});
  // Older versions of transformers wrote these for both towers, which read none of them.
  config.ignore({"add_cross_attention", "is_decoder", "tie_word_embeddings", "pruned_heads"});
  config.reportUnread("could change numbers and is not understood");
}

Head &fovea::addPooler(ModelDescription &tower, const WeightTable &weights, Pool pool) {
  Head &head = tower.heads.emplace_back();
  head.name = weights.prefix() + "pooler";
  head.output = "pooler_output";
  head.pool = pool;
  return head;
}

void fovea::projectHead(ModelDescription &tower, WeightTable &weights, const char *name,
                        const char *output, int64_t width) {
  weights.choosePrefix({""}, "");
  for (Head &head : tower.heads) {
    head.steps.emplace_back().dense = weights.linear(name, width, tower.hidden, /*bias=*/false);
    head.name = name;
    head.output = output;
    head.isEmbedding = true;
  }
}
