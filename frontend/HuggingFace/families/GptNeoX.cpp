// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// GPT-NeoX and Pythia: attention and feed-forward side by side, each behind its layer norm, partial
// rotary embedding, projections stacked head by head (Black et al. 2022).
#include "frontend/HuggingFace/Decoder.h"

using namespace fovea;

static void describe(JsonObject &config, WeightTable &weights, ModelDescription &model,
                     Problems &problems) {
  Decoder neox(config, weights, model, problems);
  neox.useMegatronNames();
  neox.keys.epsilon = "layer_norm_eps";
  neox.keys.keyValueHeads = neox.keys.headSize = "";
  neox.activationName = "gelu";
  neox.tensors.prefixes = {"gpt_neox.", ""};
  neox.tensors.token = "embed_in";
  neox.tensors.attention = "attention";
  neox.tensors.finalNorm = "final_layer_norm";
  neox.tensors.head = "embed_out";
  neox.tensors.harmless = {"rotary_emb.inv_freq", "attention.bias", "attention.masked_bias"};
  neox.feedForwardBias = true;
  neox.projectionBias = neox.outputBias = config.boolean("attention_bias", true);
  bool parallel = config.boolean("use_parallel_residual", true);
  config.ignore({"rotary_pct", "rotary_emb_base", "is_decoder"}); // the first two are read below
  if (!neox.read())
    return;
  RotaryKeys keys;
  keys.theta = "rotary_emb_base";
  keys.part = "rotary_pct";
  keys.partIfAbsent = 0.25;
  neox.rotary = readRotary(config, neox.headSize, neox.positions, problems, keys);
  if (neox.rotary)
    neox.describe([&](Layer &layer, int64_t) { layer.parallel = parallel; });
}

Family fovea::gptNeoXFamily() {
  return {"gpt_neox", {"GPTNeoXForCausalLM", "GPTNeoXModel"}, describe};
}
