// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// GPT-J: attention and feed-forward side by side behind one layer norm, rotary embedding of
// neighbouring elements (Wang and Komatsuzaki 2021).
#include "frontend/HuggingFace/Decoder.h"

using namespace fovea;

static void describe(JsonObject &config, WeightTable &weights, ModelDescription &model,
                     Problems &problems) {
  Decoder gptj(config, weights, model, problems);
  gptj.keys = {"n_embd",
               "n_layer",
               "n_head",
               "",
               "",
               "n_inner",
               "n_positions",
               "activation_function",
               "layer_norm_epsilon"};
  gptj.widthFollows = true;
  gptj.norms = Norm::Kind::Layer;
  gptj.epsilon = 1e-5;
  gptj.activationName = "gelu_new";
  gptj.feedForwardBias = gptj.headBias = true;
  gptj.tensors.prefixes = {"transformer.", ""};
  gptj.tensors.token = "wte";
  gptj.tensors.layers = "h";
  gptj.tensors.attention = "attn";
  gptj.tensors.output = "out_proj";
  gptj.tensors.gate = gptj.tensors.feedForwardNorm = "";
  gptj.tensors.up = "fc_in";
  gptj.tensors.down = "fc_out";
  gptj.tensors.attentionNorm = "ln_1";
  gptj.tensors.finalNorm = "ln_f";
  gptj.tensors.harmless = {".attn.bias", ".attn.masked_bias", ".attn.embed_positions"};
  int64_t turned = config.integer("rotary_dim", 2, maxWidth, 64);
  // Heads of other tasks, and an older spelling of what the sizes say.
  config.ignore({"n_ctx", "rotary", "scale_attn_weights", "summary_type", "summary_use_proj",
                 "summary_activation", "summary_proj_to_labels", "summary_first_dropout"});
  if (!gptj.read())
    return;
  if (turned % 2 != 0 || turned > gptj.headSize)
    return config.reject("rotary_dim", "an even number of at most a head's " +
                                           std::to_string(gptj.headSize) + " elements");
  gptj.rotary.emplace();
  gptj.rotary->dim = turned;
  gptj.rotary->interleaved = true;
  gptj.describe([](Layer &layer, int64_t) { layer.parallel = true; });
}

Family fovea::gptJFamily() { return {"gptj", {"GPTJForCausalLM", "GPTJModel"}, describe}; }
