// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// GPT-2: pre-norm decoder with layer norms and learned positions (Radford et
// al. 2019). Its matrices are stored [in, out], and one of them gives query,
// key and value together.
#include "frontend/HuggingFace/Decoder.h"

using namespace fovea;

static void describe(JsonObject &config, WeightTable &weights, ModelDescription &model,
                     Problems &problems) {
  Decoder gpt2(config, weights, model, problems);
  gpt2.useGpt2Names();
  gpt2.tied = gpt2.transposed = true;
  gpt2.stacked = Stacking::ByKind;
  gpt2.projectionBias = gpt2.outputBias = gpt2.feedForwardBias = true;
  gpt2.tensors.query = "c_attn";
  gpt2.tensors.output = gpt2.tensors.down = "c_proj";
  gpt2.tensors.up = "c_fc";
  bool scaled = config.boolean("scale_attn_weights", true);
  bool scaledByLayer = config.boolean("scale_attn_by_inverse_layer_idx", false);
  // The order of scaling and product in half precision: f32 has no use for it.
  config.boolean("reorder_and_upcast_attn", false);
  requireBoolean(config, "add_cross_attention", false, problems);
  if (!gpt2.read())
    return;
  gpt2.positionTensor = "wpe";
  gpt2.describe([&](Layer &layer, int64_t i) {
    if (!scaled)
      layer.attention.scale = 1;
    if (scaledByLayer)
      layer.attention.scale /= double(i + 1);
  });
}

Family fovea::gpt2Family() { return {"gpt2", {"GPT2LMHeadModel", "GPT2Model"}, describe}; }
