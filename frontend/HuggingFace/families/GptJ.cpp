// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// GPT-J: attention and feed-forward side by side behind one layer norm, rotary embedding of
// neighbouring elements (Wang and Komatsuzaki 2021).
#include "frontend/HuggingFace/Decoder.h"

using namespace fovea;

static void describe(JsonObject &config, WeightTable &weights, ModelDescription &model,
                     Problems &problems) {
  Decoder gptj(config, weights, model, problems);
  gptj.useGpt2Names();
  gptj.feedForwardBias = gptj.headBias = true;
  gptj.tensors.output = "out_proj";
  gptj.tensors.feedForwardNorm = "";
  gptj.tensors.up = "fc_in";
  gptj.tensors.down = "fc_out";
  gptj.tensors.harmless.push_back(".attn.embed_positions");
  int64_t turned = config.integer("rotary_dim", 2, maxWidth, 64);
  // Older spellings of what is the same in all models.
  config.ignore({"rotary", "scale_attn_weights"});
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
