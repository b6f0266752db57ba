// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// OPT: decoder with learned positions, norms before or behind, and in its smaller sizes token
// vectors narrower than its layers (Zhang et al. 2022).
#include "frontend/HuggingFace/Decoder.h"

using namespace fovea;

/// Tokens narrower than the layers are projected to their width and, before the head, back.
static void addProjections(WeightTable &weights, ModelDescription &model, const Decoder &opt) {
  constexpr bool bias = false;
  model.embeddings.projection = weights.linear("project_in", opt.hidden, opt.tokenWidth, bias);
  model.finalProjection = weights.linear("project_out", opt.tokenWidth, opt.hidden, bias);
}

static void describe(JsonObject &config, WeightTable &weights, ModelDescription &model,
                     Problems &problems) {
  Decoder opt(config, weights, model, problems);
  opt.keys.keyValueHeads = opt.keys.headSize = opt.keys.epsilon = "";
  opt.keys.width = "ffn_dim";
  opt.keys.activation = "activation_function";
  opt.norms = Norm::Kind::Layer;
  opt.epsilon = 1e-5;
  opt.activationName = "relu";
  opt.tied = true;
  opt.projectionBias = opt.outputBias = opt.feedForwardBias = config.boolean("enable_bias", true);
  opt.tensors.prefixes = {"model.decoder.", "decoder.", ""};
  opt.tensors.output = "out_proj";
  opt.tensors.attentionNorm = "self_attn_layer_norm";
  opt.tensors.feedForwardNorm = "final_layer_norm";
  opt.tensors.feedForward = opt.tensors.gate = "";
  opt.tensors.up = "fc1";
  opt.tensors.down = "fc2";
  opt.tensors.finalNorm = "final_layer_norm";
  bool before = config.boolean("do_layer_norm_before", true);
  if (!before || config.boolean("_remove_final_layer_norm", false))
    opt.tensors.finalNorm = "";
  requireBoolean(config, "layer_norm_elementwise_affine", true, problems);
  auto tokenWidth = config.has("word_embed_proj_dim")
                        ? config.integer("word_embed_proj_dim", 1, maxWidth)
                        : std::nullopt;
  config.ignore({"dropout", "init_std", "activation_dropout", "output_projection"});
  opt.positionTensor = "embed_positions";
  opt.positionOffset = 2; // two special tokens' rows come first
  if (!opt.read())
    return;
  opt.tokenWidth = tokenWidth.value_or(opt.hidden);
  opt.begin();
  for (int64_t i = 0; i < opt.layers; ++i) {
    Layer layer = opt.layer(i);
    if (!before)
      for (Residual *around : {&layer.aroundAttention, &layer.aroundFeedForward})
        std::swap(around->inputNorm, around->sumNorm);
    model.layers.push_back(std::move(layer));
  }
  if (opt.tokenWidth != opt.hidden)
    addProjections(weights, model, opt);
  opt.finish();
}

Family fovea::optFamily() { return {"opt", {"OPTForCausalLM", "OPTModel"}, describe}; }
