// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MPT: pre-norm decoder with linear biases, layer norms without bias and no other bias either
// (MosaicML 2023; Press et al. 2022).
#include "frontend/HuggingFace/Decoder.h"

using namespace fovea;

/// What `attn_config` says of attention. False if it asks for what is not built.
static bool readAttention(JsonObject &config, std::optional<double> &scale, Problems &problems) {
  const JsonValue *found = config.find("attn_config");
  if (!found)
    return true;
  size_t before = problems.size();
  JsonObject attention(*found, config.file(), "attn_config", problems);
  requireBoolean(attention, "alibi", true, problems);
  requireBoolean(attention, "prefix_lm", false, problems);
  requireBoolean(attention, "qk_ln", false, problems);
  requireBoolean(attention, "attn_uses_sequence_id", false, problems);
  if (attention.number("alibi_bias_max", 0, 1e9, 8) != 8)
    attention.reject("alibi_bias_max", "8: other slopes are not supported");
  if (attention.has("clip_qkv") && attention.number("clip_qkv", 0, 1e9, 0) != 0)
    attention.reject("clip_qkv", "null: clipped projections are not supported");
  if (attention.string("attn_type", "multihead_attention") != "multihead_attention")
    attention.reject("attn_type", "\"multihead_attention\"");
  if (attention.has("softmax_scale"))
    scale = attention.number("softmax_scale", 1e-9, 1e9);
  // Dropout, which kernel, and what every configuration carries.
  attention.ignore({"attn_pdrop", "attn_impl", "model_type"});
  ignoreCommonKeys(attention);
  attention.ignore({"bos_token_id", "eos_token_id", "pad_token_id"});
  attention.reportUnread("could change numbers and is not understood");
  return problems.size() == before;
}

static void describe(JsonObject &config, WeightTable &weights, ModelDescription &model,
                     Problems &problems) {
  Decoder mpt(config, weights, model, problems);
  mpt.keys = {"d_model",     "n_layers", "n_heads",           "", "", "",
              "max_seq_len", "",         "layer_norm_epsilon"};
  mpt.widthFollows = true;
  mpt.norms = Norm::Kind::Layer;
  mpt.normBias = false;
  mpt.epsilon = 1e-5;
  mpt.activationName = "gelu";
  mpt.tied = true;
  mpt.stacked = Stacking::ByKind;
  mpt.tensors.prefixes = {"transformer.", ""};
  mpt.tensors.token = "wte";
  mpt.tensors.layers = "blocks";
  mpt.tensors.attention = "attn";
  mpt.tensors.query = "Wqkv";
  mpt.tensors.output = "out_proj";
  mpt.tensors.feedForward = "ffn";
  mpt.tensors.gate = "";
  mpt.tensors.attentionNorm = "norm_1";
  mpt.tensors.feedForwardNorm = "norm_2";
  mpt.tensors.finalNorm = "norm_f";
  if (config.number("expansion_ratio", 1, 64, 4) != 4)
    config.reject("expansion_ratio", "4");
  if (config.has("logit_scale"))
    config.reject("logit_scale", "null: scaled logits are not supported");
  requireBoolean(config, "no_bias", true, problems);
  requireBoolean(config, "learned_pos_emb", true, problems); // not used there where alibi is
  if (config.string("norm_type", "low_precision_layernorm") != "low_precision_layernorm")
    config.reject("norm_type", "\"low_precision_layernorm\"");
  config.ignore({"emb_pdrop", "init_device", "init_config", "verbose", "embedding_fraction",
                 "tokenizer_name"});
  std::optional<double> scale;
  bool fits = readAttention(config, scale, problems);
  if (!mpt.read() || !fits)
    return;
  mpt.describe([&](Layer &layer, int64_t) {
    layer.attention.alibi = true;
    layer.attention.scale = scale.value_or(layer.attention.scale);
  });
}

Family fovea::mptFamily() {
  return {"mpt", {"MptForCausalLM", "MPTForCausalLM", "MptModel"}, describe};
}
